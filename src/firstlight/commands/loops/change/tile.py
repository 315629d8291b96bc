"""Tile: execute the two innermost loops of a perfect nest in blocks that fit in a cache."""

from __future__ import annotations

from msgspec.structs import replace

from firstlight.commands.loops.change import NotApplicableError, Piece
from firstlight.commands.loops.nest import Header, nest, replaced
from firstlight.commands.loops.syntax import render

SIZES = ("8", "16", "32", "64")


def _pair(piece: Piece) -> list[Header]:
    levels = nest(piece.code).perfect[-2:]
    fit = len(levels) == 2 and all(one.type and one.step == 1 and one.op == "<" for one in levels)
    if not fit or any(one.rectangular & {other.var for other in levels} for one in levels):
        return []
    return levels


def choices(piece: Piece) -> tuple[str, ...]:
    return SIZES if _pair(piece) else ()


def apply(piece: Piece, value: str) -> Piece:
    pair = _pair(piece)
    if not pair:
        raise NotApplicableError("there are no two nested loops to tile")
    whole = nest(piece.code)
    code = render(pair[1].body)
    for one in reversed(pair):
        code = f"for ({one.type} {one.var} = fl_{one.var}; {one.var} < fl_{one.var}_end; ++{one.var}) {code}"
    ends = " ".join(
        f"const {o.type} fl_{o.var}_end = fl_{o.var} + {value} < {o.bound} ? fl_{o.var} + {value} : {o.bound};"
        for o in pair
    )
    code = f"{{\n{ends}\n{code}\n}}"
    for one in reversed(pair):
        code = (
            f"for ({one.type} fl_{one.var} = {one.init}; fl_{one.var} < {one.bound}; fl_{one.var} += {value})\n{code}"
        )
    return replace(piece, code=replaced(whole, pair[0].node, code))
