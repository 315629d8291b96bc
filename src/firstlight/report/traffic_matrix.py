"""Traffic matrix: the bytes and the messages between ranks, each as a heat map."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from firstlight.core.units import binary, count, significant
from firstlight.report import traffic_shape
from firstlight.report.frame import AMOUNTS, Drawing, Trace, log_colours, text
from firstlight.results.traffic import Phase

MOST_BLOCKS = 96  # along a side of a matrix: with all of them dense the page stays below its limit of bytes
FEW = 2  # ranks, whose matrix is not drawn: its table has all of it
MOST_ROWS = 300  # of a table of pairs

Sums = dict[tuple[int, int], tuple[int, int]]
"""Messages and bytes of a block of senders and receivers."""


def matrices(phase: Phase, ranks: int, name: str, before: str) -> list[Drawing]:
    """Return the bytes and the messages of a phase as heat maps, with one row per sender, one column per receiver."""
    title = traffic_shape.title(phase, ranks)
    symmetry = traffic_shape.symmetry_sentence(phase)
    sizes = sorted({p.bytes // p.messages for p in phase.pairs})
    mean = phase.bytes / phase.messages if phase.messages else 0
    spread = (
        f"all of {binary(sizes[0])}" if len(sizes) == 1 else f"of {binary(sizes[0])} to {binary(sizes[-1])} on average"
    )
    messages = f"{count(phase.messages, 'message')}, {spread} per pair; {binary(mean)} each on average"
    found = [
        _heat(
            phase,
            ranks,
            f"{name}-bytes",
            f"{before}{_capital(title, before)}",
            1,
            binary,
            f"{binary(phase.bytes)} in total; {symmetry}.",
        ),
    ]
    if len({p.messages for p in phase.pairs}) > 1:  # else all cells would have one colour
        found.append(
            _heat(
                phase,
                ranks,
                f"{name}-messages",
                f"{before}{messages}",
                0,
                _plain,
                "The number of messages of each pair.",
            )
        )
    return found


def _capital(sentence: str, before: str) -> str:
    return sentence if not before else sentence[:1].lower() + sentence[1:]


def _plain(value: float) -> str:
    return f"{value:.0f}"


def _heat(
    phase: Phase, ranks: int, name: str, title: str, which: int, form: Callable[[float], str], what: str
) -> Drawing:
    width, sums = traffic_shape.blocks(phase.pairs, ranks, MOST_BLOCKS)
    side = -(-ranks // width)
    labels = [str(k) if width == 1 else f"{k * width}–{min(ranks, (k + 1) * width) - 1}" for k in range(side)]
    noun = "rank" if width == 1 else "ranks"
    grouped = "" if width == 1 else f" Each cell is the sum over a block of {width} x {width} ranks."
    if len(phase.pairs) > MOST_ROWS:
        grouped += (
            f" The table shows the {MOST_ROWS} pairs with the most bytes; profile.json contains all {len(phase.pairs)}."
        )
    return Drawing(
        name,
        title,
        f"{what} Each row is a sender and each column a receiver. The colour scale is logarithmic, and empty cells "
        f"have no messages.{grouped}",
        ("from", "to", "messages", "bytes", "bytes per message"),
        [
            (str(p.source), str(p.target), str(p.messages), str(p.bytes), significant(p.bytes / p.messages))
            for p in sorted(phase.pairs, key=lambda p: (-p.bytes, -p.messages, p.source, p.target))[:MOST_ROWS]
        ],
        [_cells(sums, side, width, which, form)] if ranks > FEW else [],
        {
            "xaxis": _axis(f"to {noun}", labels),
            "yaxis": _axis(f"from {noun}", labels) | {"autorange": "reversed", "scaleanchor": "x"},
        },
    )


def _cells(sums: Sums, side: int, width: int, which: int, form: Callable[[float], str]) -> Trace:
    """Return a heat map of blocks of `width` x `width` ranks by their bytes (`which` = 1) or messages (0)."""
    values = [[sums.get((row, column), (0, 0))[which] for column in range(side)] for row in range(side)]
    some = [v for row in values for v in row if v]
    low, high = (math.log10(min(some)), math.log10(max(some))) if some else (0.0, 1.0)
    what = "bytes" if which else "messages"
    one = f"rank %{{y}} → rank %{{x}}: %{{text}}{'' if which else ' messages'}"
    return {
        "type": "heatmap",
        "z": [
            [round(math.log10(v), 3) if v else _nothing(sums, r, c) for c, v in enumerate(row)]
            for r, row in enumerate(values)
        ],
        "x": list(range(side)),
        "y": list(range(side)),
        "text": [
            [form(v) if v else "0" if (r, c) in sums else "" for c, v in enumerate(row)] for r, row in enumerate(values)
        ],
        "hovertemplate": (f"block %{{y}} → %{{x}}: %{{text}} {what}" if width > 1 else one) + "<extra></extra>",
        "colorscale": AMOUNTS,
        "colorbar": log_colours(what, low, high, form),
        "xgap": 1 if side <= 64 else 0,
    }


def _nothing(sums: Sums, row: int, column: int) -> float | None:
    """Return the lowest colour for messages without bytes, and no colour for a block without messages."""
    return 0.0 if sums.get((row, column), (0, 0))[0] else None


def _axis(title: str, labels: Sequence[str]) -> dict[str, Any]:
    step = -(-len(labels) // 16)
    shown = range(0, len(labels), step)
    return {
        "title": {"text": text(title)}, "tickvals": list(shown), "ticktext": [labels[k] for k in shown],
        "showgrid": False, "zeroline": False,
    }  # fmt: skip
