"""Projection: efficiency of weak scaling, speed of strong scaling, and projected against measured."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from firstlight.commands.project.answer import LeftOut, Point, Projected
from firstlight.core import confidence
from firstlight.core.units import count, percent, quantity, significant
from firstlight.report import frame
from firstlight.report.frame import Drawing, Trace, text
from firstlight.report.palette import COOL, MORE, WARM

_COLOURS = (COOL[0], WARM[1], COOL[2], WARM[0], WARM[2], COOL[1], *MORE)
FEWEST = 3  # comparisons with measurements that are drawn; fewer are sentences only
_HEAD = ("application", "nodes", "elements", "step time", confidence.INTERVAL, "flop/s", "efficiency", "messages")


def drawings(projected: Projected) -> list[Drawing]:
    found = [_left_out(projected)] if len(projected.left_out) >= FEWEST else []
    if any(len(a.weak) > 1 for a in projected.applications):
        found += [
            _curve(projected, "weak", f"With a fixed problem size per node, {_kept(projected, 'weak')}"),
            _curve(
                projected, "strong", f"With one node's problem divided among all nodes, {_kept(projected, 'strong')}"
            ),
        ]
    return found


def _kept(projected: Projected, which: str) -> str:
    """Return `64 nodes reach 38 % to 97 % of one node's rate each`."""
    ends = sorted({getattr(app, which)[-1].efficiency for app in projected.applications if getattr(app, which)})
    low, high = percent(ends[0]), percent(ends[-1])
    return (
        f"{count(projected.nodes, 'node')} reach {low if low == high else f'{low} to {high}'} of one node's rate each"
    )


def _curve(projected: Projected, which: str, title: str) -> Drawing:
    data: list[Trace] = []
    rows: list[tuple[str, ...]] = []
    for k, app in enumerate(projected.applications):
        colour = _COLOURS[k % len(_COLOURS)]
        points: tuple[Point, ...] = getattr(app, which)
        rows += [
            (
                app.title, str(p.nodes), significant(p.elements), quantity(p.seconds, "s"),
                f"{quantity(p.low, 's')} – {quantity(p.high, 's')}", quantity(p.rate, "flop/s"), percent(p.efficiency),
                percent(p.share),
            )
            for p in points
        ]  # fmt: skip
        data.append(
            {
                "type": "scatter", "mode": "lines+markers", "name": text(app.title), "x": [p.nodes for p in points],
                "y": [100 * p.efficiency for p in points],
                "error_y": {
                    "width": 3, "color": colour,
                    "array": [100 * p.efficiency * (p.seconds / p.low - 1) if p.low > 0 else 0 for p in points],
                    "arrayminus": [100 * p.efficiency * (1 - p.seconds / p.high) for p in points],
                },
                "line": {"color": colour, "width": 2},
                "hoverinfo": "text",
                "hovertext": [
                    text(f"{app.title}, {p.nodes} nodes: {percent(p.efficiency)}") for p in points
                ],
            }
        )  # fmt: skip
    layout = frame.layout(
        frame.log_axis("nodes"),
        {"title": {"text": "% of one node's rate, higher is better"}, "rangemode": "tozero"},
    )
    caption = "Rate per node, relative to one node; intervals from resampled launches."
    return Drawing(f"projection-{which}", title, caption, _HEAD, rows, data, layout)


def _error_title(points: Sequence[LeftOut]) -> str:
    """Return `Within the run, the median error of 8 projections is 5.7 %`."""
    middle = percent(median(h.off for h in points))
    return f"Within the run, the median error of {count(len(points), 'projection')} is {middle}"


def _left_out(projected: Projected) -> Drawing:
    points = projected.left_out
    low = min(min(h.predicted, h.measured) for h in points)
    high = max(max(h.predicted, h.measured) for h in points)
    data: list[Trace] = [
        {
            "type": "scatter", "mode": "lines", "name": name, "hoverinfo": "skip", "x": [low, high],
            "y": [factor * low, factor * high],
            "line": {"color": "@ghost", "width": 1.5, "dash": "solid" if factor == 1 else "dot"},
        }
        for factor, name in ((1.0, "equal"), (1.1, "10 % more"), (1 / 1.1, "10 % less"))
    ]  # fmt: skip
    for k, name in enumerate(dict.fromkeys(h.application for h in points)):
        mine = [h for h in points if h.application == name]
        data.append(
            {
                "type": "scatter", "mode": "markers", "name": text(name), "x": [h.measured for h in mine],
                "y": [h.predicted for h in mine], "marker": {"color": _COLOURS[k % len(_COLOURS)], "size": 8},
                "hoverinfo": "text",
                "hovertext": [text(f"{h.program} from {h.fro}: {significant(h.factor)} x") for h in mine],
            }
        )  # fmt: skip
    shown: list[tuple[str, ...]] = [
        (
            h.application, h.program, h.fro, str(h.processes), significant(h.elements), quantity(h.measured, "s"),
            quantity(h.predicted, "s"), f"{quantity(h.low, 's')} – {quantity(h.high, 's')}", significant(h.factor),
        )
        for h in points
    ]  # fmt: skip
    head = (
        "application", "program", "projected from", "processes", "elements", "measured", "projected",
        confidence.INTERVAL, "projected / measured",
    )  # fmt: skip
    layout = frame.layout(
        frame.seconds_axis("measured", [h.measured for h in points]),
        frame.seconds_axis("projected", [h.predicted for h in points]),
    )
    return Drawing(
        "projection-held", _error_title(points),
        "Projections from one core to several processes, and from smaller sizes to the largest.",
        head, shown, data, layout,
    )  # fmt: skip
