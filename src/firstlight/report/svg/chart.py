"""Chart: one drawing as one `<svg>`, in the colours of the page and without a script."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from firstlight.report.svg import bars, few, heat, keys, legend, marks, place
from firstlight.report.svg.axis import Axis, Box, axis, draw_x, draw_y, height_x, rows_y
from firstlight.report.svg.element import number, paint, plain, tag, titled, width, words
from firstlight.report.svg.marks import DASHES

NARROW, WIDE = 440, 900
"""Pixels: a chart that shares the page's width with another one, and one with the whole width."""
HEIGHT = 132  # of a frame
TALLEST = 420
ROW, TEXT_ROW = 18, 30  # of a category: with one line, with two
GHOSTS = "ghosts"
Trace = Mapping[str, Any]
Layout = Mapping[str, Any]


class Panel(msgspec.Struct):
    """One frame: its axes, its traces, and its annotations and shapes."""

    x: Axis
    y: Axis
    traces: list[Trace]
    annotations: list[Mapping[str, Any]]
    shapes: list[Mapping[str, Any]]


def has_ghosts(data: Sequence[Trace]) -> bool:
    """Return whether a drawing has historical reference lines."""
    return any(t.get("legendgroup") == GHOSTS for t in data)


def is_wide(data: Sequence[Trace], layout: Layout) -> bool:
    """Return whether a chart is unreadable in half of the page's width."""
    data, layout = _usual(data, layout, ghosts=False)
    panels = _panels(data, layout)
    if len(panels) > 2 and len({str(p.x.own.get("domain")) for p in panels}) > 2:
        return True
    for panel in panels:
        x, y = panel.x.scale, panel.y.scale
        if y.names and max(map(width, y.names)) > 0.4 * NARROW:
            return True
        across = sum(max(map(width, [name, *_in_cells(panel)])) + 8 for name in x.names)
        if x.names and any(t["type"] == "heatmap" for t in panel.traces) and across > 0.72 * NARROW:
            return True
        if x.names and sum(width(name) + 8 for name in x.names) > NARROW:
            return True
    return False


def _in_cells(panel: Panel) -> list[str]:
    """Return the texts in the cells of heat maps, one line each."""
    cells = [t for t in panel.traces if t.get("texttemplate")]
    return [line for t in cells for row in t["text"] for text in row for line in plain(text).split("\n")]


def svg(title: str, data: Sequence[Trace], layout: Layout, ghosts: bool = False) -> str:
    """Return the drawing. `ghosts`: with the historical reference lines. Raises ValueError for unknown keys."""
    keys.check(data, layout)
    wide = WIDE if is_wide(data, layout) else NARROW
    data, layout = _usual(data, layout, ghosts)
    panels = _panels(data, layout)
    columns, rows = _starts(panels, "x"), _starts(panels, "y")
    count = sum(len(t.get("x", ())) for t in data if t.get("hoverinfo") not in ("skip", "name"))
    entries = legend.rows(_named(data, layout), wide - 8)
    colours = max(heat.bar_width(t) if t["type"] == "heatmap" else 0.0 for t in data) if data else 0.0
    cell, top, parts = (wide - colours) / len(columns), 0.0, []
    for row in sorted(rows, reverse=True):
        mine = [p for p in panels if _start(p.y) == row]
        lowest, begin = top, top + (20 if any(p.y.title for p in mine) else 8)
        for panel in mine:
            left = cell * columns.index(_start(panel.x))
            content, bottom = _panel(panel, Box(left, top, left + cell, begin), layout, count)
            parts.append(content)
            lowest = max(lowest, bottom)
        top = lowest + 6
    parts.append(legend.draw(entries, 4, top + 8))
    high = top + (legend.ROW * len(entries) + 4 if entries else 0)
    return tag(
        "svg", *parts, viewBox=f"0 0 {wide} {number(high)}", class_="chart", role="img", xmlns="http://www.w3.org/2000/svg",
        aria_label=f"{plain(title)}. The table below shows the same values.",
    )  # fmt: skip


def _usual(data: Sequence[Trace], layout: Layout, ghosts: bool) -> tuple[Sequence[Trace], Layout]:
    """Return the traces and the layout that are shown: bars instead of lines through one or two places."""
    data = [{"type": "scatter", **t} for t in data if ghosts or t.get("legendgroup") != GHOSTS]
    return (None if ghosts else few.barred(data, layout)) or (data, layout)


def _named(data: Sequence[Trace], layout: Layout) -> list[legend.Entry]:
    """Return the entries of the legend, without lines that have their name at their end."""
    direct = {plain(a["text"]) for a in layout.get("annotations", ()) if place.direct(a)}
    return [one for one in legend.entries(data, layout) if one.name not in direct]


def _start(one: Axis) -> float:
    return float(one.own.get("domain", (0, 1))[0])


def _starts(panels: Sequence[Panel], which: str) -> list[float]:
    return sorted({_start(p.x if which == "x" else p.y) for p in panels})


