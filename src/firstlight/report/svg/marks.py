"""Marks: lines, bands, symbols, error bars and texts of a scatter trace."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from firstlight.report.svg.axis import Axis
from firstlight.report.svg.element import number, paint, path, plain, tag, titled
from firstlight.report.svg.scale import labels

FEW, MANY = 60, 250
"""Marks of a chart up to which each has its whole hover text, and up to which it has its first line."""
DASHES = {"solid": None, "dot": "1.5 3", "dash": "6 4", "dashdot": "6 3 1.5 3"}
FAR = 1e4  # pixels: lines that leave the frame end there
_RGBA = re.compile(r"rgba\((\d+),(\d+),(\d+),([0-9.]+)\)")
_FIELD = re.compile(r"%\{(\w+)(?::([^}]*))?\}")
Trace = Mapping[str, Any]


class Point(NamedTuple):
    """One point of a trace that its axes can show: its place in the trace, and in pixels."""

    k: int
    x: float
    y: float


def points(trace: Trace, x: Axis, y: Axis) -> list[list[Point]]:
    """Return the points in pixels, in stretches without a gap."""
    stretches: list[list[Point]] = [[]]
    for k, (a, b) in enumerate(zip(trace.get("x", ()), trace.get("y", ()), strict=True)):
        u, v = x.value(a), y.value(b)
        if u is None or v is None:
            stretches.append([])
        else:
            stretches[-1].append(Point(k, _near(x.scale.at(u)), _near(y.scale.at(v))))
    return [some for some in stretches if some]


def _near(pixel: float) -> float:
    return max(-FAR, min(FAR, pixel))


def scatter(trace: Trace, x: Axis, y: Axis, marks: int, below: Trace | None = None) -> str:
    """Draw a scatter trace. `marks`: how many its chart has; `below`: the trace that a band fills up to."""
    stretches = points(trace, x, y)
    mode = str(trace.get("mode", "lines+markers"))
    line, marker = trace.get("line", {}), trace.get("marker", {})
    colour = line.get("color") or marker.get("color") or "@ink"
    colour = colour if isinstance(colour, str) else "@ink"
    parts = [_band(trace, stretches, x, y, below)]
    if "lines" in mode and line.get("width", 2) > 0:
        d = "".join(_stretch(some, line.get("shape")) for some in stretches if len(some) > 1)
        whole = plain(trace.get("name", "")) if trace.get("hoverinfo") == "name" else ""
        style = {"stroke_width": line.get("width", 2), "stroke_dasharray": DASHES[line.get("dash", "solid")]}
        parts.append(tag("path", titled(whole), d=d, class_="line", stroke=paint(colour), **style) if d else "")
    parts += [errors(trace, which, stretches, x, y) for which in ("error_x", "error_y") if which in trace]
    if "markers" in mode:
        parts.append(_symbols(trace, stretches, marks))
    elif "lines" in mode:
        parts.append(_unseen(trace, stretches, marks))
    return tag("g", *parts, class_="trace") if any(parts) else ""


def _stretch(some: Sequence[Point], shape: str | None) -> str:
    if shape == "hv":
        first, *others = distinct((p.x, p.y) for p in some)
        return f"M{number(first[0])} {number(first[1])}" + "".join(f"H{number(x)}V{number(y)}" for x, y in others)
    if shape == "hvh":
        middles = [(a.x + b.x) / 2 for a, b in pairwise(some)]
        steps = "".join(f"H{number(x)}V{number(p.y)}" for x, p in zip(middles, some[1:], strict=True))
        return f"M{number(some[0].x)} {number(some[0].y)}{steps}H{number(some[-1].x)}"
    return path(distinct((p.x, p.y) for p in some))


def distinct(some: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points without those that are less than half a pixel from the one before."""
    kept: list[tuple[float, float]] = []
    for x, y in some:
        if not kept or max(abs(x - kept[-1][0]), abs(y - kept[-1][1])) >= 0.5:
            kept.append((x, y))
    return kept


