"""Heat: cells of a table or of a field by colour, their numbers, and the bar of colours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from firstlight.report.svg import png
from firstlight.report.svg.axis import Axis, Box
from firstlight.report.svg.element import paint, plain, tag, titled, width, words
from firstlight.report.svg.marks import fields

LEVELS = 32  # shades of a scale of colours
MOST_TITLED = 400  # cells that are elements of their own, with a text to hover over
Trace = Mapping[str, Any]


class Shade(NamedTuple):
    """A colour: the paint, the share of the page that it covers, and whether text on it has the page's colour."""

    fill: str
    opacity: float
    strong: bool


class Cells(NamedTuple):
    """The edges of columns and rows, as values of the axes."""

    columns: list[float]
    rows: list[float]


def coordinates(trace: Trace) -> tuple[list[object], list[object]]:
    """Return what the axes of a heat map must show: the names of its cells, or the edges of its field."""
    z = trace["z"]
    return _axis_values(trace, "x", max(map(len, z), default=0)), _axis_values(trace, "y", len(z))


def _axis_values(trace: Trace, which: str, n: int) -> list[object]:
    if which in trace and any(isinstance(v, str) for v in trace[which]):
        return list(trace[which])
    edges: list[object] = list(_edges(trace, which, n))
    return edges


def _edges(trace: Trace, which: str, n: int) -> list[float]:
    if which in trace:
        values = [float(v) for v in trace[which]]
        step = values[1] - values[0] if len(values) > 1 else 1.0
        return [values[0] + (k - 0.5) * step for k in range(n + 1)]
    first, step = float(trace.get(f"{which}0", 0)), float(trace.get(f"d{which}", 1))
    return [first + (k - 0.5) * step for k in range(n + 1)]


def _cells(trace: Trace, x: Axis, y: Axis) -> Cells:
    z = trace["z"]
    columns, rows = max(map(len, z), default=0), len(z)

    def edges(one: Axis, which: str, n: int) -> list[float]:
        if not one.scale.names:
            return [one.scale.at(v) for v in _edges(trace, which, n)]
        at = [one.value(name) or 0.0 for name in trace[which]]
        return [one.scale.at(at[0] - 0.5 + k * (at[-1] - at[0] + 1) / n) for k in range(n + 1)]

    return Cells(edges(x, "x", columns), edges(y, "y", rows))


def bounds(trace: Trace) -> tuple[float, float]:
    """Return the values at the two ends of the colours."""
    values = [v for line in trace["z"] for v in line if v is not None]
    return float(trace.get("zmin", min(values, default=0.0))), float(trace.get("zmax", max(values, default=1.0)))


def shade(colorscale: Sequence[Sequence[Any]], share: float) -> Shade:
    """Return the colour at a share of the scale: between the page and a colour by opacity, else by mixing."""
    share = round(max(0.0, min(1.0, share)) * LEVELS) / LEVELS
    upper = next(k for k, stop in enumerate(colorscale) if k and share <= stop[0] + 1e-9)
    (p, a), (q, b) = colorscale[upper - 1], colorscale[upper]
    part = (share - p) / (q - p)
    if a == "@paper":
        return Shade(paint(b), part, part > 0.6)
    if b == "@paper":
        return Shade(paint(a), 1 - part, part < 0.4)
    return Shade(_between(a, b, part), 1.0, False)


def _between(a: str, b: str, part: float) -> str:
    both = [[int(c[k : k + 2], 16) for k in (1, 3, 5)] for c in (a, b)]
    return "#" + "".join(f"{round(u + part * (v - u)):02X}" for u, v in zip(*both, strict=True))


def draw(trace: Trace, x: Axis, y: Axis) -> str:
    """Draw the cells: each with its hover text if they are few, otherwise all as one picture."""
    low, high = bounds(trace)
    z = trace["z"]
    shades = [
        [None if v is None else shade(trace["colorscale"], (v - low) / ((high - low) or 1)) for v in line] for line in z
    ]
    cells = _cells(trace, x, y)
    if sum(map(len, z)) > MOST_TITLED:
        return tag("g", _picture(shades, cells), class_="heat")
    gap = 1.0 if trace.get("xgap") else 0.0
    return tag("g", *_each(trace, shades, cells, gap), class_="heat")


def _picture(shades: Sequence[Sequence[Shade | None]], cells: Cells) -> str:
    """Return all cells as one picture, whose first row is the upper one."""
    rows = [[_pixel(one) for one in line] for line in shades]
    ends = (cells.columns[0], cells.columns[-1], cells.rows[0], cells.rows[-1])
    rows = rows if ends[2] < ends[3] else rows[::-1]
    rows = rows if ends[0] < ends[1] else [line[::-1] for line in rows]
    return tag(
        "image", x=min(ends[:2]), y=min(ends[2:]), width=abs(ends[1] - ends[0]), height=abs(ends[3] - ends[2]),
        href=png.url(rows), preserveAspectRatio="none", class_="cells",
    )  # fmt: skip


