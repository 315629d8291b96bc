"""Scan: compute a running sum with vectors; a tree sums within a vector, so only one addition per vector is serial."""

from __future__ import annotations

import re

from msgspec.structs import replace

from firstlight.commands.loops.change import NotApplicableError, Piece, applicable
from firstlight.commands.loops.change.strip import around
from firstlight.commands.loops.nest import header, nest, replaced
from firstlight.commands.loops.syntax import render, statements, text

BLOCKS = ("2", "4", "8")


def choices(piece: Piece) -> tuple[str, ...]:
    return applicable(apply, piece, BLOCKS)


def apply(piece: Piece, value: str) -> Piece:
    if "fl_l" in piece.code:
        raise NotApplicableError("the loop already has lanes")
    whole, lanes = nest(piece.code), int(value)
    one = header(whole.innermost[0]) if whole.innermost else None
    parts = statements(one.body) if one is not None else []
    if one is None or not one.upward or one.step != 1 or len(parts) != 2:
        raise NotApplicableError("the loop has no running sum")
    texts = [" ".join(text(n).split()) for n in parts]
    added = next((re.fullmatch(r"(\w+) \+= .*;", t) for t in texts if re.match(r"\w+ \+= ", t)), None)
    kept = next(
        (n for n, t in zip(parts, texts, strict=True) if added and re.fullmatch(rf".*\] = {added[1]};", t)), None
    )
    if added is None or kept is None:
        raise NotApplicableError("the loop has no running sum")
    inclusive = parts[1] == kept
    adding = parts[0] if inclusive else parts[1]
    name, turns = added[1], [{one.var: f"({one.var} + {k})"} for k in range(lanes)]
    expression = adding.named_children[0].child_by_field_name("right")
    if expression is None or name in re.findall(r"\w+", text(expression)):
        raise NotApplicableError("the loop has no running sum")
    sums = [f"fl_v fl_t = {{{', '.join(render(expression, turn) for turn in turns)}}};"]
    sums += [f"fl_t += {_moved(lanes, 1 << k)};" for k in range(lanes.bit_length() - 1)]
    before = "fl_t" if inclusive else _moved(lanes, 1)
    stores = [render(kept, {**turn, name: f"fl_s[{k}]"}) for k, turn in enumerate(turns)]
    last = f"__builtin_shufflevector(fl_t, fl_t, {', '.join([str(lanes - 1)] * lanes)})"
    lines = [*sums, f"const fl_v fl_s = fl_c + {before};", f"fl_c += {last};", *stores]
    block = "{\n" + "\n".join(lines) + "\n}"
    begin = (
        f"typedef __typeof__({name}) fl_v __attribute__((vector_size({lanes} * sizeof({name}))));\n"
        f"const fl_v fl_none = {{0}}; fl_v fl_c = {{{', '.join([name] * lanes)}}};"
    )
    code = around(one, lanes, block, render(one.body), f"{name} = fl_c[0];\n")
    return replace(piece, code=replaced(whole, one.node, f"{{\n{begin}\n{code}\n}}"))


def _moved(lanes: int, far: int) -> str:
    """Return an expression that moves the partial sums up by `far` lanes, with zeros in the lanes below."""
    places = [lanes - far + k if k < far else lanes + k - far for k in range(lanes)]
    return f"__builtin_shufflevector(fl_none, fl_t, {', '.join(map(str, places))})"
