"""Validation: draw predicted against measured times, and the factor between them over size."""

from __future__ import annotations

from firstlight.analysis.loggops import LEVEL_TEXT
from firstlight.commands.simulate.plot import spread
from firstlight.commands.simulate.reasons import NEAR
from firstlight.commands.simulate.validate import Point, Validated, share
from firstlight.core import confidence
from firstlight.core.units import binary, quantity, significant
from firstlight.report import frame
from firstlight.report.frame import Drawing, Trace, text
from firstlight.report.palette import COOL, MORE, WARM

_COLOURS = (COOL[0], WARM[1], COOL[2], WARM[0], WARM[2], COOL[1], *MORE)
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "star", "hexagon")
_HEAD = (
    "operation",
    "algorithm",
    "MPI",
    "ranks",
    "bytes",
    "measured",
    confidence.INTERVAL,
    "predicted",
    f"{LEVEL_TEXT} interval of the prediction",
    "predicted / measured",
    "reason for an error above 10 %",
)


def drawings(validated: Validated) -> list[Drawing]:
    """Draw all predictions against all measurements, and the factor over size for each collective."""
    found = [_all(validated)]
    collectives = list(dict.fromkeys(p.collective for p in validated.points))
    return found + [_factors([p for p in validated.points if p.collective == c], c) for c in collectives]


def _rows(points: list[Point]) -> list[tuple[str, ...]]:
    return [
        (
            p.collective, p.algorithm, p.mpi, str(p.ranks), str(p.bytes), quantity(p.measured, "s"),
            spread(p.low, p.high, "too few"),
            quantity(p.predicted, "s"), spread(p.lower, p.upper, "too few"),
            significant(p.factor), "; ".join(f"{r.name}: {r.shown}" for r in p.reasons),
        )
        for p in points
    ]  # fmt: skip


def _all(validated: Validated) -> Drawing:
    points = list(validated.points)
    low = min(min(p.measured, p.predicted) for p in points)
    high = max(max(p.measured, p.predicted) for p in points)
    data: list[Trace] = []
    for factor, name in ((1.0, "equal"), (NEAR, "1.5 times"), (1 / NEAR, "two thirds")):
        data.append(
            {
                "type": "scatter", "mode": "lines", "name": name, "hoverinfo": "skip", "x": [low, high],
                "y": [factor * low, factor * high],
                "line": {"color": "@ghost", "width": 1.5, "dash": "solid" if factor == 1 else "dot"},
            }
        )  # fmt: skip
    for k, collective in enumerate(dict.fromkeys(p.collective for p in points)):
        some = [p for p in points if p.collective == collective]
        data.append(
            {
                "type": "scatter", "mode": "markers", "name": text(collective),
                "x": [p.measured for p in some], "y": [p.predicted for p in some],
                "hovertext": [_hover(p) for p in some], "hoverinfo": "text",
                "marker": {"color": _COLOURS[k % len(_COLOURS)], "symbol": _SYMBOLS[k % len(_SYMBOLS)], "size": 8},
            }
        )  # fmt: skip
    every = share("all", [p.off for p in points])
    drawn = frame.layout(
        frame.seconds_axis("measured", [low, high]),
        frame.seconds_axis("predicted", [low, high]),
    )
    return Drawing(
        "validation-all",
        f"{every.close} of {len(points)} predictions are within 10 % of the measurement, "
        f"{every.near} within a factor of 1.5",
        "Each point is one algorithm or exchange strategy at one size. On the solid line, the prediction is exact; "
        "between the dotted lines, its error is below a factor of 1.5.",
        _HEAD,
        _rows(points),
        data,
        drawn,
    )


def _hover(p: Point) -> str:
    return (
        f"{text(p.algorithm)}, {text(p.collective)} of {binary(p.bytes)}, {p.ranks} ranks, {text(p.mpi)}<br>"
        f"measured {quantity(p.measured, 's')}, predicted {quantity(p.predicted, 's')}"
    )


def _factors(points: list[Point], collective: str) -> Drawing:
    """Draw predicted / measured over size, one line per algorithm, MPI library and number of ranks."""
    lines: dict[tuple[str, str, int], list[Point]] = {}
    for p in points:
        lines.setdefault((p.algorithm, p.mpi, p.ranks), []).append(p)
    several = len({(p.mpi, p.ranks) for p in points}) > 1
    sizes = sorted({max(p.bytes, 1) for p in points})
    data: list[Trace] = [
        {
            "type": "scatter", "mode": "lines", "name": "right", "x": [sizes[0], sizes[-1]], "y": [1, 1],
            "hoverinfo": "skip", "line": {"color": "@ghost", "width": 1.5},
        }
    ]  # fmt: skip
    for k, ((algorithm, mpi, ranks), some) in enumerate(sorted(lines.items())):
        some.sort(key=lambda p: p.bytes)
        data.append(
            {
                "type": "scatter", "mode": "lines+markers",
                "name": text(f"{algorithm}, {mpi}, {ranks} ranks" if several else algorithm),
                "x": [max(p.bytes, 1) for p in some], "y": [p.factor for p in some],
                "hovertext": [_hover(p) for p in some], "hoverinfo": "text",
                "line": {"color": _COLOURS[k % len(_COLOURS)], "width": 2},
                "marker": {"color": _COLOURS[k % len(_COLOURS)], "symbol": _SYMBOLS[k % len(_SYMBOLS)], "size": 7},
            }
        )  # fmt: skip
    worst = max(points, key=lambda p: p.off)
    way = "long" if worst.factor > 1 else "short"
    drawn = frame.layout(
        frame.log_axis("bytes of the message or block", [float(s) for s in sizes]),
        frame.log_axis("predicted / measured"),
    )
    return Drawing(
        f"validation-{collective}",
        f"{collective}: the worst prediction is {significant(worst.off, 2)} times too {way}, {worst.algorithm} at "
        f"{binary(worst.bytes)}",
        "Above 1 the prediction is too pessimistic, below 1 too optimistic.",
        _HEAD,
        _rows(points),
        data,
        drawn,
    )