def _pixel(one: Shade | None) -> png.Pixel:
    if one is None:
        return 0, 0, 0, 0
    red, green, blue = (int(one.fill[k : k + 2], 16) for k in (1, 3, 5))
    return red, green, blue, round(255 * one.opacity)


def _each(trace: Trace, shades: Sequence[Sequence[Shade | None]], cells: Cells, gap: float) -> Iterator[str]:
    for r, line in enumerate(shades):
        top, bottom = sorted(cells.rows[r : r + 2])
        for c, one in enumerate(line):
            left, right = sorted(cells.columns[c : c + 2])
            text = _words(trace, r, c)
            if one is not None:
                wide, high = (max(0.3, b - a - 2 * gap) for a, b in ((left, right), (top, bottom)))
                yield tag(
                    "rect", titled(_hover(trace, r, c)), x=left + gap, y=top + gap, width=wide, height=high,
                    fill=one.fill, fill_opacity=_opacity(one), class_="cell",
                )  # fmt: skip
            if one is not None and text:
                yield _cell_text(text, (left + right) / 2, (top + bottom) / 2, one)


def _opacity(one: Shade) -> str | None:
    return None if one.opacity >= 1 else f"{one.opacity:.2f}".removeprefix("0")


def _words(trace: Trace, r: int, c: int) -> str:
    if not trace.get("texttemplate"):
        return ""
    return plain(fields(str(trace["texttemplate"]), {"text": trace["text"][r][c]}))


def _cell_text(text: str, x: float, y: float, one: Shade) -> str:
    fill = "@ink"
    if one.fill.startswith("#") and one.opacity >= 1 and not one.strong:
        red, green, blue = (int(one.fill[k : k + 2], 16) for k in (1, 3, 5))
        fill = "#111111" if 0.3 * red + 0.59 * green + 0.11 * blue > 140 else "#FFFFFF"
    elif one.strong:
        fill = "@paper"
    lines = text.split("\n")
    top = y + 4 - 5.5 * (len(lines) - 1)
    first = words(x, top, lines[0], "middle", fill=fill, class_="cell-text")
    return first + "".join(words(x, top + 11 * k, s, "middle", 8.5, fill) for k, s in enumerate(lines) if k)


def _hover(trace: Trace, r: int, c: int) -> str:
    if trace.get("hoverinfo") == "skip":
        return ""
    if "hovertext" in trace:
        return plain(trace["hovertext"][r][c])
    names = {which: _name(trace, which, k) for which, k in (("x", c), ("y", r))}
    values = {**names, "z": trace["z"][r][c], "text": trace["text"][r][c] if "text" in trace else ""}
    if "hovertemplate" in trace:
        return plain(fields(str(trace["hovertemplate"]), values))
    return plain(f"{names['y']}, {names['x']}: {values['text'] or values['z']}")


def _name(trace: Trace, which: str, k: int) -> object:
    if which in trace:
        return trace[which][k]
    return float(trace.get(f"{which}0", 0)) + k * float(trace.get(f"d{which}", 1))


def bar_width(trace: Trace) -> float:
    """Return the width of the colour bar with its labels; 0 if there is none."""
    own = trace.get("colorbar")
    if own is None or trace.get("showscale") is False:
        return 0.0
    return 34 + max([width(plain(t)) for t in own.get("ticktext", ())] + [width(plain(own["title"]["text"])) - 16])


def draw_bar(trace: Trace, box: Box) -> str:
    """Draw the bar of colours in the box: its title on top, labels on its right."""
    own = trace["colorbar"]
    low, high = bounds(trace)
    title = plain(own["title"]["text"])
    top, bottom = box.top + 6 + 13 * len(title.split("\n")), box.bottom
    if bottom - top > 170:
        top, bottom = (top + bottom) / 2 - 85, (top + bottom) / 2 + 85
    parts = [words(box.left, top - 8 - 13 * title.count("\n"), title, class_="name")]
    step = (bottom - top) / LEVELS
    for k in range(LEVELS):
        one = shade(trace["colorscale"], (k + 0.5) / LEVELS)
        parts.append(
            tag("rect", x=box.left, y=bottom - (k + 1) * step, width=10, height=step + 0.4, fill=one.fill,
                fill_opacity=_opacity(one))
        )  # fmt: skip
    shown = dict(zip(map(plain, own.get("ticktext", ())), own.get("tickvals", ()), strict=True))
    at = [(label, (v - low) / (high - low) if high > low else 0.5) for label, v in shown.items()]
    found = [(label, share) for label, share in at if -0.01 <= share <= 1.01][: None if high > low else 1]
    every = -(-len(found) // max(2, int((bottom - top) / 13)))
    for label, share in found[:: max(1, every)]:
        parts.append(words(box.left + 15, bottom - share * (bottom - top) + 4, label, class_="tick"))
    return tag("g", *parts, class_="colours")
