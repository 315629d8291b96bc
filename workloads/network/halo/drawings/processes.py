"""Draw the time of the fastest exchange against the number of processes, at a fixed number on each node (R3).

If the run has several numbers of nodes, a line is one number of processes per node; on one node the number itself
grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from firstlight.analysis import ranking
from firstlight.analysis.verdict import Verified
from firstlight.core import confidence
from firstlight.model.catalogue import Plot
from firstlight.report import frame, sentence, wording
from firstlight.report.frame import Drawing, Trace, View

from . import strategies

FLAT = 1.15  # growth below that is none
MOST_LINES = 8


class Line(NamedTuple):
    """`per_node` is None if it grows along the line. `points`: by number of processes, the fastest strategy there."""

    mpi: str
    per_node: int | None
    points: dict[int, Verified]

    @property
    def growth(self) -> float:
        ordered = [f for _, f in sorted(self.points.items())]
        return ranking.advantage(ordered[0], ordered[-1])


def drawings(view: View, plot: Plot, name: str, figures: Sequence[Verified]) -> list[Drawing]:
    """Draw the smallest and the largest x that were measured in several places; return nothing without several."""
    by_x: dict[float, list[Verified]] = {}
    for f in figures:
        x = strategies.at(f, plot)
        if x is not None:
            by_x.setdefault(x, []).append(f)
    wide = {x: found for x, some in sorted(by_x.items()) if (found := lines(some))}
    ends = list(dict.fromkeys([*list(wide)[:1], *list(wide)[-1:]]))
    return [_drawing(view, plot, f"{name}-{k}", x, wide[x], by_x[x]) for k, x in enumerate(ends)]


def lines(figures: Sequence[Verified]) -> list[Line]:
    """Return every line with at least two points; a process alone is left out, for it sends no message."""
    several = len({strategies.place(f.identity).nodes for f in figures}) > 1
    found: dict[tuple[str, int | None], dict[int, Verified]] = {}
    for f in figures:
        where = strategies.place(f.identity)
        if where.parties < 2:
            continue
        points = found.setdefault((f.identity.mpi or "", where.parties // where.nodes if several else None), {})
        known = points.get(where.parties)
        if known is None or ranking.advantage(f, known) > 1:
            points[where.parties] = f
    made = [Line(mpi, per_node, points) for (mpi, per_node), points in found.items() if len(points) > 1]
    return sorted(made, key=lambda line: (line.mpi, line.per_node or 0))


def _drawing(view: View, plot: Plot, name: str, x: float, some: list[Line], figures: Sequence[Verified]) -> Drawing:
    every = sorted({p for line in some for p in line.points})
    step = -(-len(every) // 12)
    like = next(iter(some[0].points.values()))
    axis = {
        "title": {"text": "total number of processes" if some[0].per_node else "processes on the node"}, "type": "log",
        "tickvals": every[::step], "ticktext": [str(p) for p in every[::step]],
    }  # fmt: skip
    drawn = frame.layout(axis, frame.log_axis(frame.title_of_values(plot.subject or plot.metric, like)))
    data = [_trace(view, line, k) for k, line in enumerate(some[:MOST_LINES])]
    crowded = any(f.oversubscribed for line in some for f in line.points.values())
    caption = (
        f"The fastest strategy on each number of processes; error bars are {confidence.INTERVALS}."
        + (" Open symbols have more processes than processors, and are never ranked." if crowded else "")
        + (f" {len(some) - MOST_LINES} more lines are in the table." if len(some) > MOST_LINES else "")
    )
    return Drawing(name, _title(view, plot, x, some), caption, frame.HEAD, frame.table(figures), data, drawn)


def _trace(view: View, line: Line, k: int) -> Trace:
    points = sorted(line.points.items())
    look = {"color": view.palette.colour(line.mpi or "threads"), "symbol": view.palette.symbol(k)}
    trace = frame.line([(float(p), f) for p, f in points], _label(view, line), look)
    symbol = look["symbol"]
    trace["marker"]["symbol"] = [f"{symbol}-open" if f.oversubscribed else symbol for _, f in points]
    trace["marker"]["size"] = 9
    trace["line"]["dash"] = ("solid", "dash", "dot", "dashdot")[k % 4] if line.per_node else "solid"
    return trace


def _label(view: View, line: Line) -> str:
    who = wording.mpi_name(view.judgement.run, line.mpi) if line.mpi else "threads, no MPI"
    return who if line.per_node is None else f"{who}, {line.per_node} per node"


def _title(view: View, plot: Plot, x: float, some: Sequence[Line]) -> str:
    """Return `N = 2: from 2 to 8 processes Open MPI lasts 1.8 × as long; MPICH stays flat`."""
    place = f"{plot.x.upper() if len(plot.x) == 1 else plot.x} = {x:g}"
    crowded = min((n for line in some for n, f in line.points.items() if f.oversubscribed), default=0)
    over = f" (oversubscribed from {crowded} on)" if crowded else ""
    ends = {(min(line.points), max(line.points)) for line in some}
    if len(ends) == 1 and all(_growth(line) == "stays flat" for line in some):
        first, last = ends.pop()
        return f"{place}: flat from {first} to {last} processes{over}"
    parts, before = [], ""
    for line in some[:3]:
        span = f"from {min(line.points)} to {max(line.points)} processes "
        parts.append(("" if span == before else span) + f"{_label(view, line)} {_growth(line)}")
        before = span
    more = f"; {len(some) - 3} more lines" if len(some) > 3 else ""
    return f"{place}: {'; '.join(parts)}{more}{over}"


def _growth(line: Line) -> str:
    if 1 / FLAT < line.growth < FLAT:
        return "stays flat"
    first, last = line.points[min(line.points)], line.points[max(line.points)]
    if line.growth < 1:
        return f"becomes {sentence.ahead(last, first)} faster"
    return f"lasts {sentence.ahead(first, last)} as long"
