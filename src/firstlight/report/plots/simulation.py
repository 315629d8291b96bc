"""Simulation: time against size and against scale with cross-overs, what the time is spent for, links by load."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from firstlight.report.palette import COOL, MORE, WARM
from firstlight.report.plots import frame
from firstlight.report.plots.frame import Drawing, Trace, text
from firstlight.report.quantity import binary, percent, quantity, significant
from firstlight.simulate.answer import Simulated
from firstlight.simulate.prediction import AxisLoad, Prediction
from firstlight.simulate.sweep import Span, crossings, lines, ranks_near, size_near

MOST_LINES = 12
_COLOURS = (COOL[0], WARM[1], COOL[2], WARM[0], WARM[2], COOL[1], *MORE)
_DASHES = ("solid", "dash", "dot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "star", "hexagon")
_PARTS = {"latency": COOL[1], "bandwidth": COOL[0], "contention": WARM[0], "noise": WARM[1]}
_HEAD = ("algorithm", "network", "ranks", "bytes", "time", "to best", "depth", "operations", "evaluator", "segments")


def drawings(simulated: Simulated) -> list[Drawing]:
    """All drawings of a simulation: those for which it has more than one point, and always the parts of the time."""
    names = list(dict.fromkeys(p.algorithm for p in simulated.predictions))
    look = {name: _look(k) for k, name in enumerate(names)}
    found: list[Drawing] = []
    if len(simulated.bytes) > 1:
        found += _curves(of_sweep(simulated, False), simulated.by_size, look, False)
    if len(simulated.topologies) > 1:
        found += _curves(of_sweep(simulated, True), simulated.by_scale, look, True)
    last = detailed(simulated)
    found += _parts(last)
    found += _axes(last)
    found += _histogram(last, look)
    return found


def of_sweep(simulated: Simulated, by_scale: bool) -> list[Prediction]:
    """The predictions of the sweep over sizes (on the first network) or over scale (of the largest size)."""
    if by_scale:
        size = simulated.bytes[-1] if simulated.bytes else 0
        return [p for p in simulated.predictions if p.bytes == size]
    return [p for p in simulated.predictions if not simulated.topologies or p.topology == simulated.topologies[0]]


def detailed(simulated: Simulated) -> list[Prediction]:
    """The case that is shown in detail: the largest size on the first network; the fastest first."""
    some = of_sweep(simulated, False)
    size = max((p.bytes for p in some), default=0)
    return sorted((p for p in some if p.bytes == size and p.usable), key=lambda p: (p.seconds or 0.0, p.algorithm))


def _look(position: int) -> dict[str, str]:
    n = len(_COLOURS)
    return {
        "color": _COLOURS[position % n],
        "dash": _DASHES[position // n % len(_DASHES)],
        "symbol": _SYMBOLS[position % len(_SYMBOLS)],
    }


def _curves(
    some: Sequence[Prediction], spans: Sequence[Span], look: dict[str, dict[str, str]], by_scale: bool
) -> list[Drawing]:
    drawn = lines(some, by_scale)
    if not drawn:
        return []
    ever = {span.algorithm for span in spans}
    last = {name: list(line.values())[-1] for name, line in drawn.items()}
    shown = sorted(drawn, key=lambda name: (name not in ever, last[name]))[:MOST_LINES]
    xs = sorted({x for line in drawn.values() for x in line if x > 0})
    data: list[Trace] = [_curve(name, drawn[name], look[name], by_scale) for name in shown]
    y = frame.seconds_axis("time", [t for line in drawn.values() for t in line.values()])
    x = frame.log_axis("ranks" if by_scale else "bytes of the message or block", xs, not by_scale)
    drawing = frame.layout(x, y)
    for span in spans:
        if span.until is not None and span.until > 0:
            frame.mark(drawing, span.until, ranks_near(span.until) if by_scale else size_near(span.until))
    title = crossings(spans, "scale" if by_scale else "size")
    hidden = len(drawn) - len(shown)
    return [
        Drawing(
            "simulation-scale" if by_scale else "simulation-size",
            title[:1].upper() + title[1:] if title.startswith("up to") else title,
            "Predicted time, both axes logarithmic. A dotted line marks where another algorithm becomes the fastest, "
            "interpolated between two predictions.",
            _HEAD,
            table(some),
            data,
            drawing | {"height": 460},
            (f"{hidden} slower algorithms are in the table only",) if hidden else (),
        )
    ]


def _curve(name: str, line: dict[float, float], look: dict[str, str], by_scale: bool) -> Trace:
    points = sorted((x, t) for x, t in line.items() if x > 0)
    label = (lambda x: f"{x:,.0f} ranks") if by_scale else binary
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": text(name),
        "x": [x for x, _ in points],
        "y": [t for _, t in points],
        "hovertext": [f"{text(name)}, {label(x)}: {quantity(t, 's')}" for x, t in points],
        "hoverinfo": "text",
        "line": {"color": look["color"], "dash": look["dash"], "width": 2},
        "marker": {"color": look["color"], "symbol": look["symbol"], "size": 7},
    }


def table(some: Sequence[Prediction]) -> list[tuple[str, ...]]:
    """The table behind: every prediction, also those that were refused."""
    best: dict[tuple[str, float], float] = {}
    for p in some:
        if p.usable and p.seconds is not None:
            key = (p.topology, p.bytes)
            best[key] = min(best.get(key, p.seconds), p.seconds)
    rows: list[tuple[str, ...]] = []
    for p in some:
        if p.refused or p.seconds is None:
            rows.append((p.algorithm, p.topology, f"{p.ranks}", f"{p.bytes:.0f}", f"refused: {p.refused}", *["–"] * 5))
            continue
        least = best.get((p.topology, p.bytes), 0.0)
        ratio = f"{significant(p.seconds / least)} ×" if least > 0 else "–"
        numbers = (_or_dash(p.depth), _or_dash(p.operations), p.evaluator, _or_dash(p.segments))
        rows.append(
            (p.algorithm, p.topology, f"{p.ranks}", f"{p.bytes:.0f}", quantity(p.seconds, "s"), ratio, *numbers)
        )
    return rows


def _or_dash(value: int | None) -> str:
    return "–" if value is None else str(value)


def _parts(ordered: Sequence[Prediction]) -> list[Drawing]:
    """What the time is spent for, a bar an algorithm."""
    some = [p for p in ordered if p.breakdown is not None][:MOST_LINES]
    if not some:
        return []
    best = some[0]
    assert best.breakdown is not None
    spent = {part: getattr(best.breakdown, part) for part in _PARTS}
    total = sum(spent.values())
    most = max(spent, key=lambda part: spent[part])
    title = (
        f"{best.algorithm} spends {percent(spent[most] / total)} of its time on {most}"
        if total > 0
        else f"{best.algorithm} takes no time"
    )
    of = f" of {binary(best.bytes)}" if best.bytes else ""
    bars: list[Trace] = []
    for part, colour in _PARTS.items():
        values = [getattr(p.breakdown, part) for p in some]
        if any(values):
            bars.append(
                {
                    "type": "bar",
                    "orientation": "h",
                    "name": part,
                    "y": [text(p.algorithm) for p in some],
                    "x": values,
                    "hovertext": [
                        f"{text(p.algorithm)}: {part} {quantity(v, 's')}" for p, v in zip(some, values, strict=True)
                    ],
                    "hoverinfo": "text",
                    "marker": {"color": colour},
                }
            )
    return [
        Drawing(
            "simulation-parts",
            title,
            f"A message{of}{_on(best)}. Latency: what remains of a message without bytes. Bandwidth: bytes through "
            "interfaces and links that nobody else uses. Contention: waiting for links and interfaces. Noise: what the "
            "operating system takes.",
            ("algorithm", *_PARTS, "time"),
            [
                (
                    p.algorithm,
                    *(quantity(getattr(p.breakdown, part), "s") for part in _PARTS),
                    quantity(p.seconds or 0.0, "s"),
                )
                for p in ordered
                if p.breakdown is not None
            ],
            bars,
            {
                "barmode": "stack",
                "xaxis": {"title": {"text": "time (s)"}, "rangemode": "tozero", "exponentformat": "SI"},
                "yaxis": {"autorange": "reversed", "type": "category", "automargin": True},
                "height": max(300, 150 + 26 * len(some)),
                "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
            },
            (f"{len(ordered) - len(some)} slower algorithms are in the table only",)
            if len(ordered) > len(some)
            else (),
        )
    ]


def _on(p: Prediction) -> str:
    return f" on {p.topology}" if p.topology else ""


def _axes(ordered: Sequence[Prediction]) -> list[Drawing]:
    """The most loaded link of every axis and direction, an algorithm a row."""
    some = [p for p in ordered if p.loads is not None and p.loads.axes][:MOST_LINES]
    if not some:
        return []
    axes = list(dict.fromkeys(a.axis for p in some if p.loads for a in p.loads.axes))
    loads = [{a.axis: a for a in p.loads.axes} if p.loads else {} for p in some]
    values = [[math.log10(here[a].most) if a in here and here[a].most > 0 else None for a in axes] for here in loads]
    some_values = [v for row in values for v in row if v is not None] or [0.0]
    least = min(some, key=lambda p: p.loads.most if p.loads else 0.0)
    worst = max(some, key=lambda p: p.loads.most if p.loads else 0.0)
    assert least.loads is not None and worst.loads is not None
    title = (
        f"The busiest link carries {binary(worst.loads.most)} with {worst.algorithm}, {binary(least.loads.most)} "
        f"with {least.algorithm}"
        if worst.loads.most > least.loads.most
        else f"The busiest link carries {binary(worst.loads.most)}"
    )
    return [
        Drawing(
            "simulation-axes",
            title,
            f"The load of the busiest link of each axis and direction{_on(some[0])}; the number in a cell is the mean "
            "over all its links. The colour is logarithmic; empty: an axis that lies idle.",
            ("algorithm", "axis", "busiest link", "mean over all links"),
            [
                (p.algorithm, a.axis, binary(a.most), binary(a.mean))
                for p in some
                if p.loads
                for a in p.loads.axes
            ],
            [
                {
                    "type": "heatmap",
                    "z": values,
                    "x": [text(a) for a in axes],
                    "y": [text(p.algorithm) for p in some],
                    "text": [[_mean(here.get(a)) for a in axes] for here in loads],
                    "texttemplate": "%{text}" if len(axes) <= 12 else "",
                    "hovertext": [
                        [_axis_words(p.algorithm, a, here.get(a)) for a in axes]
                        for p, here in zip(some, loads, strict=True)
                    ],
                    "hoverinfo": "text",
                    "colorscale": "Cividis",
                    "reversescale": True,
                    "colorbar": _bar(min(some_values), max(some_values)),
                    "xgap": 2,
                    "ygap": 2,
                }
            ],
            {
                "xaxis": {"title": {"text": "axis and direction"}, "type": "category"},
                "yaxis": {"autorange": "reversed", "type": "category", "automargin": True},
                "height": max(300, 160 + 30 * len(some)),
            },
        )
    ]  # fmt: skip


def _mean(load: AxisLoad | None) -> str:
    return binary(load.mean) if load is not None and load.most else ""


def _axis_words(algorithm: str, axis: str, load: AxisLoad | None) -> str:
    if load is None or not load.most:
        return f"{text(algorithm)}, {text(axis)}: idle"
    return f"{text(algorithm)}, {text(axis)}: busiest {binary(load.most)}, mean {binary(load.mean)}"


def _loads(p: Prediction) -> list[float]:
    return [load for load, _ in p.loads.histogram if load > 0] if p.loads is not None else []


def _bar(low: float, high: float) -> dict[str, Any]:
    ticks = [low + k * (high - low) / 4 for k in range(5)] if high > low else [low]
    words = [binary(round(10**t)) for t in ticks]
    return {"title": {"text": "bytes"}, "tickvals": ticks, "ticktext": words, "thickness": 14}


def _histogram(ordered: Sequence[Prediction], look: dict[str, dict[str, str]]) -> list[Drawing]:
    """Links ordered by load: the share of all links that carry at least so many bytes."""
    some = [p for p in ordered if p.loads is not None and p.loads.histogram and p.loads.links][:MOST_LINES]
    if not some:
        return []
    data: list[Trace] = []
    rows: list[tuple[str, ...]] = []
    for p in some:
        assert p.loads is not None
        falling = sorted(((b, n) for b, n in p.loads.histogram if b > 0), reverse=True)
        x, y, seen = [0.0], [falling[0][0] if falling else 0.0], 0
        for load, links in falling:
            x += [100 * seen / p.loads.links, 100 * (seen + links) / p.loads.links]
            y += [load, load]
            seen += links
            rows.append((p.algorithm, binary(load), str(links), percent(seen / p.loads.links)))
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": text(p.algorithm),
                "x": x,
                "y": y,
                "line": {"color": look[p.algorithm]["color"], "dash": look[p.algorithm]["dash"], "width": 2},
                "hovertext": [
                    f"{text(p.algorithm)}: {a:.0f} % of the links carry at least {binary(b)}"
                    for a, b in zip(x, y, strict=True)
                ],
                "hoverinfo": "text",
            }
        )
    best = some[0]
    assert best.loads is not None
    return [
        Drawing(
            "simulation-links",
            f"{best.algorithm} uses {percent(best.loads.used / best.loads.links)} of the {best.loads.links:,} links",
            "All links of the network, the busiest on the left: a low and long line spreads the load, a high and short "
            "one crowds a few links.",
            ("algorithm", "load", "links", "links with this load or more"),
            rows,
            data,
            {
                "xaxis": {"title": {"text": "links, %"}, "range": [0, 100]},
                "yaxis": frame.log_axis("load", [load for p in some for load in _loads(p)], sizes=True),
                "height": 380,
            },
        )
    ]
