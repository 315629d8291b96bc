"""Bars and boxes: amounts from zero, and how values are distributed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from firstlight.report.svg.axis import Axis
from firstlight.report.svg.element import number, paint, plain, tag, titled
from firstlight.report.svg.marks import hover, shade

Trace = Mapping[str, Any]


class Bar(NamedTuple):
    """One bar: its trace, its index in the trace, its position with its width, and where it begins and ends."""

    trace: Trace
    k: int
    at: float
    width: float
    low: float
    high: float


def lying(trace: Trace) -> bool:
    return trace.get("orientation") == "h"


def amounts(trace: Trace) -> Sequence[Any]:
    """Return the lengths of the bars of a trace."""
    return list(trace["x" if lying(trace) else "y"])


def places(trace: Trace) -> Sequence[Any]:
    """Return the positions of the bars of a trace."""
    return list(trace["y" if lying(trace) else "x"])


def sides(trace: Trace) -> list[float]:
    """Return the ends of the outermost bars at numeric positions."""
    known = sorted({float(p) for p in places(trace) if isinstance(p, int | float)})
    pitch = min((b - a for a, b in pairwise(known)), default=1.0)
    half = float(trace.get("width", 0.8 * pitch)) / 2
    return [known[0] - half, known[-1] + half] if known else []


def laid(traces: Sequence[Trace], mode: str, along: Axis) -> Iterator[Bar]:
    """Yield the bars of all traces at the positions of `mode`: "group", "stack" or "overlay"."""
    at: dict[float, list[tuple[Trace, int]]] = {}
    for trace in traces:
        for k, (place, length) in enumerate(zip(places(trace), amounts(trace), strict=True)):
            if (position := along.value(place)) is not None and along.scale.finite(length):
                at.setdefault(position, []).append((trace, k))
    pitch = min((b - a for a, b in pairwise(sorted(at))), default=1.0)
    part = 0.76 * pitch / max((len(some) for some in at.values()), default=1) if mode == "group" else 0.76 * pitch
    for position, some in at.items():
        start = 0.0
        for n, (trace, k) in enumerate(some):
            shift = (n - (len(some) - 1) / 2) * part if mode == "group" else 0.0
            end = start + float(amounts(trace)[k])
            yield Bar(trace, k, position + shift, float(trace.get("width", 0.95 * part)), start, end)
            start = end if mode == "stack" else 0.0


def draw(bar: Bar, along: Axis, across: Axis, marks: int) -> str:
    """Draw a bar with its interval. `along`: the axis of positions, `across`: that of lengths."""
    ends = [across.scale.at(v) if across.scale.shows(v) else across.scale.first for v in (bar.low, bar.high)]
    sides = [along.scale.at(bar.at + s * bar.width / 2) for s in (-1, 1)]
    flat = lying(bar.trace)
    x, y = (ends, sides) if flat else (sides, ends)
    marker = bar.trace.get("marker", {})
    rect = tag(
        "rect", titled(hover(bar.trace, bar.k, marks)), x=float(min(x)), y=float(min(y)), width=float(abs(x[1] - x[0])),
        height=float(abs(y[1] - y[0])), fill=paint(marker.get("color", "@muted")),
        fill_opacity=bar.trace.get("opacity"), class_="bar",
    )  # fmt: skip
    own = bar.trace.get("error_y")
    if own is None:
        return rect
    low, high = (across.scale.at(max(bar.high + e, 0.0) if not across.scale.log else bar.high + e)
                 for e in (-own["arrayminus"][bar.k], own["array"][bar.k]))  # fmt: skip
    middle = along.scale.at(bar.at)
    d = f"M{number(middle)} {number(low)}V{number(high)}"
    d += "".join(f"M{number(middle - 3)} {number(e)}h6" for e in (low, high))
    return rect + (tag("path", d=d, class_="error", stroke=paint("@ink")) if abs(high - low) >= 0.5 else "")


def box(trace: Trace, x: Axis, y: Axis) -> str:
    """Draw a row with one dot per value, a box around the middle half, and a line at the median."""
    values = sorted(v for v in trace["x"] if x.scale.shows(v))
    row = y.value(trace["name"])
    if not values or row is None:
        return ""
    middle, half = y.scale.at(row), abs(y.scale.at(row + 0.34) - y.scale.at(row))
    low, high = (x.scale.at(values[(q * len(values)) // 4]) for q in (1, 3))
    at, colour = x.scale.at(median(values)), trace["marker"]["color"]
    dots = "".join(f"M{number(x.scale.at(v))} {number(middle + half * _jitter(k))}h0" for k, v in enumerate(values))
    fill, opacity = shade(trace["fillcolor"])
    upright = f"M{number(at)} {number(middle - half)}v{number(2 * half)}"
    return tag(
        "g", titled(plain(trace["name"])),
        tag("rect", x=min(low, high), y=middle - half, width=abs(high - low), height=2 * half, fill=fill,
            fill_opacity=opacity, stroke=paint(colour)),
        tag("path", d=dots, class_="dots", stroke=paint(colour),
            stroke_width=trace["marker"]["size"], opacity=trace["marker"]["opacity"]),
        tag("path", d=upright, stroke=paint(colour), stroke_width=2),
        class_="trace",
    )  # fmt: skip


def _jitter(k: int) -> float:
    """Return a number between -0.8 and 0.8 that neighbours do not share."""
    return 1.6 * ((k * 0.618034) % 1) - 0.8
