"""SIMD: declare that the innermost loops have no dependences that vectors would break, or set the vector width."""

from __future__ import annotations

from msgspec.structs import replace

from firstlight.commands.loops.change import Piece
from firstlight.commands.loops.change.unroll import before_innermost
from firstlight.commands.loops.nest import nest

LINES = {
    "gcc": {"ivdep": "#pragma GCC ivdep"},
    "clang": {
        "ivdep": "#pragma clang loop vectorize(assume_safety)",
        "width8": "#pragma clang loop vectorize_width(8) interleave_count(4)",
        "wide8": "#pragma clang loop vectorize_width(8) interleave_count(1)",
        "wide8x2": "#pragma clang loop vectorize_width(8) interleave_count(2)",
        "wide16x2": "#pragma clang loop vectorize_width(16) interleave_count(2)",
        "off": "#pragma clang loop vectorize(disable)",
    },
}
WIDE = "__attribute__((min_vector_width(512)))"
"""If Clang prefers vectors of 256 bits, it splits wider ones without this attribute."""


def choices(piece: Piece) -> tuple[str, ...]:
    return tuple(LINES[piece.family]) if nest(piece.code).innermost else ()


def apply(piece: Piece, value: str) -> Piece:
    more = (WIDE,) if value.startswith("wide") else ()
    code = before_innermost(piece.code, LINES[piece.family][value])
    return replace(piece, code=code, attributes=(*piece.attributes, *more))