def _band(trace: Trace, stretches: Sequence[Sequence[Point]], x: Axis, y: Axis, below: Trace | None) -> str:
    if "fill" not in trace:
        return ""
    colour, opacity = shade(str(trace["fillcolor"]))
    outline = [(p.x, p.y) for some in stretches for p in some]
    if trace["fill"] == "tonexty" and below is not None:
        outline += [(p.x, p.y) for some in points(below, x, y) for p in some][::-1]
    return tag("path", d=path(outline, closed=True), fill=colour, fill_opacity=opacity) if outline else ""


def shade(colour: str) -> tuple[str, str | None]:
    """Return a colour with an opacity: `rgba(0,114,178,0.18)` as `#0072B2` and `0.18`."""
    if (found := _RGBA.fullmatch(colour)) is None:
        return paint(colour), None
    red, green, blue = (int(found[k]) for k in (1, 2, 3))
    return f"#{red:02X}{green:02X}{blue:02X}", found[4]


def errors(trace: Trace, which: str, stretches: Sequence[Sequence[Point]], x: Axis, y: Axis) -> str:
    """Draw the intervals around points, with a short line at each end."""
    own, along = trace[which], x if which == "error_x" else y
    values = trace["x" if which == "error_x" else "y"]
    cap = own.get("width", 3)
    d = ""
    for p in (p for some in stretches for p in some):
        low, high = (_end(along, values[p.k], part) for part in (-own["arrayminus"][p.k], own["array"][p.k]))
        if abs(high - low) < 0.5:
            continue
        if which == "error_y":
            d += f"M{number(p.x)} {number(low)}V{number(high)}"
            d += "".join(f"M{number(p.x - cap)} {number(e)}h{number(2.0 * cap)}" for e in (low, high) if cap)
        else:
            d += f"M{number(low)} {number(p.y)}H{number(high)}"
            d += "".join(f"M{number(e)} {number(p.y - cap)}v{number(2.0 * cap)}" for e in (low, high) if cap)
    return tag("path", d=d, class_="error", stroke=paint(own["color"])) if d else ""


def _end(along: Axis, value: float, part: float) -> float:
    reached = value + part
    return _near(along.scale.at(reached if along.scale.shows(reached) else min(along.scale.low, along.scale.high)))


def _symbols(trace: Trace, stretches: Sequence[Sequence[Point]], marks: int) -> str:
    marker = trace.get("marker", {})
    size, colours = marker.get("size", 7), marker.get("color", trace.get("line", {}).get("color", "@ink"))
    symbols = marker.get("symbol", "circle")
    parts = []
    if marks > MANY and isinstance(symbols, str) and isinstance(colours, str):
        return _dots(stretches, min(float(size), 5.0), colours, marker.get("opacity"))
    for p in (p for some in stretches for p in some):
        kind = symbols if isinstance(symbols, str) else symbols[p.k]
        colour = colours if isinstance(colours, str) else colours[p.k]
        parts.append(symbol(kind, p.x, p.y, float(size), colour, titled(hover(trace, p.k, marks)), marker))
    return tag("g", *parts, opacity=marker.get("opacity"), class_="marks") if parts else ""


def _dots(stretches: Sequence[Sequence[Point]], size: float, colour: str, opacity: object) -> str:
    """Return very many points as one outline of dots."""
    places = distinct((p.x, p.y) for some in stretches for p in some)
    d = "".join(f"M{number(x)} {number(y)}h0" for x, y in places)
    return tag("path", d=d, class_="dots", stroke=paint(colour), stroke_width=size, opacity=opacity) if d else ""


def _unseen(trace: Trace, stretches: Sequence[Sequence[Point]], marks: int) -> str:
    """Return places to hover over along a line without symbols."""
    if "hovertext" not in trace and "hovertemplate" not in trace:
        return ""
    found = [(p, hover(trace, p.k, marks)) for some in stretches for p in some]
    spots = "".join(tag("circle", titled(text), cx=p.x, cy=p.y, r=6) for p, text in found if text)
    return tag("g", spots, class_="spots") if spots else ""


