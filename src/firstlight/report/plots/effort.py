"""Effort: what a variant adds to the serial one (`x`: `added` lines or `directives`), compared with its gain.

A point is the best verified figure of a variant over the best of the serial one in the same run and the same case,
on any hardware: the lines serve threads, ranks and GPUs. Variants of another class of work are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from firstlight.analysis import formatting, provenance, ranking, states
from firstlight.analysis.verdict import Figure, Verified
from firstlight.core import confidence
from firstlight.core.units import ratio
from firstlight.execute.build.effort import SERIAL, Effort
from firstlight.model.catalogue import Plot, Workload
from firstlight.model.plan.selectors import selects
from firstlight.report import answers, frame, sentence
from firstlight.report.frame import Drawing, Trace, View

COUNTS = {"added": ("line", "lines"), "directives": ("directive", "directives")}
"""The values of `x`, with the singular and plural of their unit."""


class Point(NamedTuple):
    """One variant: its best figure, and how many times better than the serial one's it is, with an interval."""

    figure: Verified
    effort: Effort
    gain: float
    low: float | None
    high: float | None


def draw(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Return one drawing; without counted lines its title shows why there are no points.

    The result is empty if no other variant has a verified figure for a case of the serial one.
    """
    every = _figures(view, workload, plot)
    counted = {
        f.identity.variant: effort
        for f in every
        if (effort := view.judgement.run.efforts.get(f"{workload.name}.{f.identity.variant}"))
        and workload.work(f.identity.variant) == workload.work(effort.serial)
    }
    if not every:
        return []
    case, points = _points(every, counted)
    if not points:
        why = _lacking(workload, counted)
        title = sentence.capital(f"{_subject(plot)}: {why}")
        return [Drawing(name, title, "Added code of each variant, and speedup.", HEAD, [])] if why else []
    most = max(1, *(_number(plot, p) for p in points))
    drawn = frame.layout(
        {
            "title": {"text": f"{COUNTS[_count(plot)][1]} added to the serial variant"},
            "range": [-0.05 * most, 1.1 * most],
        },
        frame.log_axis(f"speedup over the serial variant ({plot.metric.replace('_', ' ')}), higher is better"),
    )
    title = sentence.capital(f"{_subject(plot)}{case}: {_message(plot, points)}")
    caption = (
        "Each point is the best figure of a variant, on any number of cores or on a GPU, relative to the best serial "
        "figure in the same run. Bars are "
        + confidence.INTERVALS
        + ". Only lines and directives that the serial variant lacks count, without comments, blank lines and "
        "firstlight's own libraries."
    )
    data = [_trace(view, plot, point, k) for k, point in enumerate(points)]
    return [Drawing(name, title, caption, HEAD, [_row(p) for p in points], data, drawn, _left_out(every, points))]


HEAD = ("variant", "lines added", "lines removed", "directives", "median", "gain", confidence.INTERVAL)


def _figures(view: View, workload: Workload, plot: Plot) -> list[Figure]:
    """Return the figures of the variants for the host and for devices."""
    run = view.judgement.run
    return [
        f
        for f in view.judgement.figures
        if f.identity.metric == plot.metric
        and any(selects(f.identity, replace(plot, device=d), workload, run.machine) for d in (False, True))
    ]


def _points(every: Sequence[Figure], counted: Mapping[str, Effort]) -> tuple[str, list[Point]]:
    """Return the case with most verified variants (the last of several) in words, and their points."""
    by_case: dict[tuple[tuple[str, int | float | str], ...], list[Verified]] = {}
    for f in answers.verified(every):
        if f.identity.variant in counted and not f.oversubscribed:
            by_case.setdefault(f.identity.parameters, []).append(f)
    best: tuple[str, list[Point]] = ("", [])
    for parameters, figures in by_case.items():
        of = {f.identity.variant: f for f in answers.best_of_each(figures, answers.chooser("variant"))}
        found = [_point(f, of[e.serial], e) for v, f in of.items() if (e := counted[v]).serial in of]
        if len(found) > 1 and len(found) >= len(best[1]):
            text = formatting.values((k, v) for k, v in parameters if any(dict(c).get(k) != v for c in by_case))
            best = (f", {text}" if text else "", sorted(found, key=lambda p: (p.effort.added, p.gain)))
    return best


def _point(figure: Verified, serial: Verified, effort: Effort) -> Point:
    over, under = (figure, serial) if figure.better == "higher" else (serial, figure)
    shift = states.ratio(under, over, confidence.LEVEL)
    return Point(figure, effort, ranking.advantage(figure, serial), shift.low, shift.high)


def _lacking(workload: Workload, counted: Mapping[str, Effort]) -> str:
    """Return why lines cannot be compared; "" if the run just did not measure other variants."""
    if not any(v.name in SERIAL.values() for v in workload.variants):
        return "there is no serial variant to compare lines with"
    if not counted:
        return "the run is from an older version, which did not count lines"
    return ""


def _message(plot: Plot, points: Sequence[Point]) -> str:
    """Return `cuda gains 40 × with 210 lines more; target gains most per line: 12 × with 9`."""
    many = COUNTS[_count(plot)][1]
    raised = [p for p in points if p.gain > 1 and p.figure.identity.variant != p.effort.serial]
    if _count(plot) == "directives":  # variants without directives do not count
        raised = [p for p in raised if p.effort.directives > 0]
    if not raised:
        return f"no variant with additional {many} is faster than the serial variant"
    most = max(raised, key=lambda p: p.gain)
    lead = f"{_who(most)} gains {_gain(points, most)} with {_amount(plot, most)} {many} more"
    frugal = max(raised, key=lambda p: (p.gain - 1) / max(1, _number(plot, p)))
    one = COUNTS[_count(plot)][0]
    if frugal is most:
        return f"{lead}, and the most per {one}"
    return f"{lead}; {_who(frugal)} gains most per {one}: {_gain(points, frugal)} with {_amount(plot, frugal)}"


def _who(point: Point) -> str:
    return provenance.name(point.figure.identity.variant)


def _gain(points: Sequence[Point], point: Point) -> str:
    serial = next(p.figure for p in points if p.figure.identity.variant == point.effort.serial)
    return sentence.ahead(point.figure, serial)


def _amount(plot: Plot, point: Point) -> str:
    which = _count(plot)
    return provenance.number(str(_number(plot, point)), f"a.effort.{which}", of=(point.figure,))


def _number(plot: Plot, point: Point) -> int:
    return point.effort.directives if _count(plot) == "directives" else point.effort.added


def _count(plot: Plot) -> str:
    return plot.x if plot.x in COUNTS else "added"


def _subject(plot: Plot) -> str:
    return plot.subject or "added lines and speedup"


def _trace(view: View, plot: Plot, point: Point, k: int) -> Trace:
    variant = point.figure.identity.variant
    colour = view.palette.colour(variant)
    low, high = (point.gain if v is None else v for v in (point.low, point.high))
    return {
        "type": "scatter", "mode": "markers", "name": frame.text(variant),
        "x": [_number(plot, point)], "y": [point.gain],
        "error_y": {"array": [max(0.0, high - point.gain)],
                    "arrayminus": [max(0.0, point.gain - low)], "width": 3, "color": colour},
        "hoverinfo": "text",
        "hovertext": [f"<b>{frame.text(variant)}: {ratio(point.gain)}</b><br>" + frame.hover(point.figure)],
        "marker": {"color": colour, "symbol": view.palette.symbol(k), "size": 10},
    }  # fmt: skip


def _row(point: Point) -> tuple[str, ...]:
    e, f = point.effort, point.figure
    known = point.low is not None and point.high is not None
    span = f"{ratio(point.low or 0)} – {ratio(point.high or 0)}" if known else "too few"
    where = formatting.where(f.identity.placement)
    program = ", ".join(p for p in (f.identity.variant, f.identity.toolchain, f.identity.mpi, where) if p)
    numbers = (str(e.added), str(e.removed), str(e.directives))
    return (program, *numbers, provenance.settle(provenance.median(f)), ratio(point.gain), span)


def _left_out(every: Sequence[Figure], points: Sequence[Point]) -> tuple[str, ...]:
    """Return a note on the variants with figures that have no point in this case."""
    missing = sorted({f.identity.variant for f in every} - {p.figure.identity.variant for p in points})
    why = "variants without a verified figure of this case, or without a serial variant in the same language and class"
    return (f"{why}: {', '.join(missing)}",) if missing else ()
