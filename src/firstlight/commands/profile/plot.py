"""Drawings of a profile: its communication matrices, sizes of messages, kinds of calls and the time in MPI by rank.

Any page with a profile can use them: `drawings(traffic, "profile")`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firstlight.core.units import binary, binary_parts, count, percent, quantity, significant
from firstlight.report import traffic_shape
from firstlight.report.frame import Drawing, Trace
from firstlight.report.palette import COOL, GREY, MORE, WARM
from firstlight.report.traffic_matrix import matrices
from firstlight.results.traffic import Kind, Phase, Size, Traffic, whole

MOST_PHASES = 3
"""Number of phases that are drawn separately; the drawing of all phases includes the others."""
MOST_KINDS = 24
_GROUPS = {
    "point-to-point": COOL[0], "one-sided": COOL[1], "neighbourhood": COOL[2], "collective": WARM[1],
    "receiving": WARM[0], "waiting": WARM[2], "setting up": GREY, "files": MORE[0],
}  # fmt: skip


def drawings(traffic: Traffic, prefix: str) -> list[Drawing]:
    """Return all drawings of a profile; `prefix` begins their ids. A job without messages still has its calls."""
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


def span(size: Size) -> str:
    """Return a range of sizes, as `64 – 128 KiB` (without its end), `8 – 15 B` or `0 B`."""
    if size.digits < 2:
        return f"{size.least} B"
    if size.least < 1024:
        return f"{size.least} – {2 * size.least - 1} B"
    (low, unit), (high, same) = binary_parts(size.least), binary_parts(2 * size.least)
    return f"{low} – {high} {same}" if unit == same else f"{low} {unit} – {high} {same}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def sizes_title(phase: Phase) -> str:
    """Return `62 % of the messages have 8 – 15 B; 94 % of the bytes are in messages of 1 – 2 MiB` or similar."""
    messages, size = sum(s.messages for s in phase.sizes), sum(s.bytes for s in phase.sizes)
    many, large = max(phase.sizes, key=lambda s: s.messages), max(phase.sizes, key=lambda s: s.bytes)
    if len(phase.sizes) == 1:
        return f"All messages have {span(many)}"
    first = f"{percent(many.messages / messages)} of the messages have {span(many)}"
    if many.messages < messages / 2:
        first = f"message sizes range from {span(phase.sizes[0])} to {span(phase.sizes[-1])}"
    if not size:
        return first
    share = percent(large.bytes / size)
    return (
        f"{first} and contain {share} of the bytes"
        if many == large and many.messages >= messages / 2
        else f"{first}; {share} of the bytes are in messages of {span(large)}"
    )


def sizes(phase: Phase, name: str) -> Drawing:
    """Draw how many messages, and how many bytes, are in messages of each size."""
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
        "Messages that name their peer, by size. The upper end of each range belongs to the next range. Collectives "
        "are not included.",
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
            "xaxis": {"title": {"text": "message size"}, "type": "category"},
            "yaxis": {"title": {"text": "share, %"}, "rangemode": "tozero"},
        },
    )


def kinds(phase: Phase, traffic: Traffic, name: str) -> Drawing:
    """Draw the seconds inside each kind of MPI call, all ranks together."""
    ordered = sorted(phase.kinds, key=lambda k: -k.seconds)
    total = sum(k.seconds for k in ordered)
    share = traffic_shape.mpi_share(traffic)
    first = f"; {percent(ordered[0].seconds / total)} of it in {ordered[0].name}" if total > 0 else ""
    return Drawing(
        name,
        f"{percent(share)} of the recorded time is spent in MPI{first}",
        "Seconds inside calls, summed over all ranks, including waiting for other ranks. The bytes of a collective "
        "call are the contributions of its callers.",
        ("call", "group", "calls", "bytes", "seconds", "mean per call", "waiting (at least)"),
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
    """Draw the share of its time that each rank spent in MPI."""
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
        "Share of the recorded time inside MPI calls. Ranks that wait for others have a larger share.",
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
