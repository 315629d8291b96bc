"""Pages of message-buffer memory: a table in the terminal, and curves over the number of processes as HTML."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from firstlight import __version__
from firstlight.commands.patterns.memory import PLAIN, Need
from firstlight.core.units import binary, count
from firstlight.report import html
from firstlight.report.frame import Drawing, Trace, layout, log_axis
from firstlight.report.palette import COOL, MORE, WARM
from firstlight.results.store.durable import replace

SHARE = 0.1
"""Largest acceptable share of a node's memory for buffers (R4's goal)."""
_COLOURS = (*COOL, *WARM, *MORE)
_SYMBOLS = ("circle", "square", "diamond")

Needs = Mapping[str, Sequence[Need]]
"""The needs by pattern."""


def sentences(needs: Needs, node: int) -> list[str]:
    """Return which patterns exceed their share of a node's memory, and the need of the plain design."""
    limit = SHARE * node
    over = {name: next((n for n in some if n.bytes > limit), None) for name, some in needs.items()}
    lines = [
        f"{SHARE:.0%} of a node's memory is {binary(limit)}, shared by all processes of the node".replace("%", " %")
    ]
    beyond = [
        f"{name} with {count(n.processes, 'process', 'processes')} or more" for name, n in over.items() if n is not None
    ]
    lines.append(
        f"a single process exceeds this limit in {', '.join(beyond)}" if beyond else "no process exceeds this limit"
    )
    most = max((n for some in needs.values() for n in some), key=lambda n: n.bytes)
    largest = max(n.processes for some in needs.values() for n in some)
    lines.append(
        f"the maximum is {binary(most.bytes)} per process; buffers for all peers would need {binary(PLAIN * largest)} "
        f"with {count(largest, 'process', 'processes')}"
    )
    return [s[:1].upper() + s[1:] + "." for s in lines]


def summary(needs: Needs, node: int, place: Path | None) -> str:
    """Return the page for the terminal."""
    counts = sorted({n.processes for some in needs.values() for n in some})
    shown = counts if len(counts) <= 7 else sorted({*counts[::2], counts[-1]})
    lines = ["firstlight · message buffers, maximum bytes per process, with R4's two-tier model", ""]
    lines.append(f"  {'processes':<16}" + "".join(f"{n:>11,}" for n in shown) + f"{'contacted':>12}{'hot':>8}")
    for name, some in needs.items():
        by_count = {n.processes: n for n in some}
        cells = "".join(f"{binary(by_count[c].bytes) if c in by_count else '-':>11}" for c in shown)
        lines.append(f"  {name:<16}{cells}{some[-1].contacted:>12,}{some[-1].hot:>8,}")
    plain = "".join(f"{binary(PLAIN * c):>11}" for c in shown)
    lines += [f"  {'(plain design)':<16}{plain}", ""]
    lines += [f"  {line}" for line in sentences(needs, node)]
    lines += [
        "  The counts of contacted and hot peers are for the largest number of processes. `-`: the pattern does not "
        "support this number."
    ]
    if place is not None:
        lines += ["", f"  curves: {place}"]
    return "\n".join(lines)


def drawing(needs: Needs, node: int) -> Drawing:
    """Draw a curve per pattern, the plain design, and the share of a node's memory."""
    counts = sorted({n.processes for some in needs.values() for n in some})
    data: list[Trace] = [_curve(name, some, k) for k, (name, some) in enumerate(needs.items())]
    for name, values, dash in (
        ("plain design: 145 KiB per peer", [PLAIN * c for c in counts], "dot"),
        (f"{SHARE:.0%} of a node's memory".replace("%", " %"), [SHARE * node for _ in counts], "dash"),
    ):
        data.append(
            {"type": "scatter", "mode": "lines", "name": name, "x": counts, "y": values,
             "line": {"color": "@ghost", "width": 2, "dash": dash},
             "hoverinfo": "text", "hovertext": [f"{name}<br>{binary(v)}" for v in values]}
        )  # fmt: skip
    bytes_of_all = [float(n.bytes) for some in needs.values() for n in some] + [float(PLAIN * counts[-1]), SHARE * node]
    rows: list[tuple[str, ...]] = [
        (name, f"{n.processes:,}", f"{n.contacted:,}", f"{n.hot:,}", binary(n.bytes), binary(n.plain))
        for name, some in needs.items()
        for n in some
    ]
    drawn = layout(log_axis("processes"), log_axis("buffer bytes per process", bytes_of_all))
    return Drawing(
        "patterns-memory",
        sentences(needs, node)[2].rstrip("."),
        "R4's model: 2 KiB for each process contacted, 1 MiB for each of at most 1024 hot ones.",
        ("pattern", "processes", "contacted", "hot", "two tiers", "plain design"),
        rows,
        data,
        drawn,
    )


def _curve(name: str, some: Sequence[Need], number: int) -> Trace:
    colour = _COLOURS[number % len(_COLOURS)]
    texts = [
        f"{name} of {n.processes:,}<br>{binary(n.bytes)}: {n.contacted:,} contacted, {n.hot:,} of them hot"
        for n in some
    ]
    return {
        "type": "scatter", "mode": "lines+markers", "name": name,
        "x": [n.processes for n in some], "y": [max(1, n.bytes) for n in some],
        "line": {"color": colour, "width": 2},
        "marker": {"color": colour, "size": 7, "symbol": _SYMBOLS[number // len(_COLOURS) % len(_SYMBOLS)]},
        "hoverinfo": "text", "hovertext": texts,
    }  # fmt: skip


def write(needs: Needs, node: int, path: Path) -> None:
    """Write the page, whole or not at all. Raises OSError."""
    replace(path, render(needs, node).encode())


def render(needs: Needs, node: int) -> str:
    """Return the HTML page."""
    drawings = [drawing(needs, node)]
    page = {
        "firstlight": __version__,
        "date": time.strftime("%d %b %Y %H:%M").lstrip("0"),
        "sentences": sentences(needs, node),
        "drawings": drawings,
        "names": ", ".join(needs),
    }
    return html.page_of(Path(__file__).with_suffix(".html.j2"), page, drawings)
