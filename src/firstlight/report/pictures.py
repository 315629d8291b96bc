"""Pictures: fields that programs left at the end of a run, as means over boxes of cells, seen from above."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from firstlight.analysis.verdict import Verified
from firstlight.core.units import significant
from firstlight.report import frame, observed
from firstlight.report.frame import Trace, View, text
from firstlight.results.record import FINEST, Field

MOST_ROWS = 24

Seen = tuple[Verified, Field]
Axes = tuple[dict[str, Any], dict[str, Any]]


def finest(view: View, figures: Iterable[Verified]) -> Seen | None:
    """Return the field with the most columns among these figures; None if all fields are missing or zero."""
    seen = [(f, p) for f in figures if (p := observed.field(view, f)) is not None and p.largest > 0]
    return max(seen, key=lambda x: x[1].columns, default=None)


def heat(picture: Field, point: str, signed: bool = False, number: int = 0) -> Trace:
    """Return a heat map over cells. `point`: the name of a cell, with %{x:.0f} and %{y:.0f}. `signed`: values around
    zero, else non-negative ones. `number`: position of the picture among several side by side, from 0.
    """
    own = numbered(number)
    high, wide = picture.rows / len(picture.values), picture.columns / len(picture.values[0])
    return {
        "type": "heatmap", "xaxis": f"x{own}", "yaxis": f"y{own}", "z": [list(row) for row in picture.values],
        "x0": wide / 2, "dx": wide, "y0": high / 2, "dy": high, "zmin": -FINEST if signed else 0, "zmax": FINEST,
        "colorscale": frame.DIVERGING if signed else frame.HEAT, "showscale": False,
        "hovertemplate": f"{point}: %{{z}} / {FINEST} of the largest<extra></extra>",
    }  # fmt: skip


def axes(picture: Field, across: str, along: str, downwards: bool = False) -> Axes:
    """Return axes as long as the picture has cells, with equal scales. `downwards`: the first row is the uppermost."""
    plain = {"showgrid": False, "zeroline": False, "showline": True}
    rows = [picture.rows, 0] if downwards else [0, picture.rows]
    x = plain | {"title": {"text": across}, "range": [0, picture.columns]}
    return x, plain | {"title": {"text": along}, "range": rows, "scaleanchor": "x"}


def beside(some: Sequence[tuple[str, Axes]]) -> dict[str, Any]:
    """Return the layout of pictures side by side, each below its title."""
    drawn: dict[str, Any] = {"annotations": [], "shapes": []}
    for k, (title, (x, y)) in enumerate(some):
        own, share = numbered(k), 1 / len(some)
        y = y | {"scaleanchor": f"x{own}"}
        drawn[f"xaxis{own}"] = x | {"domain": [k * share, (k + 0.87) * share]}
        drawn[f"yaxis{own}"] = y if k == 0 else y | {"title": {"text": ""}}
        drawn["annotations"].append(
            {"xref": f"x{own} domain", "yref": f"y{own} domain", "x": 0.5, "y": 1, "yanchor": "bottom",
             "text": text(title)}
        )  # fmt: skip
    return drawn


def middle(pictures: Sequence[Field], unit: str = "") -> list[tuple[str, ...]]:
    """Return the values along the middle rows, by the share of their length."""
    rows = []
    for k in range(MOST_ROWS):
        share = (k + 0.5) / MOST_ROWS
        rows.append((f"{100 * share:.0f} %", *(f"{significant(_at(p, share))}{unit}" for p in pictures)))
    return rows


def _at(picture: Field, share: float) -> float:
    line = picture.values[len(picture.values) // 2]
    return line[int(share * len(line))] * picture.largest / FINEST


def numbered(number: int) -> str:
    """Return the suffix of `x`, `y`, `xaxis` and `yaxis` in the names of a picture's axes."""
    return "" if number == 0 else str(number + 1)
