"""Compare the time to let the library gather data that are not contiguous with the time to pack them by hand.

For each strategy and size, divide the time of one way (MPI_Type_vector, in place) by that of the first way (packed).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from firstlight.analysis import provenance, ranking
from firstlight.analysis.formatting import listing
from firstlight.analysis.interval import Ratio, ratio
from firstlight.analysis.verdict import Verified
from firstlight.core import confidence
from firstlight.core.units import quantity, significant
from firstlight.model.catalogue import Plot
from firstlight.report import frame, sentence
from firstlight.report.frame import Drawing, Trace

from . import strategies
from .strategies import Contest, short

FIRST = "packed"
_MOST = math.log(4)  # a factor of 4 has the deepest colour


class Entry(NamedTuple):
    """One way compared with the first: `ratio` > 1 means that it is slower."""

    strategy: str
    way: str
    x: float
    ratio: Ratio
    one: Verified
    first: Verified

    @property
    def alike(self) -> bool:
        return ranking.alike(self.one, self.first)


def drawings(plot: Plot, name: str, contests: Sequence[Contest], figures: Sequence[Verified]) -> list[Drawing]:
    """Return one drawing for each MPI library that has strategies measured in several ways."""
    parameter = _parameter(figures)
    made = []
    for k, c in enumerate(contests if parameter else ()):
        mine = [
            f for f in figures if strategies.place(f.identity) == c.place and f.identity.mpi in (c.mpi or None, None)
        ]
        entries, first = _entries([f for f in mine if not f.oversubscribed], plot, parameter)
        if entries:
            made.append(_drawing(plot, f"{name}-{k}", c, entries, first))
    return made


def _parameter(figures: Iterable[Verified]) -> str:
    """Return the text parameter with the most values; "" if none has several."""
    values: dict[str, set[str]] = {}
    for f in figures:
        for k, v in f.identity.parameters:
            if isinstance(v, str):
                values.setdefault(k, set()).add(v)
    several = {k: v for k, v in values.items() if len(v) > 1}
    return max(several, key=lambda k: (len(several[k]), k), default="")


def _entries(figures: Sequence[Verified], plot: Plot, parameter: str) -> tuple[list[Entry], str]:
    """Return every way compared with the first, strategy by strategy, and the name of the first."""
    by_way: dict[str, list[Verified]] = {}
    for f in figures:
        by_way.setdefault(str(dict(f.identity.parameters).get(parameter, "")), []).append(f)
    first = FIRST if FIRST in by_way else min(by_way, default="")
    times = {way: strategies.fastest(some, plot) for way, some in by_way.items()}
    found = []
    for way in sorted(times.keys() - {first}):
        for strategy, line in times[way].items():
            for x, one in line.items():
                base = times[first].get(strategy, {}).get(x)
                if base is not None:
                    shift = ratio(base.estimate.launches, one.estimate.launches, confidence.LEVEL)
                    found.append(Entry(strategy, way, x, shift, one, base))
    return sorted(found, key=lambda e: (e.strategy, e.way, e.x)), first


def _drawing(plot: Plot, name: str, contest: Contest, entries: Sequence[Entry], first: str) -> Drawing:
    everyone = contest.times
    several = len({e.way for e in entries}) > 1
    lines = list(dict.fromkeys((e.strategy, e.way) for e in entries))[::-1]
    xs = sorted({e.x for e in entries})
    at = {(e.strategy, e.way, e.x): e for e in entries}
    cells = [[at.get((*line, x)) for x in xs] for line in lines]
    labels = [f"{short(s, everyone)} · {way}" if several else short(s, everyone) for s, way in lines]
    data = [_heat([f"{x:g}" for x in xs], labels, cells, first)]
    drawn = frame.layout(
        {"type": "category", "title": {"text": plot.x.upper() if len(plot.x) == 1 else plot.x}, "showgrid": False},
        {"type": "category", "title": {"text": ""}, "showgrid": False},
        showlegend=False,
    )
    title = _title(plot, contest, entries, first)
    caption = (
        f"Each cell is the time of one way to pass the data to MPI, divided by the time of {first}, with its "
        f"{confidence.INTERVAL} below. Red is slower, and blue is faster. =: no difference of 3 % or more."
    )
    head = ("strategy", "way", plot.x, f"over {first}", confidence.INTERVAL, "time", first)
    rows: list[tuple[str, ...]] = [
        (short(e.strategy, everyone), e.way, f"{e.x:g}", significant(e.ratio.value), _interval(e.ratio) or "too few",
         quantity(e.one.estimate.median, e.one.unit), quantity(e.first.estimate.median, e.first.unit))
        for e in entries
    ]  # fmt: skip
    return Drawing(name, title, caption, head, rows, data, drawn)


def _heat(xs: list[str], labels: list[str], cells: list[list[Entry | None]], first: str) -> Trace:
    def shade(e: Entry | None) -> float | None:
        return None if e is None else 0.0 if e.alike else max(-_MOST, min(_MOST, math.log(e.ratio.value)))

    def cell_text(e: Entry | None) -> str:
        if e is None:
            return ""
        return ("= " if e.alike else "") + significant(e.ratio.value) + f"<br><sub>{_interval(e.ratio)}</sub>"

    def hover(e: Entry | None) -> str:
        if e is None:
            return "not measured with both"
        return (
            f"<b>{significant(e.ratio.value)} × {frame.text(first)}</b> ({_interval(e.ratio) or 'too few'})<br>"
            f"{frame.text(e.way)}: {frame.hover(e.one)}<br>{frame.text(first)}: "
            f"{quantity(e.first.estimate.median, e.first.unit)}"
        )

    return {
        "type": "heatmap", "x": xs, "y": [frame.text(label) for label in labels],
        "z": [[shade(e) for e in line] for line in cells], "zmin": -_MOST, "zmax": _MOST, "showscale": False,
        "colorscale": [[0, "#0072B2"], [0.5, "@paper"], [1, "#D55E00"]], "xgap": 2,
        "text": [[cell_text(e) for e in line] for line in cells], "texttemplate": "%{text}",
        "hovertext": [[hover(e) for e in line] for line in cells], "hoverinfo": "text",
    }  # fmt: skip


def _interval(r: Ratio) -> str:
    return "" if r.low is None or r.high is None else f"{significant(r.low)} – {significant(r.high)}"


def _title(plot: Plot, contest: Contest, entries: Sequence[Entry], first: str) -> str:
    """Return `MPICH: datatype compared with packed, 20 cases: slower in 12, up to 2.4 × (waitall, N = 1024)`."""
    parts = []
    for way in dict.fromkeys(e.way for e in entries):
        some = [e for e in entries if e.way == way]
        slower = [e for e in some if not e.alike and e.ratio.value > 1]
        faster = [e for e in some if not e.alike and e.ratio.value < 1]
        differences = []
        for what, these, factor in (("slower", slower, 1.0), ("faster", faster, -1.0)):
            if these:
                most = max(these, key=lambda e: factor * math.log(e.ratio.value))
                place = f"{short(most.strategy, contest.times)}, {plot.x.upper()} = {most.x:g}"
                value = sentence.ratio2(math.exp(abs(math.log(most.ratio.value))))
                over = (most.one, most.first) if what == "slower" else (most.first, most.one)
                value = provenance.number(value, "shift(a, b)", of=over)
                pairs = [f for e in these for f in ((e.one, e.first) if what == "slower" else (e.first, e.one))]
                many = provenance.number(str(len(these)), "above(each)", of=tuple(pairs))
                differences.append(f"{what} in {many}, up to {value} ({place})")
        differences = differences or ["no difference can be shown"]
        cases = provenance.number(str(len(some)), "len(each)", of=tuple(e.one for e in some))
        parts.append(f"{way} compared with {first}, {cases} cases: {listing(differences)}")
    lead = f"{contest.label}: " if contest.label else ""
    return sentence.capital(lead + "; ".join(parts))
