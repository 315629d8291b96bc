"""Draw the time to the tolerance by method, on the fewest cores measured (one, as in R1) and on the most."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from firstlight.analysis import provenance, ranking
from firstlight.analysis.formatting import listing
from firstlight.analysis.verdict import Verified
from firstlight.core import confidence
from firstlight.core.heritage import Entry
from firstlight.core.units import convert, quantity
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import frame, sentence
from firstlight.report.frame import Drawing, Trace, View, text

from . import methods

PUBLISHED_METRIC = "time"  # what the published tables of one processor call it
NEAR = 1.6  # labels of times within this factor would overlap: they become one
Lines = dict[str, dict[int, Verified]]  # by method and level


def drawings(view: View, workload: Workload, plot: Plot, name: str, figures: Sequence[Verified]) -> list[Drawing]:
    """Return drawings for the fewest cores and for the most that are not oversubscribed."""
    free = sorted({methods.cores(f) for f in figures if not f.oversubscribed})
    ends = list(dict.fromkeys([*free[:1], *free[-1:]]))
    return [_drawing(view, workload, plot, f"{name}-{k}", n, figures) for k, n in enumerate(ends)]


def lines(figures: Sequence[Verified]) -> Lines:
    """Return the figure of the best variant, toolchain and MPI library for each method and level."""
    found: dict[tuple[str, int], list[Verified]] = {}
    for f in figures:
        level = methods.level(f)
        if level is not None and not f.oversubscribed:
            found.setdefault((methods.method(f.identity.variant), level), []).append(f)
    made: Lines = {}
    for (method, level), some in sorted(found.items()):
        best = ranking.best(some)
        if best is not None:
            made.setdefault(method, {})[level] = best
    return made


def _drawing(view: View, workload: Workload, plot: Plot, name: str, n: int, figures: Sequence[Verified]) -> Drawing:
    here = [f for f in figures if methods.cores(f) == n]
    found = lines(here)
    levels = sorted({level for line in found.values() for level in line})
    some = next(iter(next(iter(found.values())).values()))
    ghosts = earlier(view, workload, some.unit) if n == 1 else {}  # the published tables are of one processor
    drawn = frame.layout(
        methods.axis([*levels, *(level for old in ghosts.values() for level in old)]),
        frame.log_axis(frame.title_of_values(plot.subject or plot.metric, some)),
    )
    data = []
    for k, (method, line) in enumerate(found.items()):
        look = {"color": view.palette.colour(method), "symbol": view.palette.symbol(k)}
        data.append(frame.line([(methods.unknowns(v), f) for v, f in line.items()], method, look))
    data += _traces(ghosts, levels[0])
    return Drawing(name, _title(plot, found, n), _caption(bool(ghosts)), frame.HEAD, frame.table(here), data, drawn)


def earlier(view: View, workload: Workload, unit: str) -> dict[str, dict[int, Entry]]:
    """Return published times in this unit by machine and level, the fastest machine first."""
    found: dict[str, dict[int, Entry]] = {}
    for e in view.heritage.matching(workload.name, PUBLISHED_METRIC):
        level = e.parameters.get("level")
        value = convert(e.value, e.unit, unit)
        if isinstance(level, int) and value is not None:
            found.setdefault(e.machine, {})[level] = replace(e, value=value, unit=unit)
    return dict(sorted(found.items(), key=lambda item: min(e.value for e in item[1].values())))


def _traces(ghosts: dict[str, dict[int, Entry]], least: int) -> list[Trace]:
    """Return a grey line per machine; lines that begin close together share the label of the lowest.

    `least`: the lowest level that was measured. Lines that begin above it have their labels on the left.
    """
    traces: list[Trace] = []
    labels: dict[str, list[str]] = {}
    lowest, at = "", 0.0
    for machine, line in ghosts.items():
        first = line[min(line)]
        if not labels or first.value > NEAR * at:
            lowest, at = machine, first.value
        labels.setdefault(lowest, []).append(machine.partition(",")[0])
    for machine, line in ghosts.items():
        entries = [line[level] for level in sorted(line)]
        label = f"{'; '.join(labels[machine])} ({entries[0].year})" if machine in labels else ""
        hover_texts = [
            f"<b>{text(e.machine)} ({e.year})</b><br>{quantity(e.value, e.unit)}<br>{text(e.place)}<br>"
            f"{text(e.source.citation)}"
            for e in entries
        ]
        traces.append(
            {"type": "scatter", "mode": "lines+markers+text", "name": "earlier machines, as published",
             "legendgroup": "ghosts", "legendrank": 2000, "showlegend": not traces, "hoverinfo": "text",
             "hovertext": hover_texts, "x": [methods.unknowns(level) for level in sorted(line)],
             "y": [e.value for e in entries],
             "text": [text(label), *[""] * (len(entries) - 1)],
             "textposition": "middle left" if least < min(line) else "bottom right",
             "textfont": {"color": "@ghost"}, "line": {"color": "@ghost", "width": 1, "dash": "dot"},
             "marker": {"color": "@ghost", "size": 8, "symbol": "x-thin-open",
                        "line": {"width": 2, "color": "@ghost"}}}
        )  # fmt: skip
    return traces


def _title(plot: Plot, found: Lines, n: int) -> str:
    """Return `Time to tolerance on 1 core: multigrid needs 0.12 s at level 7, hypre 1.9 × and BPX 3.1 × as long`."""
    subject = f"{sentence.capital(plot.subject or plot.metric)} {methods.on(n)}: "
    level = max(level for line in found.values() for level in line)
    shared = [v for v in range(level, -1, -1) if sum(v in line for line in found.values()) > 1]
    at = shared[0] if shared else level
    groups = ranking.rank(line[at] for line in found.values() if at in line)
    first = groups[0].best
    value = f"{provenance.median(first)} at level {at}"
    if len(groups[0].figures) > 1:
        names = listing([_name(f) for f in groups[0].figures])
        alike = "need the same time" if sentence.equal(groups[0].figures) else "do not differ measurably"
        return f"{subject}{names} {alike} ({value})" + _behind(groups[1:], first)
    return f"{subject}{_name(first)} needs {value}" + _behind(groups[1:], first)


def _name(f: Verified) -> str:
    return methods.method(f.identity.variant)


def _behind(groups: Sequence[ranking.Group], first: Verified) -> str:
    losers = [f for g in groups for f in g.figures]
    return ", " + listing([f"{_name(f)} {sentence.ahead(first, f)}" for f in losers]) + " as long" if losers else ""


def _caption(old: bool) -> str:
    ghosts = " Grey crosses: published times of one processor with BPX." if old else ""
    return (
        f"The best variant, toolchain and MPI library of each method; error bars are {confidence.TEXT} intervals. "
        f"All methods stop at the same reduction of their residual. The time of the assembly does not count.{ghosts}"
    )
