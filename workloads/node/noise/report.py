"""Drawings of noise: what the processors were taken away for (`detours`), and how long equal work took (`quanta`)."""

from __future__ import annotations

from .drawings.detours import draw as detours
from .drawings.quanta import draw as quanta

__all__ = ["detours", "quanta"]
