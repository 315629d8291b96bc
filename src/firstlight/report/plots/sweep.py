"""Sweep: a quantity over the values of a parameter, one line for each choice of `lines`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from firstlight.analysis import formatting, provenance
from firstlight.analysis.verdict import Verified
from firstlight.core import confidence
from firstlight.core.units import ratio, scale
from firstlight.model.catalogue import Plot, Value, Workload
from firstlight.report import answers, frame, sentence
from firstlight.report.frame import MOST_LINES, Drawing, Trace, View

FAR = 8  # times between the ends of an axis: then it is logarithmic

Points = list[tuple[Value, Verified]]


def draw(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Return one drawing; none if fewer than two values of the parameter were measured."""
    figures = [f for f in answers.verified(view.selected(workload, plot)) if plot.x in dict(f.identity.parameters)]
    lines: dict[str, Points] = {}
    for f in figures:
        label = ", ".join(filter(None, answers.choice(view.judgement.run, plot.lines, f.identity, plot.x)))
        lines.setdefault(label, []).append((dict(f.identity.parameters)[plot.x], f))
    values = list(dict.fromkeys(x for points in lines.values() for x, _ in points))
    if len(values) < 2:
        return []
    numbers = all(isinstance(x, int | float) for x in values)
    for points in lines.values():
        points.sort(key=lambda p: float(str(p[0])) if numbers else values.index(p[0]))
    what = plot.subject or plot.metric.replace("_", " ")
    by, unit = scale(max(f.estimate.median for f in figures), figures[0].unit)
    upward = _up(frame.title_of_values(what, figures[0], unit), figures)
    drawn = frame.layout(_across(plot.x, values, numbers), upward, showlegend=len(lines) > 1)
    shown = dict(list(lines.items())[:MOST_LINES])
    data = [_line(view, k, label, points, numbers, by) for k, (label, points) in enumerate(shown.items())]
    more = f" The drawing shows the first {MOST_LINES} lines; the table shows all." if len(lines) > MOST_LINES else ""
    caption = f"Medians over launches with their {confidence.INTERVALS}.{more}"
    title = sentence.capital(_growth(what, plot.x, lines))
    return [Drawing(name, title, caption, frame.HEAD, frame.table(figures), data, drawn)]


def _line(view: View, k: int, label: str, points: Points, numbers: bool, by: float) -> Trace:
    """Return a line through the medians, `by` times as large as in the figures' unit."""
    look = {"color": view.palette.colour(f"line {k}"), "symbol": view.palette.symbol(k)}
    trace = frame.line([(float(n), f) for n, (_, f) in enumerate(points)], label, look)
    bars = {k: [by * v for v in trace["error_y"][k]] for k in ("array", "arrayminus")}
    return trace | {
        "x": [x if numbers else frame.text(str(x)) for x, _ in points],
        "y": [by * y for y in trace["y"]],
        "error_y": trace["error_y"] | bars,
    }


def _across(name: str, values: Sequence[Value], numbers: bool) -> dict[str, Any]:
    if not numbers:
        return {"title": {"text": frame.text(name)}, "type": "category"}
    some = [float(str(v)) for v in values]
    if min(some) > 0 and max(some) >= FAR * min(some):
        return frame.log_axis(name)
    return {"title": {"text": frame.text(name)}, "zeroline": False}


def _up(title: str, figures: Sequence[Verified]) -> dict[str, Any]:
    medians = [f.estimate.median for f in figures]
    far = min(medians) > 0 and max(medians) >= FAR * min(medians)
    return frame.log_axis(title) if far else {"title": {"text": frame.text(title)}, "rangemode": "tozero"}


def _growth(what: str, x: str, lines: Mapping[str, Points]) -> str:
    """Return `Wall time from n = 500 to n = 1000: 1.9 × with seq, 2.0 × with sh`; for many lines the extremes."""
    ends = {label: (points[0], points[-1]) for label, points in lines.items() if len(points) > 1}
    first, last = next(((a[0], b[0]) for a, b in ends.values()), ("", ""))
    grown = [
        (_times(a, b), label) for label, ((v, a), (w, b)) in ends.items() if (v, w) == (first, last) and _positive(a, b)
    ]
    if not grown:
        return what
    grown.sort(key=lambda one: one[0])
    some = grown if len(grown) < 4 else [grown[0], grown[-1]]
    words = [f"{provenance.number(ratio(by), 'b / a', of=_pair(ends[label]))} with {label}" for by, label in some]
    between = " to " if len(grown) > len(some) else ", "
    return f"{what} from {x} = {formatting.value(x, first)} to {x} = {formatting.value(x, last)}: {between.join(words)}"


def _pair(ends: tuple[tuple[Value, Verified], tuple[Value, Verified]]) -> tuple[Verified, Verified]:
    return ends[0][1], ends[1][1]


def _positive(a: Verified, b: Verified) -> bool:
    return a.estimate.median > 0 and b.estimate.median > 0


def _times(a: Verified, b: Verified) -> float:
    return b.estimate.median / a.estimate.median
