"""Draw fdtd2d: the field at the end of a run (`field`)."""

from __future__ import annotations

from .drawings.field import draw as field

__all__ = ["field"]
