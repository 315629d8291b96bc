"""Axis: read an axis of a layout, find its range and ticks, and draw it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from firstlight.report.svg.element import number, plain, tag, width, words
from firstlight.report.svg.scale import Scale, Tick, spread, ticks

_GAP = 7  # pixels between labels
_MOST_CATEGORIES = 40


class Box(msgspec.Struct, frozen=True):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float


class Axis(msgspec.Struct, frozen=True):
    """An axis with its range; its ticks are chosen when its length is known."""

    scale: Scale
    own: Mapping[str, Any]

    @property
    def title(self) -> str:
        return plain(self.own.get("title", {}).get("text", ""))

    def value(self, foreign: object) -> float | None:
        """Return the number that the scale shows for a value of a trace; None for what it cannot show."""
        if self.scale.names:
            name = plain(foreign)
            return float(self.scale.names.index(name)) if name in self.scale.names else None
        return float(foreign) if isinstance(foreign, int | float) and self.scale.shows(foreign) else None

    def ticks(self, most: int) -> list[Tick]:
        """Return the labelled values: those that the layout names, or at most `most` round ones."""
        if self.own.get("showticklabels") is False:
            return []
        if self.scale.names:
            step = -(-len(self.scale.names) // _MOST_CATEGORIES)
            return [(float(k), name) for k, name in enumerate(self.scale.names)][::step]
        if "tickvals" not in self.own:
            return ticks(self.scale.low, self.scale.high, self.scale.log, most)
        named = zip(self.own["tickvals"], map(plain, self.own["ticktext"]), strict=True)
        return [(float(v), name) for v, name in named if self.scale.shows(v) and self.scale.contains(float(v))]

    def placed(self, first: float, last: float) -> Axis:
        """Return the same axis between other pixels."""
        return msgspec.structs.replace(self, scale=self.scale.placed(first, last))


def axis(own: Mapping[str, Any], values: Iterable[object], bars: bool = False) -> Axis:
    """Return the axis for all values of its traces. `bars`: they begin at zero."""
    values = list(values)
    reverse = own.get("autorange") == "reversed"
    if own.get("type") == "category" or any(isinstance(v, str) for v in values):
        seen = dict.fromkeys(plain(v) for v in values if v is not None)
        order = [name for v in own.get("categoryarray", ()) if (name := plain(v)) in seen]
        names = tuple(dict.fromkeys([*order, *seen]))
        ends = (-0.5, max(len(names), 1) - 0.5)
        low, high = ends[::-1] if reverse else ends
        return Axis(Scale(low, high, names=names or ("",)), own)
    log = own.get("type") == "log"
    probe = Scale(1, 2, log=log)
    shown = [float(v) for v in values if isinstance(v, int | float) and probe.shows(v)]
    if "range" in own:
        low, high = (10 ** min(max(v, -300), 300) if log else float(v) for v in own["range"])
        return Axis(Scale(low, high, log=log), own)
    zero = not log and (bars or own.get("rangemode") == "tozero") and min(shown, default=0.0) >= 0
    low, high = spread([*shown, 0.0] if zero else shown, log)
    if zero:
        low = 0.0
    return Axis(Scale(high, low, log=log) if reverse else Scale(low, high, log=log), own)


def thinned(found: Sequence[Tick], at: Callable[[float], float], gap: float = _GAP) -> list[Tick]:
    """Return every n-th tick, with the smallest n for which no label touches its neighbour."""
    for step in range(1, len(found) + 1):
        some = found[::step]
        spans = sorted((at(v), width(label) / 2) for v, label in some)
        if all(b - a >= p + q + gap for (a, p), (b, q) in itertools.pairwise(spans)):
            return list(some)
    return list(found[:1])


def draw_x(one: Axis, box: Box) -> str:
    """Draw the axis below its box, with a light grid and its title."""
    scale = one.scale
    most = max(2, min(8, int((box.right - box.left) / 46)))
    every = one.ticks(most)
    shown = thinned(every, scale.at)
    parts = []
    if one.own.get("showgrid") is not False and not scale.names:
        lines = "".join(f"M{number(scale.at(v))} {number(box.top)}V{number(box.bottom)}" for v, _ in shown)
        parts.append(tag("path", d=lines, class_="grid") if lines else "")
    lowest, deeper = box.bottom + 14, max((label.count("\n") for _, label in shown), default=0)
    for v, label in shown:
        x = scale.at(v)
        half = width(label) / 2
        anchor = "middle" if x + half <= box.right + 12 else "end"
        parts.append(words(x if anchor == "middle" else box.right + 12, lowest, label, anchor, class_="tick"))
    if one.title:
        below = lowest + (15 + 12 * deeper if shown else 2)
        parts.append(words((box.left + box.right) / 2, below, one.title, "middle", class_="name"))
    return "".join(parts)


def height_x(one: Axis) -> float:
    """Return how many pixels the axis needs below its box."""
    shown = one.ticks(8)
    labels = 20 + 12 * max(label.count("\n") for _, label in shown) if shown else 4
    return labels + (16 * len(one.title.split("\n")) if one.title else 0)


def rows_y(one: Axis, height: float) -> list[Tick]:
    """Return the ticks of an upright axis of that height, as many as have room."""
    found = one.ticks(max(2, min(8, int(height / 26))))
    if not one.scale.names and "tickvals" not in one.own:
        return found
    placed = one.scale.placed(height, 0)
    step = next((n for n in range(1, len(found) + 1) if height / max(1, len(found[::n])) >= 11 or n == len(found)), 1)
    if one.scale.names:
        return found[::step]
    kept: list[Tick] = []
    for v, label in found:
        if not kept or abs(placed.at(v) - placed.at(kept[-1][0])) >= 12:
            kept.append((v, label))
    return kept


def draw_y(one: Axis, box: Box, most_wide: float) -> str:
    """Draw the axis left of its box, with a light grid."""
    shown = rows_y(one, box.bottom - box.top)
    parts = []
    if one.own.get("showgrid") is not False and not one.scale.names:
        lines = "".join(f"M{number(box.left)} {number(one.scale.at(v))}H{number(box.right)}" for v, _ in shown)
        parts.append(tag("path", d=lines, class_="grid") if lines else "")
    for v, label in shown:
        parts.append(
            words(box.left - 6, one.scale.at(v) + 4, shortened(label, most_wide), "end", class_="tick")
        )  # fmt: skip
    return "".join(parts)


def shortened(label: str, most: float) -> str:
    """Return a label of at most so many pixels: a longer one ends with an ellipsis."""
    if width(label) <= most:
        return label
    letters = max(4, int(most / width("x")))
    return label.split("\n")[0][: letters - 1].rstrip(" ·,") + "…"
