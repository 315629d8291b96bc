"""Drawings of ocean_nlom: the height of the sea (`surface`), and what a run wrote down of itself (`diary`)."""

from __future__ import annotations

from .drawings.diary import draw as diary
from .drawings.surface import draw as surface

__all__ = ["diary", "surface"]
