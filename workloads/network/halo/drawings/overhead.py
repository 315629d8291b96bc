"""Draw the time per exchange while other threads of each process spin, by placement (R3's OS-overhead experiment).

Placements have from fewer busy threads than processors to more. The lines of more are dotted, with open symbols, and
never ranked: a thread that spins occupies a processor that the exchange needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from firstlight.analysis import formatting, provenance
from firstlight.analysis.interval import quotient
from firstlight.analysis.verdict import Identity, Verified
from firstlight.core import confidence
from firstlight.model.catalogue import Plot, Workload
from firstlight.model.plan import Placement
from firstlight.report import answers, frame, sentence, wording
from firstlight.report.frame import Drawing, View

SPARE, FULL, OVER = "idle processors left", "all processors busy", "more threads than processors"
_DASH = {SPARE: "solid", FULL: "dash", OVER: "dot"}


class Line(NamedTuple):
    """One placement: `load` is SPARE, FULL or OVER; `points` by x."""

    placement: Placement
    load: str
    points: dict[float, Verified]


def draw(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Return one drawing for each MPI library that was measured in several placements."""
    every = view.selected(workload, plot)
    by: dict[str, list[Verified]] = {}
    for f in answers.verified(every):
        if _x(f.identity, plot) is not None:
            by.setdefault(f.identity.mpi or "", []).append(f)
    made = []
    for k, (mpi, figures) in enumerate(sorted(by.items())):
        found = lines(view, plot, figures)
        if len(found) > 1:
            rows = frame.table(f for f in every if (f.identity.mpi or "") == mpi)
            made.append(_drawing(view, plot, f"{name}-{k}", mpi, found, rows))
    return made


def lines(view: View, plot: Plot, figures: list[Verified]) -> list[Line]:
    """Return the lines by the number of nodes, busy threads and ranks. Each point is the best of its figures."""
    cpus = len(view.judgement.run.machine.cpus)
    points: dict[Placement, dict[float, Verified]] = {}
    for f in figures:
        x = _x(f.identity, plot)
        mine = points.setdefault(f.identity.placement, {})
        if x is not None and (x not in mine or f.estimate.median < mine[x].estimate.median):
            mine[x] = f
    made = [Line(p, load(p, cpus), dict(sorted(some.items()))) for p, some in points.items()]
    return sorted(made, key=lambda line: (line.placement.nodes, busy(line.placement), line.placement.ranks))


def busy(placement: Placement) -> int:
    return placement.ranks * placement.threads


def load(placement: Placement, cpus: int) -> str:
    there = placement.nodes * cpus
    return SPARE if busy(placement) < there else FULL if busy(placement) == there else OVER


def _x(identity: Identity, plot: Plot) -> float | None:
    x = dict(identity.parameters).get(plot.x)
    return float(x) if isinstance(x, int | float) and 0 < x < 2**63 else None


def _drawing(view: View, plot: Plot, name: str, mpi: str, found: list[Line], rows: list[tuple[str, ...]]) -> Drawing:
    shown = found[: frame.MOST_LINES]
    data = []
    for k, line in enumerate(shown):
        label = formatting.where(line.placement) or "1 rank"
        symbol = view.palette.symbol(k) + ("-open" if line.load == OVER else "")
        look = {"color": view.palette.colour(label), "symbol": symbol, "dash": _DASH[line.load]}
        marked = f"{label}, oversubscribed" if line.load == OVER else label
        data.append(frame.line(list(line.points.items()), marked, look))
    figures = [f for line in shown for f in line.points.values()]
    xs = sorted({x for line in shown for x in line.points})
    help_text, unit = view.parameter(figures[0].identity.workload, plot.x)
    axis = frame.log_axis(f"{help_text} ({unit})" if unit else help_text)
    axis |= {"tickvals": xs[:: -(-len(xs) // 12)], "ticktext": [f"{x:g}" for x in xs[:: -(-len(xs) // 12)]]}
    time = frame.log_axis(frame.title_of_values(f"time of {plot.subject or plot.metric}", figures[0]))
    caption = (
        f"Error bars are {confidence.INTERVALS}. One thread of each rank exchanges; the other threads spin. "
        f"Solid: {SPARE}. Dashed: {FULL}. Dotted, with open symbols: {OVER}; verified, but never ranked or compared."
        + (f" {len(found) - len(shown)} more placements are in the table." if len(found) > len(shown) else "")
    )
    who = f"{wording.mpi_name(view.judgement.run, mpi)}: " if mpi else ""
    return Drawing(name, who + title(plot, found), caption, frame.HEAD, rows, data, frame.layout(axis, time))


def title(plot: Plot, found: list[Line]) -> str:
    """Return `at n = 2 an exchange lasts 1.2 us with idle processors left (2 ranks) and 2.6 × that with all ...`.

    All placements in the title have the same number of ranks: the number with the most different loads.
    """
    by_ranks: dict[tuple[int, int], dict[str, Line]] = {}
    for line in found:
        mine = by_ranks.setdefault((line.placement.nodes, line.placement.ranks), {})
        mine[line.load] = _fewer(mine.get(line.load), line)
    _, named = max(by_ranks.items(), key=lambda x: (len(x[1]), x[0]))
    shared = set.intersection(*(set(line.points) for line in named.values()))
    if len(named) < 2 or not shared:
        return f"{len(found)} placements, no two of which differ only in load"
    x = min(shared)
    return f"at {plot.x} = {x:g} {plot.subject or 'an exchange'} lasts {_loads(named, x)}"


def _fewer(a: Line | None, b: Line) -> Line:
    return a if a is not None and busy(a.placement) <= busy(b.placement) else b


def _loads(named: Mapping[str, Line], x: float) -> str:
    parts: list[str] = []
    first: Verified | None = None
    for kind in (SPARE, FULL, OVER):
        line = named.get(kind)
        if line is None:
            continue
        here, label = line.points[x], formatting.where(line.placement) or "1 rank"
        if first is None:
            first = here
            parts.append(f"{provenance.median(here)} with {kind} ({label})")
        else:
            times = sentence.ratio2(quotient(here.estimate.median, first.estimate.median))
            times = provenance.number(times, "a / b", of=(here, first))
            parts.append(f"{times} that with {kind} ({label})")
    return formatting.listing(parts)
