"""Interchange: reorder the loops of a perfect nest."""

from __future__ import annotations

from itertools import permutations

from msgspec.structs import replace

from firstlight.commands.loops.change import NotApplicableError, Piece
from firstlight.commands.loops.nest import Header, nest, replaced
from firstlight.commands.loops.syntax import render

DEEPEST = 3


def _levels(piece: Piece) -> list[Header]:
    """Return at most DEEPEST outermost loops whose ranges do not depend on each other."""
    levels = nest(piece.code).perfect[:DEEPEST]
    while levels and any(one.rectangular & {other.var for other in levels} for one in levels):
        levels.pop()
    return levels if len({one.var for one in levels}) == len(levels) else []


def choices(piece: Piece) -> tuple[str, ...]:
    levels = _levels(piece)
    orders = list(permutations(one.var for one in levels))[1:]
    return tuple("-".join(order) for order in orders)


def apply(piece: Piece, value: str) -> Piece:
    levels = {one.var: one for one in _levels(piece)}
    order = value.split("-")
    if sorted(order) != sorted(levels):
        raise NotApplicableError(f"the loops {value} do not form a nest here")
    whole = nest(piece.code)
    deepest = whole.perfect[len(levels) - 1]
    code = render(deepest.body)
    for var in reversed(order):
        code = f"{levels[var].written()} {code}"
    return replace(piece, code=replaced(whole, whole.loops[0], code))
