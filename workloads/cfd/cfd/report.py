"""Draw cfd: the middle layer of flows at the end of their runs (`slice`), and the residuals of their equations before
each iteration (`residuals`).
"""

from __future__ import annotations

from .drawings.residuals import draw as residuals
from .drawings.slice import draw as slice

__all__ = ["residuals", "slice"]