def symbol(kind: str, x: float, y: float, size: float, colour: str, title: str, marker: Trace) -> str:
    """Draw a symbol around (x, y). Raises ValueError for an unknown kind."""
    hollow = kind.endswith("-open")
    base, r = kind.removesuffix("-open"), size * 0.46
    rim = marker.get("line", {}).get("width", 1.5)
    look: dict[str, Any] = {"fill": paint(colour)}
    if hollow:
        look = {"fill": "none", "stroke": paint(colour), "stroke_width": rim}
    if base == "circle":
        return tag("circle", title, cx=x, cy=y, r=r, **look)
    if base in _STROKES:
        d = "".join(path((x + r * u, y + r * v) for u, v in stroke) for stroke in _STROKES[base])
    elif base in _SHAPES:
        d = path(((x + r * u, y + r * v) for u, v in _SHAPES[base]), closed=True)
    else:
        raise ValueError(f"a drawing has the unknown symbol {kind!r}")
    return tag("path", title, d=d, **look)


def _around(corners: int, inner: float = 0.0, turn: float = 0.0) -> list[tuple[float, float]]:
    """Return the corners of a polygon around the origin; of a star if `inner` is the radius between its points."""
    n = 2 * corners if inner else corners
    radii = [inner if inner and k % 2 else 1.15 for k in range(n)]
    angles = [math.pi * (2 * k / n - 0.5) + turn for k in range(n)]
    return [(r * math.cos(a), r * math.sin(a)) for r, a in zip(radii, angles, strict=True)]


_STROKES: dict[str, Sequence[Sequence[tuple[float, float]]]] = {
    "x-thin": (((-1, -1), (1, 1)), ((-1, 1), (1, -1))),
    "line-ns": (((0, -1), (0, 1)),),
    "line-ew": (((-1, 0), (1, 0)),),
}
_SHAPES: dict[str, Sequence[tuple[float, float]]] = {
    "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "diamond": ((0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)),
    "triangle-up": ((0, -1.15), (1.1, 0.85), (-1.1, 0.85)),
    "triangle-down": ((0, 1.15), (1.1, -0.85), (-1.1, -0.85)),
    "cross": tuple((a * u, a * v) for a in (1.1,) for u, v in
                   ((-1, -.35), (-.35, -.35), (-.35, -1), (.35, -1), (.35, -.35), (1, -.35), (1, .35), (.35, .35),
                    (.35, 1), (-.35, 1), (-.35, .35), (-1, .35))),
    "star": _around(5, 0.55),
    "hexagon": _around(6),
}  # fmt: skip


def hover(trace: Trace, k: int, marks: int) -> str:
    """Return the hover text of a mark: all of it, its first line, or nothing if there are very many marks."""
    if trace.get("hoverinfo") in ("skip", "name") or marks > MANY:
        return ""
    text = plain(_hover(trace, k)).strip("\n")
    return text if marks <= FEW else text.split("\n")[0]


def _hover(trace: Trace, k: int) -> str:
    if (given := trace.get("hovertext")) is not None:
        return str(given if isinstance(given, str) else given[k] or "")
    values = {name: trace[name][k] for name in ("x", "y", "text") if isinstance(trace.get(name), list)}
    if (template := trace.get("hovertemplate")) is not None:
        return fields(str(template), values)
    if trace.get("hoverinfo") == "text":
        return str(values.get("text", ""))
    shown = ", ".join(labels([v])[0] if isinstance(v, float) else str(v) for n, v in values.items() if n != "text")
    name = str(trace.get("name", ""))
    return f"{name}: {shown}" if name else shown


def fields(template: str, values: Mapping[str, object]) -> str:
    """Return a text in which `%{x:.1f}` is the value of x in that format."""

    def shown(found: re.Match[str]) -> str:
        value = values[found[1]]
        return str(value) if isinstance(value, str) else format(value, found[2] or "")

    return _FIELD.sub(shown, template)


def texts(trace: Trace, x: Axis, y: Axis) -> Iterator[tuple[Point, str, str, str]]:
    """Yield each text next to a point: (point, text, position, colour)."""
    if "text" not in str(trace.get("mode", "")):
        return
    places, font = trace.get("textposition", "top center"), trace.get("textfont", {})
    for p in (p for some in points(trace, x, y) for p in some):
        if text := plain(trace["text"][p.k]):
            yield p, text, places if isinstance(places, str) else places[p.k], str(font.get("color", "@muted"))
