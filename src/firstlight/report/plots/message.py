"""Message: latency or bandwidth against message size, one line per MPI library, with spread and Hockney's fit.

The fit is to the medians; if two regimes leave clearly less error than one, the switch between them is marked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from firstlight.analysis import hockney, provenance, ranking
from firstlight.analysis.formatting import listing
from firstlight.analysis.hockney import Regime
from firstlight.analysis.verdict import Verified
from firstlight.core import confidence
from firstlight.core.units import binary, percent, quantity
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import answers, frame, sentence
from firstlight.report.frame import Drawing, Trace, View
from firstlight.report.ghosts import ghosts
from firstlight.report.plots.staircase import best_lines
from firstlight.report.wording import NO_DIFFERENCE
from firstlight.results.description import Metric


def draw(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    every = view.selected(workload, plot)
    zero = {0.0} & {float(x) for f in every if isinstance(x := dict(f.identity.parameters).get(plot.x), int | float)}
    lines = best_lines(answers.verified(every), plot, with_zero=True)
    if not lines:
        return []
    some = next(iter(next(iter(lines.values())).values()))
    sizes = sorted({x for line in lines.values() for x in line})
    left = next((x for x in sizes if x > 0), 1.0) / 2  # where an empty message is on a logarithmic axis
    help_text, unit = view.parameter(workload.name, plot.x)
    axis = frame.log_axis(f"{help_text} ({unit})" if unit else help_text, [*sizes, *([left] if zero else [])])
    if zero:
        axis = _with_zero(axis, left)
    drawn = frame.layout(axis, frame.log_axis(frame.title_of_values(plot.metric, some)))
    data: list[Trace] = []
    fits: dict[str, list[Regime]] = {}
    metric = view.metric(some.identity)
    for k, (key, line) in enumerate(list(lines.items())[: frame.MOST_LINES]):
        label = answers.label(view.judgement.run, plot.lines, key)
        look = {"color": view.palette.colour(key), "symbol": view.palette.symbol(k)}
        points = [(x or left, f) for x, f in sorted(line.items())]
        data += [_spread(points, look["color"]), frame.line(points, label, look)]
        times = [(x, t) for x, f in sorted(line.items()) if (t := _seconds(metric, f, x)) is not None]
        fits[label] = hockney.regimes(times)
        data += [_fitted(fit, metric, look["color"], left) for fit in fits[label]]
    _mark_switches(drawn, fits)
    data += ghosts(view, workload.name, plot, some, left, sizes[-1])
    caption = _caption(fits)
    return [Drawing(name, _title(view, plot, lines), caption, frame.HEAD, frame.table(every), data, drawn)]


def _mark_switches(drawn: Trace, fits: dict[str, list[Regime]]) -> None:
    """Draw a line between the sizes where one fit ends and the next begins; libraries with the same sizes share it."""
    at: dict[float, list[str]] = {}
    for label, some in fits.items():
        if len(some) == 2:
            at.setdefault(math.sqrt(some[0].high * some[1].low), []).append(label)
    places = sorted(at)
    for k, x in enumerate(places):  # neighbours: the first label ends at its line, the last one begins there
        side = "center" if len(places) == 1 else "right" if k == 0 else "left" if k == len(places) - 1 else "center"
        frame.mark(drawn, x, f"fit changes, {listing(at[x])}", side)


def _with_zero(axis: Trace, left: float) -> Trace:
    pairs = [(v, t) for v, t in zip(axis["tickvals"], axis["ticktext"], strict=True) if v > left]
    return axis | {"tickvals": [left, *(v for v, _ in pairs)], "ticktext": ["0 B", *(t for _, t in pairs)]}


def _spread(points: Sequence[tuple[float, Verified]], colour: str) -> Trace:
    """Return a band from the least to the largest launch."""
    there = [(x, min(f.estimate.launches)) for x, f in points]
    back = [(x, max(f.estimate.launches)) for x, f in reversed(points)]
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return {
        "type": "scatter", "mode": "lines", "fill": "toself", "fillcolor": f"rgba({red},{green},{blue},0.18)",
        "line": {"width": 0, "color": colour}, "hoverinfo": "skip", "showlegend": False,
        "x": [x for x, _ in there + back], "y": [y for _, y in there + back],
    }  # fmt: skip


def _seconds(metric: Metric | None, figure: Verified, size: float) -> float | None:
    """Return the seconds of a message, from a time or from a rate; None if an empty message has no rate."""
    if metric is None or figure.observed:
        return None
    if metric.form == "time":
        return figure.estimate.median / metric.scale
    return metric.scale * size / figure.estimate.median if size > 0 else None


def _fitted(fit: Regime, metric: Metric | None, colour: str, left: float) -> Trace:
    low, high = max(fit.low, left), fit.high
    xs = [low * (high / low) ** (k / 40) for k in range(41)]
    scale, rate = (metric.scale, metric.form == "rate") if metric else (1.0, False)
    return {
        "type": "scatter", "mode": "lines", "hoverinfo": "skip", "showlegend": False,
        "x": xs, "y": [scale * x / fit.time(x) if rate else scale * fit.time(x) for x in xs],
        "line": {"color": colour, "width": 1, "dash": "dot"},
    }  # fmt: skip


def _title(view: View, plot: Plot, lines: dict[str, dict[float, Verified]]) -> str:
    """Return whose latency is lower, or whose bandwidth is higher, for the smallest and the largest message.

    If another one leads clearly in between, the size where it leads most is named as well.
    """
    shared = sorted(set.intersection(*(set(v) for v in lines.values()))) or sorted(next(iter(lines.values())))
    key = answers.chooser(plot.lines)
    ends = list(dict.fromkeys((shared[0], shared[-1])))
    turn = _turn(lines, shared)
    if not turn and (same := _same(view, plot, lines, ends)) is not None:
        return same
    parts = []
    for size in (ends[0], *turn, *ends[1:]):
        figures = [line[size] for line in lines.values() if size in line]
        groups = ranking.rank(figures)
        best = groups[0].best
        who = [answers.label(view.judgement.run, plot.lines, key(f.identity)) for f in groups[0].figures]
        value, what = provenance.median(best), f"{_size(best, plot)} messages"
        if len(groups) > 1:
            verb = "is" if len(who) == 1 else "are"
            factor = sentence.ahead(best, groups[1].best)
            next_best = answers.label(view.judgement.run, plot.lines, key(groups[1].best.identity))
            than = f" than {next_best}" if len(lines) > 2 else ""
            parts.append(f"{' and '.join(who)} {verb} {factor} {best.better}{than} for {what} ({value})")
        elif len(figures) > 1:
            unclear = ranking.UNCLEAR if ranking.unclear(groups[0].figures) else NO_DIFFERENCE
            same = "all are equal" if sentence.equal(groups[0].figures) else unclear
            parts.append(f"{same} for {what} ({value})")
        else:
            parts.append(f"{value} for {what}" if who == ["none"] else f"{who[0]}: {value} for {what}")
    return sentence.capital(f"{plot.metric}: " + "; ".join(parts))


def _turn(lines: dict[str, dict[float, Verified]], shared: Sequence[float]) -> list[float]:
    """Return the size where a line leads most that leads neither for the first nor for the last size; [] if none."""
    ranked = {x: ranking.rank([line[x] for line in lines.values() if x in line]) for x in shared}
    of = {id(line[x]): key for key, line in lines.items() for x in shared if x in line}
    ends = {of[id(f)] for x in (shared[0], shared[-1]) if len(ranked[x]) > 1 for f in ranked[x][0].figures}
    leads = [(groups[1].behind, x) for x, groups in ranked.items()
             if len(groups) > 1 and not ends & {of[id(f)] for f in groups[0].figures}]  # fmt: skip
    return [max(leads)[1]] if leads else []


def _same(view: View, plot: Plot, lines: dict[str, dict[float, Verified]], ends: Sequence[float]) -> str | None:
    """Return `No difference between A and B can be shown, from ... to ...` if that is so at both ends, else None.

    Medians that are far apart are unclear, not the same.
    """
    at = [ranking.rank([line[size] for line in lines.values() if size in line]) for size in ends]
    if len(ends) < 2 or any(len(groups) != 1 or len(groups[0].figures) < 2 for groups in at):
        return None
    first, last = (f"{provenance.median(g[0].best)} at {_size(g[0].best, plot)}" for g in at)
    names = listing([answers.label(view.judgement.run, plot.lines, key) for key in lines])
    if all(sentence.equal(groups[0].figures) for groups in at):
        return sentence.capital(f"{names} are equal, from {first} to {last}")
    if any(ranking.unclear(groups[0].figures) for groups in at):
        return f"The launches of {names} differ too much for a choice, from {first} to {last}"
    return f"No significant difference between {names}, from {first} to {last}"


def _size(figure: Verified, plot: Plot) -> str:
    size = float(dict(figure.identity.parameters)[plot.x])
    return provenance.parameter(binary(size), figure, f"a[{plot.x!r}]", "B")


def _caption(fits: dict[str, list[Regime]]) -> str:
    laws = [f"{label}: {_regimes(some)}" for label, some in fits.items() if some]
    fitted = (
        f" Thin dotted: t = α + β m, fitted by least squares of the relative error; half: the message size that "
        f"reaches half of the bandwidth 1/β. {'. '.join(laws)}."
        if laws
        else ""
    )
    bars = f"bars are their {confidence.INTERVALS}"
    return f"Lines are medians, {bars}, and bands span all launches.{fitted}"


def _regimes(some: Sequence[Regime]) -> str:
    """Return `up to 4 KiB α = 391 ns, 1/β = 17.4 GB/s, half at 6.6 KiB (misses by 12 %)` per regime."""
    if len(some) == 1:
        return _law(some[0])
    first, second = some
    return f"up to {binary(first.high)} {_law(first)}; from {binary(second.low)} {_law(second)}"


def _law(fit: Regime) -> str:
    alpha = f"α = {quantity(fit.alpha, 's')}" if fit.alpha > 0 else "α not distinguishable from 0"
    rate = f", 1/β = {quantity(1e-9 / fit.beta, 'GB/s')}" if fit.beta > 0 else ", β not distinguishable from 0"
    half = "" if fit.half is None else f", half at {binary(fit.half)}"
    return alpha + rate + half + (f" (error {percent(fit.misfit)})" if fit.misfit > hockney.NEGLIGIBLE else "")
