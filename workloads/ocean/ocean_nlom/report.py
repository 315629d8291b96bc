"""Draw ocean_nlom: the height of the sea (`surface`), and its energy and enstrophy over the model time (`diary`)."""

from __future__ import annotations

from .drawings.diary import draw as diary
from .drawings.surface import draw as surface

__all__ = ["diary", "surface"]
