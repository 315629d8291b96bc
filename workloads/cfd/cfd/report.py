"""Drawings of cfd: the middle layer of flows that came to their end (`slice`)."""

from __future__ import annotations

from .drawings.slice import draw as slice

__all__ = ["slice"]
