"""Draw noise: the interruptions of the processors (`detours`), and the times of equal pieces of work (`quanta`)."""

from __future__ import annotations

from .drawings.detours import draw as detours
from .drawings.quanta import draw as quanta

__all__ = ["detours", "quanta"]
