"""Scan: a running sum by blocks; within a block sums are made in a tree, so that only one addition a block waits."""

from __future__ import annotations

import re

from msgspec.structs import replace

from firstlight.loops.change import NotApplicableError, Piece, applicable
from firstlight.loops.change.strip import around, lane_loop
from firstlight.loops.nest import header, nest, replaced
from firstlight.loops.syntax import render, statements, text

BLOCKS = ("4", "8", "16")


def choices(piece: Piece) -> tuple[str, ...]:
    return applicable(apply, piece, BLOCKS)


def apply(piece: Piece, value: str) -> Piece:
    if "fl_l" in piece.code:
        raise NotApplicableError("it has lanes already")
    whole, lanes = nest(piece.code), int(value)
    one = header(whole.innermost[0]) if whole.innermost else None
    parts = statements(one.body) if one is not None else []
    if one is None or not one.upward or one.step != 1 or len(parts) != 2:
        raise NotApplicableError("no running sum")
    texts = [" ".join(text(n).split()) for n in parts]
    added = next((re.fullmatch(r"(\w+) \+= .*;", t) for t in texts if re.match(r"\w+ \+= ", t)), None)
    kept = next(
        (n for n, t in zip(parts, texts, strict=True) if added and re.fullmatch(rf".*\] = {added[1]};", t)), None
    )
    if added is None or kept is None:
        raise NotApplicableError("no running sum")
    inclusive = parts[1] == kept
    adding = parts[0] if inclusive else parts[1]
    name, turn = added[1], {one.var: f"({one.var} + fl_l)"}
    expression = adding.named_children[0].child_by_field_name("right")
    if expression is None or name in re.findall(r"\w+", text(expression)):
        raise NotApplicableError("no running sum")
    steps, far = [f"{lane_loop(lanes)} fl_t[fl_l] = {render(expression, turn)};"], 1
    while far < lanes:
        steps.append(f"for (int fl_l = {lanes - 1}; fl_l >= {far}; --fl_l) fl_t[fl_l] += fl_t[fl_l - {far}];")
        far *= 2
    before = "" if inclusive else f"{render(kept, {one.var: f'({one.var} + 0)'})} "
    run = f"for (int fl_l = {0 if inclusive else 1}; fl_l < {lanes}; ++fl_l)"
    lane = f"({name} + fl_t[fl_l{'' if inclusive else ' - 1'}])"
    store = render(kept, {**turn, name: lane})
    block = (
        f"{{ __typeof__({name}) fl_t[{lanes}]; {' '.join(steps)} {before}{run} {store} {name} += fl_t[{lanes - 1}]; }}"
    )
    return replace(piece, code=replaced(whole, one.node, around(one, lanes, block, render(one.body))))
