"""Message: latency or bandwidth against message size, one line an MPI library, with spread and Hockney's fit.

The model is t(m) = alpha + beta m (R. Hockney, Parallel Computing 20 (1994) 389), fitted to the medians by least
squares of the relative residuals; where two regimes fit much better than one, the switch between them is marked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from firstlight.catalogue import Plot, Workload
from firstlight.judge import ranking
from firstlight.judge.verdict import Verified
from firstlight.record import Metric
from firstlight.report import answers
from firstlight.report.plots import frame, sentence
from firstlight.report.plots.frame import Drawing, Trace, View
from firstlight.report.plots.ghosts import ghosts
from firstlight.report.plots.staircase import best_lines
from firstlight.report.quantity import binary, quantity

FEWEST = 3  # points a regime
BETTER = 4.0  # two regimes must leave this many times smaller residuals than one
JUMP = 1.15  # and the time must jump by this factor at the switch


class Fit(NamedTuple):
    """alpha in seconds, beta in seconds a byte, for messages of `low` to `high` bytes; `residual`: sum of squares."""

    alpha: float
    beta: float
    low: float
    high: float
    residual: float

    def time(self, size: float) -> float:
        return self.alpha + self.beta * size


def draw(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    every = view.selected(workload, plot)
    zero = {0.0} & {float(x) for f in every if isinstance(x := dict(f.identity.parameters).get(plot.x), int | float)}
    lines = best_lines(answers.verified(every), plot, with_zero=True)
    if not lines:
        return []
    some = next(iter(next(iter(lines.values())).values()))
    sizes = sorted({x for line in lines.values() for x in line})
    left = next((x for x in sizes if x > 0), 1.0) / 2  # where an empty message stands on a logarithmic axis
    help_text, unit = view.parameter(workload.name, plot.x)
    axis = frame.log_axis(f"{help_text} ({unit})" if unit else help_text, [*sizes, *([left] if zero else [])], True)
    if zero:
        axis = _with_zero(axis, left)
    drawn = frame.layout(axis, frame.log_axis(f"{plot.metric} ({some.unit})"))
    data: list[Trace] = []
    fits: dict[str, list[Fit]] = {}
    metric = _metric(view, some, plot.metric)
    for k, (key, line) in enumerate(list(lines.items())[: frame.MOST_LINES]):
        label = answers.label(view.judgement.run, plot.lines, key)
        look = {"color": view.palette.colour(key), "symbol": view.palette.symbol(k)}
        points = [(x or left, f) for x, f in sorted(line.items())]
        data += [_spread(points, look["color"]), frame.line(points, label, look)]
        times = [(x, t) for x, f in sorted(line.items()) if (t := _seconds(metric, f, x)) is not None]
        fits[label] = hockney(times)
        data += [_fitted(fit, metric, look["color"], left) for fit in fits[label]]
        if len(fits[label]) == 2:
            frame.mark(drawn, math.sqrt(fits[label][0].high * fits[label][1].low), f"switch, {label}")
    data += ghosts(view, workload.name, plot, some, left, sizes[-1])
    caption = _caption(fits)
    return [Drawing(name, _title(view, plot, lines), caption, frame.HEAD, frame.table(every), data, drawn)]


def _with_zero(axis: Trace, left: float) -> Trace:
    pairs = [(v, t) for v, t in zip(axis["tickvals"], axis["ticktext"], strict=True) if v > left]
    return axis | {"tickvals": [left, *(v for v, _ in pairs)], "ticktext": ["0 B", *(t for _, t in pairs)]}


def _spread(points: Sequence[tuple[float, Verified]], colour: str) -> Trace:
    """A band from the least to the largest launch."""
    there = [(x, min(f.estimate.launches)) for x, f in points]
    back = [(x, max(f.estimate.launches)) for x, f in reversed(points)]
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return {
        "type": "scatter", "mode": "lines", "fill": "toself", "fillcolor": f"rgba({red},{green},{blue},0.18)",
        "line": {"width": 0, "color": colour}, "hoverinfo": "skip", "showlegend": False,
        "x": [x for x, _ in there + back], "y": [y for _, y in there + back],
    }  # fmt: skip


def _metric(view: View, figure: Verified, name: str) -> Metric | None:
    i = figure.identity
    description = view.judgement.run.descriptions.get(f"{i.workload}.{i.variant}")
    return next((m for m in description.metrics if m.name == name), None) if description else None


def _seconds(metric: Metric | None, figure: Verified, size: float) -> float | None:
    """Seconds a message takes, from a time or from a rate; None where an empty message has no rate."""
    if metric is None:
        return None
    if metric.form == "time":
        return figure.estimate.median / metric.scale
    return metric.scale * size / figure.estimate.median if size > 0 else None


def hockney(times: Sequence[tuple[float, float]]) -> list[Fit]:
    """One regime, or two where they describe (`bytes`, `seconds`) much better; none from fewer than three points."""
    if len(times) < FEWEST:
        return []
    one = _least_squares(times)
    best = [one]
    least = one.residual / BETTER
    for k in range(FEWEST, len(times) - FEWEST + 1):
        pair = [_least_squares(times[:k]), _least_squares(times[k:])]
        middle = math.sqrt(max(times[k - 1][0], 1.0) * times[k][0])
        jump = pair[1].time(middle) / pair[0].time(middle)
        if sum(f.residual for f in pair) < least and not 1 / JUMP < jump < JUMP:
            least, best = sum(f.residual for f in pair), pair
    return best


def _least_squares(times: Sequence[tuple[float, float]]) -> Fit:
    """Minimise sum ((alpha + beta m - t) / t)^2 with alpha, beta >= 0."""
    s1 = sum(1 / t**2 for _, t in times)
    sm = sum(m / t**2 for m, t in times)
    smm = sum(m * m / t**2 for m, t in times)
    st, smt = sum(1 / t for _, t in times), sum(m / t for m, t in times)
    determinant = s1 * smm - sm * sm
    if determinant <= 1e-12 * s1 * smm:
        alpha, beta = st / s1, 0.0
    else:
        alpha, beta = (st * smm - smt * sm) / determinant, (smt * s1 - st * sm) / determinant
    if beta < 0:
        alpha, beta = st / s1, 0.0
    if alpha < 0:
        alpha, beta = 0.0, smt / smm
    residual = sum(((alpha + beta * m - t) / t) ** 2 for m, t in times)
    return Fit(alpha, beta, times[0][0], times[-1][0], residual)


def _fitted(fit: Fit, metric: Metric | None, colour: str, left: float) -> Trace:
    low, high = max(fit.low, left), fit.high
    xs = [low * (high / low) ** (k / 40) for k in range(41)]
    scale, rate = (metric.scale, metric.form == "rate") if metric else (1.0, False)
    return {
        "type": "scatter", "mode": "lines", "hoverinfo": "skip", "showlegend": False,
        "x": xs, "y": [scale * x / fit.time(x) if rate else scale * fit.time(x) for x in xs],
        "line": {"color": colour, "width": 1, "dash": "dot"},
    }  # fmt: skip


def _title(view: View, plot: Plot, lines: dict[str, dict[float, Verified]]) -> str:
    """Who answers first for a time, who moves the most for a rate: at the smallest and at the largest message."""
    shared = sorted(set.intersection(*(set(v) for v in lines.values()))) or sorted(next(iter(lines.values())))
    key = answers.chooser(plot.lines)
    parts = []
    for size in dict.fromkeys((shared[0], shared[-1])):
        figures = [line[size] for line in lines.values() if size in line]
        groups = ranking.rank(figures)
        best = groups[0].best
        who = [answers.label(view.judgement.run, plot.lines, key(f.identity)) for f in groups[0].figures]
        value, what = quantity(best.estimate.median, best.unit), f"{binary(size)} messages"
        if len(groups) > 1:
            verb = "is" if len(who) == 1 else "are"
            factor = sentence.ratio2(groups[1].behind)
            better = "faster" if best.better == "lower" else "better"
            parts.append(f"{' and '.join(who)} {verb} {factor} {better} for {what} ({value})")
        elif len(figures) > 1:
            same = "all are equal" if sentence.equal(groups[0].figures) else "no difference can be shown"
            parts.append(f"{same} for {what} ({value})")
        else:
            parts.append(f"{who[0]} gives {value} for {what}")
    return sentence.capital(f"{plot.metric}: " + "; ".join(parts))


def _caption(fits: dict[str, list[Fit]]) -> str:
    told = []
    for label, some in fits.items():
        for fit in some:
            span = f" from {binary(fit.low)} to {binary(fit.high)}" if len(some) > 1 else ""
            rate = f", 1/β = {quantity(1e-9 / fit.beta, 'GB/s')}" if fit.beta > 0 else ""
            half = f", half of it at {binary(fit.alpha / fit.beta)}" if fit.beta > 0 and fit.alpha > 0 else ""
            told.append(f"{label}{span}: α = {quantity(fit.alpha, 's')}{rate}{half}")
    fitted = f" Thin dotted: least-squares fit t = α + β m; {'; '.join(told)}." if told else ""
    return f"Both axes are logarithmic; lines are medians, bars their 95 % intervals, bands span all launches.{fitted}"
