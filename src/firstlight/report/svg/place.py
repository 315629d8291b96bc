"""Place: texts inside of a chart, moved apart if they would overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from firstlight.report.svg.axis import Axis, Box
from firstlight.report.svg.element import plain, width, words

LINE = 13  # pixels: from one label to the next above it
Annotation = Mapping[str, Any]


class Label(NamedTuple):
    """A text with its anchor and the middle of its line."""

    x: float
    y: float
    text: str
    anchor: str
    colour: str

    @property
    def box(self) -> Box:
        wide, high = width(self.text), LINE * len(self.text.split("\n"))
        left = self.x - {"start": 0.0, "middle": wide / 2, "end": wide}[self.anchor]
        return Box(left, self.y - LINE / 2, left + wide, self.y - LINE / 2 + high)


_ANCHORS = {"left": "start", "center": "middle", "right": "end"}


def on_top(one: Annotation) -> bool:
    """Return whether a label is above the frame."""
    return one.get("yref", "y") != "y" and one.get("y") == 1 and one.get("yanchor") == "bottom"


def direct(one: Annotation) -> bool:
    """Return whether a label is the name of a line, right of the frame."""
    return one.get("name") == "direct"


def pixel(axis: Axis, ref: str, value: float, ends: tuple[float, float]) -> float:
    """Return the pixel of a value of an axis, or of a share of the frame; logarithmic axes have exponents here."""
    if ref.endswith(("paper", "domain")):
        return ends[0] + value * (ends[1] - ends[0])
    return axis.scale.at(10**value if axis.scale.log else value)


def labels(some: Sequence[Annotation], x: Axis, y: Axis, box: Box) -> list[Label]:
    """Return the annotations of a frame as labels in pixels, moved apart."""
    found = []
    for one in some:
        at = pixel(x, str(one.get("xref", "x")), one["x"], (box.left, box.right))
        middle = pixel(y, str(one.get("yref", "y")), one["y"], (box.bottom, box.top))
        shift = {"bottom": -LINE / 2 - 1, "top": LINE / 2 + 1}.get(str(one.get("yanchor", "middle")), 0.0)
        anchor = _ANCHORS[str(one.get("xanchor", "center"))]
        colour = str(one.get("font", {}).get("color", "@ink"))
        found.append(Label(at + (4 if direct(one) else 0), middle + shift, plain(one["text"]), anchor, colour))
    above = [label for label, one in zip(found, some, strict=True) if on_top(one)]
    named = [label for label, one in zip(found, some, strict=True) if direct(one)]
    inside = [label for label in found if label not in above and label not in named]
    return [*stacked([_within(a, box) for a in above]), *column(named, box), *inside]


def _within(label: Label, box: Box) -> Label:
    """Return a label that does not reach beyond the right or the left of the chart."""
    own = label.box
    left = max(0.0, box.left - 30)
    return label._replace(x=label.x - max(0.0, own.right - box.right - 10) + max(0.0, left - own.left))


def stacked(some: Sequence[Label]) -> list[Label]:
    """Return the labels, each lifted above those that it would touch."""
    done: list[Label] = []
    for label in sorted(some, key=lambda one: one.x):
        while any(_touch(label, other) for other in done):
            label = label._replace(y=label.y - LINE)
        done.append(label)
    return done


def column(some: Sequence[Label], box: Box) -> list[Label]:
    """Return the labels one below the other in the order of their heights, within the frame if there is room."""
    done: list[Label] = []
    for label in sorted(some, key=lambda one: -one.y):  # from the lowest upwards
        done.append(label._replace(y=min(label.y, done[-1].y - LINE) if done else min(label.y, box.bottom)))
    top = box.top + 4
    for k in range(len(done) - 1, -1, -1):  # what was pushed out at the top comes back down
        done[k] = done[k]._replace(y=max(done[k].y, top))
        top = done[k].y + LINE
    return done


def apart(some: Sequence[Label], taken: Sequence[Label], box: Box) -> list[Label]:
    """Return labels inside of the frame, each at the nearest height at which it touches no earlier one."""
    done = list(taken)
    found = []
    for label in some:
        own = label.box
        label = label._replace(x=label.x - max(0.0, own.right - box.right) + max(0.0, box.left - own.left))
        shifts = [0.0, *(s * LINE * k / 2 for k in range(1, 30) for s in (-1, 1))]
        free = [label._replace(y=label.y + shift) for shift in shifts]
        fitting = [one for one in free if one.box.top >= box.top - 2 and one.box.bottom <= box.bottom + 2]
        label = next((one for one in fitting if not any(_touch(one, other) for other in done)), label)
        found.append(label)
        done.append(label)
    return found


def _touch(a: Label, b: Label) -> bool:
    p, q = a.box, b.box
    return p.left < q.right + 4 and q.left < p.right + 4 and p.top < q.bottom - 0.5 and q.top < p.bottom - 0.5


def draw(some: Sequence[Label]) -> str:
    """Draw labels with a rim in the colour of the page, so that lines behind them do not disturb."""
    return "".join(words(one.x, one.y + 4, one.text, one.anchor, fill=one.colour, class_="label") for one in some)
