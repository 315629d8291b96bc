"""Restrict: declare that arrays do not overlap; the dispatcher checks this before it calls that version."""

from __future__ import annotations

from msgspec.structs import replace

from firstlight.commands.loops.change import Piece

ENABLES = True
"""This change has little effect alone but improves others, so it is tried before them."""


def choices(piece: Piece) -> tuple[str, ...]:
    arrays = [p for p in piece.params if p.array]
    return ("yes",) if any(p.written for p in arrays) and any(not p.restrict for p in arrays) else ()


def apply(piece: Piece, value: str) -> Piece:
    return replace(piece, restrict=True)
