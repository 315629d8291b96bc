"""Simulation: draw time over size and over scale, with cross-overs."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.analysis.loggops import LEVEL_TEXT
from firstlight.commands.simulate import loads_plot as loads
from firstlight.commands.simulate import parts_plot as parts
from firstlight.commands.simulate.answer import Simulated
from firstlight.commands.simulate.sweep import Span, crossings, lines, ranks_near, size_near
from firstlight.core.units import binary, quantity, significant
from firstlight.execute.network.prediction import Prediction
from firstlight.report import frame
from firstlight.report.frame import Drawing, Trace, text
from firstlight.report.palette import COOL, MORE, WARM

MOST_LINES = 12
_COLOURS = (COOL[0], WARM[1], COOL[2], WARM[0], WARM[2], COOL[1], *MORE)
_DASHES = ("solid", "dash", "dot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "star", "hexagon")
_HEAD = (
    "algorithm",
    "network",
    "ranks",
    "bytes",
    "time",
    f"{LEVEL_TEXT} interval",
    "to best",
    "depth",
    "operations",
    "evaluator",
    "segments",
)


def drawings(simulated: Simulated) -> list[Drawing]:
    """Return all drawings: the sweeps with more than one point, the parts of the time, and the loads of links."""
    names = list(dict.fromkeys(p.algorithm for p in simulated.predictions))
    look = {name: _look(k) for k, name in enumerate(names)}
    found: list[Drawing] = []
    if len(simulated.bytes) > 1:
        found += _curves(of_sweep(simulated, False), simulated.by_size, look, False)
    if len(simulated.topologies) > 1:
        found += _curves(of_sweep(simulated, True), simulated.by_scale, look, True)
    last = detailed(simulated)
    found += parts.spending(last, MOST_LINES)
    found += loads.axes(last, MOST_LINES)
    found += loads.histogram(last, MOST_LINES, look)
    return found


def of_sweep(simulated: Simulated, by_scale: bool) -> list[Prediction]:
    """Return the predictions of the sweep over sizes (on the first network) or over scale (with the last size)."""
    if by_scale:
        size = simulated.bytes[-1] if simulated.bytes else 0
        return [p for p in simulated.predictions if p.bytes == size]
    return [p for p in simulated.predictions if not simulated.topologies or p.topology == simulated.topologies[0]]


def detailed(simulated: Simulated) -> list[Prediction]:
    """Return the case that is shown in detail: the largest size on the first network, the fastest first."""
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
    y = frame.seconds_axis("time, lower is better", [t for line in drawn.values() for t in line.values()])
    x = frame.log_axis("ranks" if by_scale else "bytes of the message or block", () if by_scale else xs)
    drawing = frame.layout(x, y)
    near = ranks_near if by_scale else size_near
    switches = [(span.until, near(span.until)) for span in spans if span.until is not None and span.until > 0]
    frame.marks(drawing, switches, min(xs, default=1.0), max(xs, default=1.0))
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
            drawing,
            (f"Only the table shows {hidden} slower algorithms",) if hidden else (),
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
    """Return the table of a drawing: every prediction, including refused ones."""
    best: dict[tuple[str, float], float] = {}
    for p in some:
        if p.usable and p.seconds is not None:
            key = (p.topology, p.bytes)
            best[key] = min(best.get(key, p.seconds), p.seconds)
    rows: list[tuple[str, ...]] = []
    for p in some:
        if p.refused or p.seconds is None:
            rows.append((p.algorithm, p.topology, f"{p.ranks}", f"{p.bytes:.0f}", f"refused: {p.refused}", *["–"] * 6))
            continue
        least = best.get((p.topology, p.bytes), 0.0)
        ratio = f"{significant(p.seconds / least)} ×" if least > 0 else "–"
        numbers = (_or_dash(p.depth), _or_dash(p.operations), p.evaluator, _or_dash(p.segments))
        rows.append(
            (
                p.algorithm,
                p.topology,
                f"{p.ranks}",
                f"{p.bytes:.0f}",
                quantity(p.seconds, "s"),
                spread(p.low, p.high, "–"),
                ratio,
                *numbers,
            )
        )
    return rows


def spread(low: float | None, high: float | None, missing: str) -> str:
    """Return an interval in seconds as `980 ns – 1.41 us`; `missing` if there is none."""
    return missing if low is None or high is None else f"{quantity(low, 's')} – {quantity(high, 's')}"


def _or_dash(value: int | None) -> str:
    return "–" if value is None else str(value)