def _panels(data: Sequence[Trace], layout: Layout) -> list[Panel]:
    """Return the frames in the order of their axes' numbers."""
    by_axes: dict[tuple[str, str], list[Trace]] = {}
    for trace in data:
        by_axes.setdefault((str(trace.get("xaxis", "x")), str(trace.get("yaxis", "y"))), []).append(trace)
    found = []
    for k, ((x, y), traces) in enumerate(sorted(by_axes.items())):
        own = [layout.get(f"{name[0]}axis{name[1:]}", {}) for name in (x, y)]
        lying = any(t["type"] == "bar" and bars.lying(t) for t in traces)
        standing = any(t["type"] == "bar" for t in traces) and not lying
        values = _values(traces, str(layout.get("barmode", "group")))
        both = axis(own[0], values[0], lying), axis(own[1], values[1], standing)
        refs = [_mine(layout.get(what, ()), x, k == 0) for what in ("annotations", "shapes")]
        found.append(Panel(*both, traces, *refs))
    return found


def _mine(some: Sequence[Mapping[str, Any]], x: str, first: bool) -> list[Mapping[str, Any]]:
    return [one for one in some if (ref := str(one.get("xref", "x")).split(" ")[0]) == x or (first and ref == "paper")]


def _values(traces: Sequence[Trace], mode: str) -> tuple[list[object], list[object]]:
    """Return everything that the two axes must show."""
    xs: list[object] = []
    ys: list[object] = []
    for t in traces:
        if t["type"] == "heatmap":
            across, up = heat.coordinates(t)
        elif t["type"] == "box":
            across, up = list(t["x"]), [t["name"]]
        else:
            across, up = (_reach(t, which) for which in ("x", "y"))
        if t["type"] == "bar":
            (up if bars.lying(t) else across).extend(bars.sides(t))
        xs, ys = xs + across, ys + up
    if mode == "stack" and (some := [t for t in traces if t["type"] == "bar"]):
        sums: dict[object, float] = {}
        for t in some:
            for at, length in zip(bars.places(t), bars.amounts(t), strict=True):
                sums[at] = sums.get(at, 0.0) + (length or 0.0)
        (xs if bars.lying(some[0]) else ys).extend(sums.values())
    return xs, ys


def _reach(trace: Trace, which: str) -> list[object]:
    """Return the values of a trace and the ends of their intervals."""
    values = list(trace.get(which, ()))
    own = trace.get(f"error_{which}")
    if own is None:
        return values
    ends = [v + e for v, e in zip(values, own["array"], strict=True) if v is not None]
    return values + ends + [v - e for v, e in zip(values, own["arrayminus"], strict=True) if v is not None]


def _panel(panel: Panel, head: Box, layout: Layout, count: int) -> tuple[str, float]:
    """Return the content of the frame and its lower end. `head`: the space above it."""
    box = _box(panel, head)
    x, y = panel.x.placed(box.left, box.right), panel.y.placed(box.bottom, box.top)
    parts = [draw_y(y, box, box.left - head.left - 8), draw_x(x, box)]
    if y.title:
        parts.append(words(head.left + 2, head.top + 11, y.title, class_="name"))
    inner = [_shape(one, x, y, box) for one in panel.shapes] + _zeros(x, y, box) + _marks(panel, x, y, layout, count)
    window = {
        "x": box.left - 5,
        "y": box.top - 5,
        "width": box.right - box.left + 10,
        "height": box.bottom - box.top + 10,
    }
    view = " ".join(number(v) for v in window.values())
    parts.append(tag("svg", *inner, viewBox=view, **window))
    edge = tag("rect", x=box.left, y=box.top, width=box.right - box.left, height=box.bottom - box.top, class_="frame")
    field = any(t["type"] == "heatmap" for t in panel.traces) and not (x.scale.names or y.scale.names)
    parts.append(
        edge
        if field or x.own.get("showline")
        else tag("path", d=f"M{number(box.left)} {number(box.bottom)}H{number(box.right)}", class_="base")
    )
    parts.append(place.draw(_labels(panel, x, y, box)))
    with_colours = [t for t in panel.traces if t["type"] == "heatmap" and heat.bar_width(t)]
    parts += [heat.draw_bar(t, msgspec.structs.replace(box, left=box.right + 12)) for t in with_colours]
    return "".join(parts), box.bottom + height_x(x)


def _box(panel: Panel, head: Box) -> Box:
    """Return the frame: the space that labels and names leave of the width and the height."""
    high = _high(panel)
    labelled = [width(label) for _, label in rows_y(panel.y.placed(high, 0), high)]
    names = [width(plain(a["text"])) + 6 for a in panel.annotations if place.direct(a)]
    begin = head.left + min(max([*labelled, 14]) + 12, 0.5 * (head.right - head.left))
    end = head.right - max([14, *names])
    start = head.bottom + _placed_top(panel, begin, end)
    if panel.y.own.get("scaleanchor"):
        (a, b), (c, d) = ((s.low, s.high) for s in (panel.x.scale, panel.y.scale))
        shape = abs(d - c) / abs(b - a)
        high = min((end - begin) * shape, TALLEST)
        end = begin + high / shape
    return Box(begin, start, end, start + high)


