"""Aligned: arrays begin at a line of the cache; the dispatcher looks before it goes that way."""

from __future__ import annotations

from msgspec.structs import replace

from firstlight.loops.change import Piece

BYTES = 64


def choices(piece: Piece) -> tuple[str, ...]:
    return ("yes",) if any(p.array for p in piece.params) else ()


def apply(piece: Piece, value: str) -> Piece:
    lines = [f"{p.name} = __builtin_assume_aligned({p.name}, {BYTES});" for p in piece.params if p.array]
    return replace(piece, aligned=True, opening=(*piece.opening, *lines))
