"""Draw one figure over the runs of a history: a small picture with values and dates on its axes."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import NamedTuple

from firstlight.analysis.history.folder import Past
from firstlight.analysis.history.series import Series
from firstlight.core.units import scale, significant

MOST_POINTS = 240  # of a drawing; of more runs some stand together
WIDTH, HEIGHT, EDGE = 2600, 640, 40  # of a drawing, in its own units: whole numbers keep the page small

Point = tuple[int, float, float, float]  # where a run is, and its low, median, high


class Small(NamedTuple):
    """One small drawing: paths of an SVG, the places of changes, the ends of both axes in words."""

    band: str
    line: str
    dots: list[tuple[int, int]]  # the runs themselves, where there are few
    levels: list[tuple[int, int, int]]  # x from, x to, y
    moves: list[tuple[int, str]]  # x, outcome
    top: str
    bottom: str
    first: str
    last: str


def small(series: Series, runs: Sequence[Past]) -> Small:
    """Draw one figure over the time of all runs, on a logarithmic axis if all its values allow one."""
    began, ended = runs[0].run.started, runs[-1].run.started
    span = max(ended - began, 1.0)
    xs = [EDGE + round((WIDTH - 2 * EDGE) * (runs[k].run.started - began) / span) for k in series.at]
    points = _pooled(
        [
            (x, v.median if v.low is None else v.low, v.median, v.median if v.high is None else v.high)
            for x, v in zip(xs, series.values, strict=True)
        ]
    )
    least, most = min(min(p[1:]) for p in points), max(max(p[1:]) for p in points)
    logarithmic = least > 0 and most < math.inf
    low, high = (math.log(least), math.log(most)) if logarithmic else (least, most)
    middle, reach = (low + high) / 2, max((high - low) / 2, 0.05 if logarithmic else abs(most) * 0.05 or 1.0)

    step = (HEIGHT / 2 - EDGE) / reach

    def y(value: float) -> int:
        return round(HEIGHT / 2 - step * ((math.log(value) if logarithmic else value) - middle))

    line = "M" + "L".join(f"{p[0]} {y(p[2])}" for p in points)
    upper = [f"{p[0]} {y(p[3])}" for p in points]
    lower = [f"{p[0]} {y(p[1])}" for p in reversed(points)]
    bounds = [0, *(m.change.at for m in series.moved), len(series.at)]
    heights = [series.moved[0].change.before, *(m.change.after for m in series.moved)] if series.moved else []
    ends = [math.exp(middle + s * reach) if logarithmic else middle + s * reach for s in (1, -1)]
    by, unit = scale(series.values[-1].median, series.figure.unit)
    top, bottom = (significant(end * by, 3) for end in ends)
    return Small(
        f"M{'L'.join([*upper, *lower])}Z",
        line,
        [(p[0], y(p[2])) for p in points] if len(points) <= 40 else [],
        [(xs[a], xs[b - 1], y(h)) for a, b, h in zip(bounds, bounds[1:], heights, strict=False)],
        [((xs[m.change.at] + xs[m.change.at - 1]) // 2, m.outcome) for m in series.moved],
        f"{top} {'' if unit == '1' else unit}".rstrip(),
        bottom,
        *_ends(began, ended),
    )


def _ends(began: float, ended: float) -> tuple[str, str]:
    """Return the local dates of the first and the last run, with the time of day if both are of one day."""
    first, last = (time.strftime("%d %b %Y", time.localtime(at)).lstrip("0") for at in (began, ended))
    if first != last:
        return first, last
    hours = (time.strftime("%H:%M", time.localtime(at)) for at in (began, ended))
    return f"{first}, {next(hours)}", next(hours)


def _pooled(points: Sequence[Point]) -> Sequence[Point]:
    """Return at most MOST_POINTS points: a group of neighbours becomes its median with the range of their intervals."""
    if len(points) <= MOST_POINTS:
        return points
    size = -(-len(points) // MOST_POINTS)
    return [_one(points[k : k + size]) for k in range(0, len(points), size)]


def _one(some: Sequence[Point]) -> Point:
    middle = sorted(some, key=lambda p: p[2])[len(some) // 2]
    return some[len(some) // 2][0], min(p[1] for p in some), middle[2], max(p[3] for p in some)
