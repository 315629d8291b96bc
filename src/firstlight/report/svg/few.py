"""Few: lines through one or two places become bars, which show amounts more clearly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from firstlight.report.svg.element import plain

MOST_PLACES = 2
MOST_RATIO = 30  # between the longest and the shortest bar: with more of it a logarithmic axis is clearer
Trace = Mapping[str, Any]


def barred(traces: Sequence[Trace], layout: Mapping[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]] | None:
    """Return the traces and the layout with bars instead of lines; None if the lines stay."""
    lines = [t for t in traces if t["type"] == "scatter" and t.get("mode") == "lines+markers"]
    others = [t for t in traces if t not in lines and not _loose(t)]
    places = sorted({x for t in lines for x in t["x"] if isinstance(x, int | float)})
    values = [y for t in lines for y in t["y"] if isinstance(y, int | float)]
    if not lines or not 0 < len(places) <= MOST_PLACES or len(lines) * len(places) < 2 or layout.get("shapes"):
        return None
    if not all(_at(t, places) for t in (*lines, *others)) or "yaxis2" in layout or layout.get("annotations"):
        return None
    if not values or not all(math.isfinite(v) and v > 0 for v in values) or max(values) > MOST_RATIO * min(values):
        return None
    axis = layout.get("xaxis", {})
    ticks = dict(zip(axis.get("tickvals", ()), axis.get("ticktext", ()), strict=True))
    names = {x: plain(ticks.get(x, f"{x:g}")) for x in places}
    x = {"type": "category", "categoryarray": list(names.values()), "title": axis.get("title", {"text": ""})}
    y = {k: v for k, v in layout.get("yaxis", {}).items() if k == "title"} | {"rangemode": "tozero"}
    rest = {k: v for k, v in layout.items() if k not in ("xaxis", "yaxis")}
    found = [_bar(t, names) for t in lines] + [_level(t, names) for t in others]
    return found, rest | {"barmode": "group", "xaxis": x, "yaxis": y}


def _loose(trace: Trace) -> bool:
    """Return whether a trace is a band or a fitted curve, which bars replace with their intervals."""
    return trace.get("hoverinfo") == "skip" and trace.get("showlegend") is False


def _at(trace: Trace, places: Sequence[float]) -> bool:
    if trace["type"] != "scatter" or "text" in trace.get("mode", ""):
        return False
    return set(trace["x"]) <= set(places) or _even(trace)


def _even(trace: Trace) -> bool:
    """Return whether a trace is a level line, which applies to every place."""
    return trace.get("mode") == "lines" and len(set(trace["y"])) == 1


def _bar(trace: Trace, names: Mapping[float, str]) -> dict[str, Any]:
    kept = {k: trace[k] for k in ("name", "y", "error_y", "hovertext", "hovertemplate", "hoverinfo") if k in trace}
    marker = trace.get("marker", {})
    colour = marker.get("color") or trace.get("line", {}).get("color") or "@muted"
    symbols = marker.get("symbol", "")
    hollow = symbols[-1].endswith("-open") if isinstance(symbols, list) and symbols else False
    look: dict[str, Any] = {"marker": {"color": colour if isinstance(colour, str) else "@muted"}}
    if hollow and all(s.endswith("-open") for s in symbols):
        look["opacity"] = 0.4
    elif trace.get("line", {}).get("dash", "solid") != "solid":
        look["opacity"] = 0.6
    return {"type": "bar", "x": [names[x] for x in trace["x"]], **kept, **look}


def _level(trace: Trace, names: Mapping[float, str]) -> dict[str, Any]:
    """Return the points of a reference line as level strokes over the bars."""
    kept = {k: trace[k] for k in ("name", "y", "hovertext", "showlegend") if k in trace}
    xs = [names[x] for x in trace["x"] if x in names]
    if _even(trace):
        xs, kept["y"] = list(names.values()), [trace["y"][0]] * len(names)
        kept["hovertext"] = str(kept.get("hovertext", [""])[0])
    marker = {"color": "@ink", "symbol": "line-ew-open", "size": 300 // len(names), "line": {"width": 1.5}}
    return {"type": "scatter", "mode": "markers", "x": xs, "marker": marker, **kept}
