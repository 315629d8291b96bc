"""Thrift: time against energy of every choice in the case in which the fastest choice wastes most energy."""

from __future__ import annotations

from firstlight.analysis import formatting, provenance
from firstlight.analysis.thrift import Conflict, Pair, conflicts
from firstlight.core.units import ratio
from firstlight.report import frame
from firstlight.report.frame import Drawing, Trace, View

NAME = "plot-thrift"
HEAD = ("choice", "speed", "time", "speed or work, and energy", "energy")


def thrift(view: View) -> list[Drawing]:
    """Return one drawing, or none if the fastest choice needs the least energy everywhere."""
    found = conflicts(view.judgement)
    return [_drawing(view, found[0])] if found else []


def _drawing(view: View, one: Conflict) -> Drawing:
    pairs = sorted(one.pairs, key=lambda pair: _time(one, pair))
    who = one.fastest.speed.identity
    case = formatting.values(who.parameters)
    less = provenance.times(one.thriftiest.thrift, one.fastest.thrift)
    title = (
        f"Time and energy of {who.workload}.{who.variant}{f' ({case})' if case else ''}: {one.fastest.label} is "
        f"fastest, {one.thriftiest.label} needs {less} less energy"
    )
    drawn = frame.layout(
        {"title": {"text": "time relative to the fastest choice, lower is better"}, "zeroline": False},
        {"title": {"text": "energy relative to the fastest choice, lower is better"}, "zeroline": False},
        showlegend=len(pairs) <= frame.MOST_LINES,
    )
    caption = "Medians over launches, for the same work. Points closer to the lower left are better."
    data = [_trace(view, one, pair, k) for k, pair in enumerate(pairs)]
    return Drawing(NAME, title, caption, HEAD, [_row(one, pair) for pair in pairs], data, drawn)


def _time(one: Conflict, pair: Pair) -> float:
    """Return how many times the time of the fastest choice this one needs."""
    return _times(one.fastest.speed.estimate.median, pair.speed.estimate.median, pair.speed.better == "higher")


def _energy(one: Conflict, pair: Pair) -> float:
    """Return how many times the energy of the fastest choice this one needs."""
    return _times(one.fastest.thrift.estimate.median, pair.thrift.estimate.median, pair.thrift.better == "higher")


def _times(fastest: float, other: float, rate: bool) -> float:
    return fastest / other if rate else other / fastest


def _trace(view: View, one: Conflict, pair: Pair, k: int) -> Trace:
    return {
        "type": "scatter", "mode": "markers", "name": frame.text(pair.label),
        "x": [_time(one, pair)], "y": [_energy(one, pair)],
        "hoverinfo": "text", "hovertext": [f"{frame.hover(pair.speed)}<br>{frame.hover(pair.thrift)}"],
        "marker": {"color": view.palette.colour(f"line {k}"), "symbol": view.palette.symbol(k), "size": 10},
    }  # fmt: skip


def _row(one: Conflict, pair: Pair) -> tuple[str, ...]:
    speed, saved = (provenance.settle(provenance.median(f)) for f in (pair.speed, pair.thrift))
    return pair.label, speed, ratio(_time(one, pair)), saved, ratio(_energy(one, pair))
