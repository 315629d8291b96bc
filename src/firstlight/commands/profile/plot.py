"""Traffic: a communication matrix as a heat map, kinds of calls as bars, time in MPI by rank.

For any page that has a profile: `drawings(traffic, "profile")`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from firstlight.commands.profile import shape
from firstlight.commands.profile.traffic import Kind, Phase, Size, Traffic, whole
from firstlight.core.units import binary, count, percent, quantity, significant
from firstlight.report.frame import AMOUNTS, Drawing, Trace, log_colours, text
from firstlight.report.palette import COOL, GREY, MORE, WARM

MOST_PHASES = 3
"""Phases that are drawn each on its own; the others are in the whole."""
MOST_KINDS = 24
MOST_BLOCKS = 96  # along a side of a matrix: with all of them dense the page stays below its limit of bytes
MOST_ROWS = 300  # of a table of pairs
_GROUPS = {
    "point-to-point": COOL[0], "one-sided": COOL[1], "neighbourhood": COOL[2], "collective": WARM[1],
    "receiving": WARM[0], "waiting": WARM[2], "setting up": GREY, "files": MORE[0],
}  # fmt: skip

Sums = dict[tuple[int, int], tuple[int, int]]
"""Messages and bytes of a block of senders and receivers."""


def drawings(traffic: Traffic, prefix: str) -> list[Drawing]:
    """All drawings of a profile; `prefix` begins their ids. At least one: a job without messages has its calls."""
    found: list[Drawing] = []
    some = [p for p in traffic.phases if p.pairs]
    total = whole(traffic)
    if len(some) > 1:
        found += matrices(total, traffic.ranks, f"{prefix}-all", "All phases: ")
    by_size = sorted(some, key=lambda p: -p.bytes)[:MOST_PHASES]
    for phase in (p for p in some if p in by_size):
        name = "" if len(some) == 1 else f"Phase {phase.level}: "
        found += matrices(phase, traffic.ranks, f"{prefix}-{phase.level}".replace("--", "-minus-"), name)
    if total.sizes:
        found.append(sizes(total, f"{prefix}-sizes"))
    found.append(kinds(total, traffic, f"{prefix}-kinds"))
    found.append(times(traffic, f"{prefix}-times"))
    return found


def matrices(phase: Phase, ranks: int, name: str, before: str) -> list[Drawing]:
    """The bytes and the messages of a phase, each as a heat map: a row a sender, a column a receiver."""
    title = shape.title(phase, ranks)
    symmetry = shape.symmetry_sentence(phase)
    sizes = sorted({p.bytes // p.messages for p in phase.pairs})
    mean = phase.bytes / phase.messages if phase.messages else 0
    spread = (
        f"all of {binary(sizes[0])}" if len(sizes) == 1 else f"of {binary(sizes[0])} to {binary(sizes[-1])} on average"
    )
    messages = f"{count(phase.messages, 'message')}, {spread} a pair; {binary(mean)} each in the mean"
    return [
        _heat(
            phase,
            ranks,
            f"{name}-bytes",
            f"{before}{_capital(title, before)}",
            1,
            binary,
            f"{binary(phase.bytes)} in all; {symmetry}.",
        ),
        _heat(phase, ranks, f"{name}-messages", f"{before}{messages}", 0, _plain, "Messages of each pair."),
    ]


def _capital(sentence: str, before: str) -> str:
    return sentence if not before else sentence[:1].lower() + sentence[1:]


def _plain(value: float) -> str:
    return f"{value:.0f}"


def _heat(
    phase: Phase, ranks: int, name: str, title: str, which: int, form: Callable[[float], str], what: str
) -> Drawing:
    width, sums = shape.blocks(phase.pairs, ranks, MOST_BLOCKS)
    side = -(-ranks // width)
    labels = [str(k) if width == 1 else f"{k * width}–{min(ranks, (k + 1) * width) - 1}" for k in range(side)]
    noun = "rank" if width == 1 else "ranks"
    grouped = "" if width == 1 else f" Blocks of {width} x {width} ranks are added up."
    if len(phase.pairs) > MOST_ROWS:
        grouped += f" The table has the {MOST_ROWS} pairs with the most bytes; profile.json has all {len(phase.pairs)}."
    return Drawing(
        name,
        title,
        f"{what} A row is a sender, a column a receiver; the colour is logarithmic, empty is nothing.{grouped}",
        ("from", "to", "messages", "bytes", "bytes a message"),
        [
            (str(p.source), str(p.target), str(p.messages), str(p.bytes), significant(p.bytes / p.messages))
            for p in sorted(phase.pairs, key=lambda p: (-p.bytes, -p.messages, p.source, p.target))[:MOST_ROWS]
        ],
        [_cells(sums, side, width, which, form)],
        {
            "xaxis": _axis(f"to {noun}", labels),
            "yaxis": _axis(f"from {noun}", labels) | {"autorange": "reversed", "scaleanchor": "x"},
        },
    )


def _cells(sums: Sums, side: int, width: int, which: int, form: Callable[[float], str]) -> Trace:
    """Blocks of `width` x `width` ranks by their bytes (`which` = 1) or messages (0)."""
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
    """Messages without bytes are something too: they get the lowest colour, no message none."""
    return 0.0 if sums.get((row, column), (0, 0))[0] else None


def _axis(title: str, labels: Sequence[str]) -> dict[str, Any]:
    step = -(-len(labels) // 16)
    shown = range(0, len(labels), step)
    return {
        "title": {"text": text(title)}, "tickvals": list(shown), "ticktext": [labels[k] for k in shown],
        "showgrid": False, "zeroline": False,
    }  # fmt: skip


def span(size: Size) -> str:
    """`64 – 128 KiB` (the end is not in it), `8 – 15 B`, `0 B`"""
    if size.digits < 2:
        return f"{size.least} B"
    low, high = binary(size.least), binary(2 * size.least)
    if size.least < 1024:
        return f"{size.least} – {2 * size.least - 1} B"
    number, _, unit = low.partition(" ")
    return f"{number} – {high}" if high.endswith(f" {unit}") else f"{low} – {high}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def sizes_title(phase: Phase) -> str:
    """`62 % of the messages have 8 – 15 B; 94 % of the bytes are in messages of 1 – 2 MiB`"""
    messages, size = sum(s.messages for s in phase.sizes), sum(s.bytes for s in phase.sizes)
    many, large = max(phase.sizes, key=lambda s: s.messages), max(phase.sizes, key=lambda s: s.bytes)
    if len(phase.sizes) == 1:
        return f"All messages have {span(many)}"
    first = f"{percent(many.messages / messages)} of the messages have {span(many)}"
    if many.messages < messages / 2:
        first = f"messages are of {span(phase.sizes[0])} to {span(phase.sizes[-1])}"
    if not size:
        return first
    share = percent(large.bytes / size)
    return (
        f"{first}, and {share} of the bytes"
        if many == large
        else f"{first}; {share} of the bytes are in messages of {span(large)}"
    )


def sizes(phase: Phase, name: str) -> Drawing:
    """How many messages, and how many bytes, are in messages of each size."""
    messages, size = sum(s.messages for s in phase.sizes), sum(s.bytes for s in phase.sizes)
    labels = [span(s) for s in phase.sizes]

    def bar(what: str, colour: str, shares: Sequence[float], values: Sequence[str]) -> Trace:
        return {
            "type": "bar",
            "name": what,
            "x": labels,
            "y": [100 * share for share in shares],
            "hovertext": [f"{label}: {value}" for label, value in zip(labels, values, strict=True)],
            "hoverinfo": "text",
            "marker": {"color": colour},
        }

    counts = [count(s.messages, "message") for s in phase.sizes]
    return Drawing(
        name,
        _sentence(sizes_title(phase)),
        "Messages that name their peer, by size; the end of a span belongs to the next. Collectives are not in it.",
        ("size", "messages", "share of messages", "bytes", "share of bytes"),
        [
            (
                label,
                str(s.messages),
                percent(s.messages / messages),
                str(s.bytes),
                percent(s.bytes / size) if size else "–",
            )
            for label, s in zip(labels, phase.sizes, strict=True)
        ],
        [
            bar("messages", COOL[0], [s.messages / messages for s in phase.sizes], counts),
            bar(
                "bytes",
                WARM[1],
                [s.bytes / size if size else 0.0 for s in phase.sizes],
                [binary(s.bytes) for s in phase.sizes],
            ),
        ],
        {
            "barmode": "group",
            "xaxis": {"title": {"text": "size of a message"}, "type": "category"},
            "yaxis": {"title": {"text": "share, %"}, "rangemode": "tozero"},
        },
    )


def kinds(phase: Phase, traffic: Traffic, name: str) -> Drawing:
    """Seconds inside each kind of MPI call, all ranks together."""
    ordered = sorted(phase.kinds, key=lambda k: -k.seconds)
    total = sum(k.seconds for k in ordered)
    share = shape.mpi_share(traffic)
    first = f"; {ordered[0].name} takes {percent(ordered[0].seconds / total)} of it" if total > 0 else ""
    return Drawing(
        name,
        f"MPI takes {percent(share)} of the recorded time{first}",
        "Seconds inside calls, all ranks added up; a call that waits for another rank counts its waiting. "
        "The bytes of a collective call are what its callers contribute.",
        ("call", "group", "calls", "bytes", "seconds", "mean of a call", "waiting at least"),
        [
            (k.name, k.group, str(k.calls), str(k.bytes), significant(k.seconds), _mean(k), _waited(k))
            for k in ordered
        ],
        [_bars(group, colour, ordered[:MOST_KINDS]) for group, colour in _GROUPS.items() if _any(group, ordered)],
        {
            "barmode": "stack",
            "xaxis": {"title": {"text": "seconds, all ranks"}, "rangemode": "tozero"},
            "yaxis": {"autorange": "reversed", "type": "category",
                      "categoryarray": [k.name for k in ordered[:MOST_KINDS]]},
        },
    )  # fmt: skip


def _mean(kind: Kind) -> str:
    return quantity(kind.seconds / max(1, kind.calls), "s")


def _waited(kind: Kind) -> str:
    return "–" if kind.waiting is None else quantity(kind.waiting, "s")


def _any(group: str, ordered: Sequence[Kind]) -> bool:
    return any(k.group == group for k in ordered[:MOST_KINDS])


def _bars(group: str, colour: str, ordered: Sequence[Kind]) -> dict[str, Any]:
    mine = [k for k in ordered if k.group == group]
    return {
        "type": "bar",
        "orientation": "h",
        "name": group,
        "y": [k.name for k in mine],
        "x": [k.seconds for k in mine],
        "hovertext": [
            f"{k.name}: {quantity(k.seconds, 's')} in {count(k.calls, 'call')}, {binary(k.bytes)}" for k in mine
        ],
        "hoverinfo": "text",
        "marker": {"color": colour},
    }


def times(traffic: Traffic, name: str) -> Drawing:
    """The share of its time that each rank spent in MPI."""
    shares = [r.mpi / r.recorded if r.recorded else 0.0 for r in traffic.times]
    low, high = min(shares), max(shares)
    least, most = traffic.times[shares.index(low)].rank, traffic.times[shares.index(high)].rank
    title = (
        f"All ranks spend about {percent(sum(shares) / len(shares))} of their time in MPI"
        if high - low < 0.1
        else f"Rank {most} spends {percent(high)} of its time in MPI, rank {least} {percent(low)}: the work is uneven"
    )
    return Drawing(
        name,
        title,
        "Share of the recorded time inside MPI calls. Those who wait for others have the larger share.",
        ("rank", "seconds recorded", "seconds in MPI", "share", "end"),
        [
            (str(r.rank), significant(r.recorded), significant(r.mpi), percent(s), "" if r.complete else r.how)
            for r, s in zip(traffic.times, shares, strict=True)
        ],
        [
            {
                "type": "bar" if len(shares) <= 256 else "scatter",
                "x": [r.rank for r in traffic.times],
                "y": [100 * s for s in shares],
                "hovertext": [f"rank {r.rank}: {percent(s)}" for r, s in zip(traffic.times, shares, strict=True)],
                "hoverinfo": "text",
                "marker": {"color": COOL[0]},
            }
        ],
        {"xaxis": {"title": {"text": "rank"}, "rangemode": "tozero"},
         "yaxis": {"title": {"text": "time in MPI, %"}, "rangemode": "tozero"}, "showlegend": False},
    )  # fmt: skip
