"""Legend: the names of traces in rows below a chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from firstlight.report.svg.axis import shortened
from firstlight.report.svg.element import number, paint, plain, tag, width, words
from firstlight.report.svg.marks import DASHES, symbol

ROW = 16
_KEY, _BETWEEN = 22, 14  # pixels: the sample of a trace, and the space after a name
Trace = Mapping[str, Any]


class Entry(NamedTuple):
    """A name with the trace that it belongs to."""

    name: str
    trace: Trace


def entries(traces: Sequence[Trace], layout: Mapping[str, Any]) -> list[Entry]:
    """Return the named traces; nothing if the layout hides the legend or there is only one trace."""
    named = [
        t for t in traces if t.get("name") and t["type"] in ("scatter", "bar") and t.get("showlegend") is not False
    ]
    several = len(named) > 1 or any(t.get("showlegend") for t in named)
    if layout.get("showlegend") is False or not several:
        return []
    ordered = sorted(named, key=lambda t: int(t.get("legendrank", 1000)))
    return list({(name := plain(t["name"])): Entry(name, t) for t in reversed(ordered)}.values())[::-1]


def rows(some: Sequence[Entry], wide: float) -> list[list[Entry]]:
    """Return the entries in rows of that width."""
    found: list[list[Entry]] = []
    left = 0.0
    for one in some:
        one = one._replace(name=shortened(one.name, wide - _KEY - _BETWEEN))
        need = _KEY + width(one.name) + _BETWEEN
        if not found or need > left + _BETWEEN:
            found.append([])
            left = wide
        found[-1].append(one)
        left -= need
    return found


def draw(some: Sequence[Sequence[Entry]], left: float, top: float) -> str:
    """Draw rows of entries, starting at a corner."""
    parts = []
    for n, row in enumerate(some):
        x, y = left, top + ROW * n
        for one in row:
            parts.append(_sample(one.trace, x, y) + words(x + _KEY, y + 4, one.name, class_="entry"))
            x += _KEY + width(one.name) + _BETWEEN
    return tag("g", *parts, class_="legend") if parts else ""


def _sample(trace: Trace, x: float, y: float) -> str:
    line, marker = trace.get("line", {}), trace.get("marker", {})
    colour = marker.get("color") or line.get("color") or "@ink"
    colour = colour if isinstance(colour, str) else "@ink"
    if trace["type"] == "bar":
        return tag("rect", x=x + 3, y=y - 5, width=11, height=10, fill=paint(colour), fill_opacity=trace.get("opacity"))
    mode, parts = str(trace.get("mode", "lines+markers")), []
    if "lines" in mode:
        stroke = paint(line.get("color") or colour)
        parts.append(
            tag("path", d=f"M{number(x)} {number(y)}h18", class_="line", stroke=stroke,
                stroke_width=line.get("width", 2), stroke_dasharray=DASHES[line.get("dash", "solid")])
        )  # fmt: skip
    if "markers" in mode:
        kind = marker.get("symbol", "circle")
        kind = kind if isinstance(kind, str) else kind[0].removesuffix("-open")
        parts.append(symbol(kind, x + 9, y, min(9.0, float(marker.get("size", 7))), colour, "", marker))
    return "".join(parts)
