"""Launches: every launch of a few programs on one axis, so that a reader sees how far their times overlap."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.analysis import provenance
from firstlight.analysis.formatting import listing
from firstlight.analysis.verdict import Verified
from firstlight.core.units import quantity, scale, significant
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import answers, frame, sentence
from firstlight.report.frame import Drawing, Trace, View
from firstlight.report.plots.spread import MOST_DOTS, MOST_ROWS, thinned

FAR = 10  # times between the medians: then the axis is logarithmic


def draw(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Return a drawing with one row for each choice of `lines`; none if nothing was verified."""
    figures = answers.verified(view.selected(workload, plot))
    if not figures:
        return []
    rows = {", ".join(filter(None, answers.choice(view.judgement.run, plot.lines, f.identity))): f for f in figures}
    shown = dict(list(rows.items())[:MOST_ROWS])
    by, unit = scale(min(f.estimate.median for f in figures), figures[0].unit)
    what = plot.subject or plot.metric.replace("_", " ")
    axis = {"title": {"text": frame.text(frame.title_of_values(what, figures[0], unit))}}
    medians = [f.estimate.median for f in shown.values()]
    drawn = frame.layout(
        axis | ({"type": "log"} if min(medians) > 0 and max(medians) > FAR * min(medians) else {"zeroline": False}),
        {"type": "category"},
        showlegend=False,
    )
    more = f" The drawing shows the first {MOST_ROWS}; the table shows all." if len(rows) > MOST_ROWS else ""
    caption = (
        f"Each dot is one launch (at most {MOST_DOTS} per row); the box contains the middle half of the launches.{more}"
    )
    head = ("command", "launches", "least", "middle half", "most")
    data = [_row(view, k, label, f, by) for k, (label, f) in reversed(list(enumerate(shown.items())))]
    table = [_summary(label, f) for label, f in rows.items()]
    return [Drawing(name, _title(what, rows), caption, head, table, data, drawn)]


def _row(view: View, k: int, label: str, figure: Verified, by: float) -> Trace:
    return {
        "type": "box", "orientation": "h", "name": frame.text(label),
        "x": [float(f"{by * v:.6g}") for v in thinned(figure.estimate.launches)], "hoverinfo": "x+name",
        "fillcolor": "rgba(127,127,127,0.12)",
        "marker": {"size": 5, "opacity": 0.7, "color": view.palette.colour(f"line {k}")},
    }  # fmt: skip


def _title(what: str, rows: dict[str, Verified]) -> str:
    """Return `Wall time of each launch: 50.1 to 58.2 ms for a, 51.3 to 60.2 ms for b`; of many only the extremes."""
    if len(rows) < 3:
        return sentence.capital(f"{what} of each launch: {listing([f'{_range(f)} for {x}' for x, f in rows.items()])}")
    some = sorted(rows.items(), key=lambda row: row[1].estimate.median)
    (a, low), (b, high) = some[0], some[-1]
    ends = f"{provenance.median(low)} for {a} to {provenance.median(high)} for {b}"
    return sentence.capital(f"{what} of each launch; the medians range from {ends}")


def _range(f: Verified) -> str:
    least, most = min(f.estimate.launches), max(f.estimate.launches)
    ends = (
        provenance.number(quantity(x, f.unit), f"{end}(values(a))", f.unit, (f,))
        for x, end in ((least, "min"), (most, "max"))
    )
    return " to ".join(ends)


def _summary(label: str, figure: Verified) -> tuple[str, ...]:
    ordered: Sequence[float] = sorted(figure.estimate.launches)
    n, unit = len(ordered), figure.unit
    by, shown = scale(figure.estimate.median, unit)
    low, high = (significant(by * ordered[(q * n) // 4]) for q in (1, 3))
    return (label, str(n), quantity(ordered[0], unit), f"{low} to {high} {shown}", quantity(ordered[-1], unit))
