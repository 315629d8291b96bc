"""Drawings of cfd: the middle layer of flows that came to their end (`slice`), and what was left of their equations
on the way (`residuals`).
"""

from __future__ import annotations

from .drawings.residuals import draw as residuals
from .drawings.slice import draw as slice

__all__ = ["residuals", "slice"]
