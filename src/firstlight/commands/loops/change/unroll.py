"""Unroll: repeat the body of the innermost loops, using the compiler's own pragma."""

from __future__ import annotations

from msgspec.structs import replace

from firstlight.commands.loops.change import Piece
from firstlight.commands.loops.nest import nest

TURNS = ("2", "4", "8", "16")


def choices(piece: Piece) -> tuple[str, ...]:
    return TURNS if nest(piece.code).innermost else ()


def apply(piece: Piece, value: str) -> Piece:
    line = {"gcc": f"#pragma GCC unroll {value}", "clang": f"#pragma clang loop unroll_count({value})"}[piece.family]
    return replace(piece, code=before_innermost(piece.code, line))


def before_innermost(code: str, line: str) -> str:
    """Return the code with the line inserted before each innermost loop."""
    whole = nest(code)
    data, begin = whole.root.text or b"", whole.root.start_byte
    for node in reversed(whole.innermost):
        at = node.start_byte - begin
        data = data[:at] + f"\n{line}\n".encode() + data[at:]
    return data.decode("utf-8", "surrogateescape")[1:-1].strip("\n")
