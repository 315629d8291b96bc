"""Drawings of fdtd2d: the field that a run left (`field`)."""

from __future__ import annotations

from .drawings.field import draw as field

__all__ = ["field"]