def _placed_top(panel: Panel, begin: float, end: float) -> float:
    """Return the height of the labels above the frame."""
    box = Box(begin, 0, end, HEIGHT)
    x, y = panel.x.placed(begin, end), panel.y.placed(HEIGHT, 0)
    above = place.labels([a for a in panel.annotations if place.on_top(a)], x, y, box)
    return max((-label.box.top for label in above), default=0.0)


def _high(panel: Panel) -> float:
    """Return the height of the frame: a row for each category, or the usual one."""
    names = panel.y.scale.names
    if not names:
        return 90 if panel.y.own.get("showticklabels") is False else HEIGHT
    rows = TEXT_ROW if any("\n" in s for s in _cell_lines(panel)) else ROW
    return min(max(rows * len(names), 60), 4 * TALLEST)


def _cell_lines(panel: Panel) -> list[str]:
    return [plain(text) for t in panel.traces if t.get("texttemplate") for row in t["text"] for text in row]


def _marks(panel: Panel, x: Axis, y: Axis, layout: Layout, count: int) -> list[str]:
    """Return all traces of a frame, in their order; the bars of several traces are arranged together."""
    parts = []
    some = [t for t in panel.traces if t["type"] == "bar"]
    if some:
        along, across = (y, x) if bars.lying(some[0]) else (x, y)
        found = bars.laid(some, str(layout.get("barmode", "group")), along)
        parts += [bars.draw(bar, along, across, count) for bar in found]
    below: Trace | None = None
    for trace in panel.traces:
        if trace["type"] == "heatmap":
            parts.append(heat.draw(trace, x, y))
        elif trace["type"] == "box":
            parts.append(bars.box(trace, x, y))
        elif trace["type"] == "scatter":
            parts.append(marks.scatter(trace, x, y, count, below))
            below = trace
    return parts


def _labels(panel: Panel, x: Axis, y: Axis, box: Box) -> list[place.Label]:
    """Return the texts of annotations and of marks, moved apart."""
    given = place.labels(panel.annotations, x, y, box)
    of_marks = []
    for trace in panel.traces:
        size = float(trace.get("marker", {}).get("size", 7))
        for p, text, where, colour in marks.texts(trace, x, y) if trace["type"] == "scatter" else ():
            vertical, side = where.split(" ")
            anchor = {"left": "end", "center": "middle", "right": "start"}[side]
            shift = {"left": -size, "center": 0.0, "right": size}[side]
            lift = {"top": -9.0, "middle": 0.0, "bottom": 9.0}[vertical]
            of_marks.append(place.Label(p.x + shift, p.y + lift, text, anchor, colour))
    outside = [label for label in given if label.y < box.top or label.x > box.right]
    inside = [label for label in given if label not in outside]
    return outside + place.apart([*inside, *of_marks], outside, box)


def _zeros(x: Axis, y: Axis, box: Box) -> list[str]:
    """Return lines at zero, if zero is inside of a linear axis."""
    found = []
    for one, d in ((x, "M{at} {box.top}V{box.bottom}"), (y, "M{box.left} {at}H{box.right}")):
        ends = sorted((one.scale.low, one.scale.high))
        if not one.scale.log and not one.scale.names and ends[0] < 0 < ends[1] and one.own.get("zeroline") is not False:
            found.append(tag("path", d=d.format(at=number(one.scale.at(0)), box=box), class_="zero"))
    return found


def _shape(one: Mapping[str, Any], x: Axis, y: Axis, box: Box) -> str:
    """Draw a line or a rectangle; on a logarithmic axis its places are values."""
    xs = [_edge(x, str(one.get("xref", "x")), one[k], (box.left, box.right)) for k in ("x0", "x1")]
    ys = [_edge(y, str(one.get("yref", "y")), one[k], (box.bottom, box.top)) for k in ("y0", "y1")]
    line = one["line"]
    look = {
        "stroke": paint(line["color"]),
        "stroke_width": line.get("width", 1),
        "stroke_dasharray": DASHES[line.get("dash", "solid")],
    }
    if one["type"] == "line":
        return tag("path", d=f"M{number(xs[0])} {number(ys[0])}L{number(xs[1])} {number(ys[1])}", **look)
    return tag(
        "rect", titled(""), x=float(min(xs)), y=float(min(ys)), width=float(abs(xs[1] - xs[0])),
        height=float(abs(ys[1] - ys[0])), fill="none", **look,
    )  # fmt: skip


def _edge(one: Axis, ref: str, value: float, ends: tuple[float, float]) -> float:
    if re.search("paper|domain", ref):
        return ends[0] + value * (ends[1] - ends[0])
    return one.scale.at(value)
