"""Slice: how hot the flame in the combustor is, and how fast the flow in the cavity and behind the step, in the middle
layer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from firstlight.catalogue import Plot, Workload
from firstlight.judge import sourced
from firstlight.judge.verdict import Verified
from firstlight.record import FINEST, Field
from firstlight.report import answers, frame, observed
from firstlight.report.frame import Drawing, Trace, View
from firstlight.units import significant


class Named(NamedTuple):
    """A case in a title and over its picture, and what is drawn of it."""

    short: str
    drawn: str


CASES = {
    "combustor": Named("a flame", "Temperature over that of the air which enters"),
    "cavity": Named("what a lid drags", "Velocity along the lid, of its own"),
    "step": Named("what flows behind a step", "Velocity along the channel, of the mean that enters"),
}
MOST_ROWS = 24
Seen = tuple[str, Verified, Field]


def draw(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Beside each other, of the finest grid of each case; none where no verified run came to an end."""
    seen: list[Seen] = []
    figures = answers.verified(view.selected(workload, plot))
    for case in CASES:
        mine = [f for f in figures if ("case", case) in f.identity.parameters]
        drawn = [(f, p) for f in mine if (p := observed.field(view, f)) is not None and p.largest > 0]
        if drawn:
            seen.append((case, *max(drawn, key=lambda x: x[1].columns)))
    if not seen:
        return []
    title = "; ".join(_message(*each) for each in seen)
    pictures = ". ".join(
        f"{CASES[case].drawn}: {picture.columns} x {picture.rows} cells, {significant(picture.largest)} at most"
        for case, _, picture in seen
    )
    caption = f"The middle layer of flows of which nothing is left to solve, as means over boxes of cells. {pictures}."
    data = [_heat(case, picture, k) for k, (case, _, picture) in enumerate(seen)]
    return [Drawing(name, title[:1].upper() + title[1:], caption, _head(seen), _rows(seen), data, _layout(seen))]


def _message(case: str, figure: Verified, picture: Field) -> str:
    largest = sourced.number(significant(picture.largest), "largest(a)", of=(figure,))
    if case == "combustor":
        return f"a flame gets {largest} times as hot as the air that enters"
    if case == "cavity":
        return f"a lid drags what is below it along with up to {largest} of its speed"
    return f"what enters above a step is {largest} times as fast as its mean at most"


def _heat(case: str, picture: Field, number: int) -> Trace:
    """South is below, the flow enters on the left."""
    own = "" if number == 0 else str(number + 1)
    high, wide = picture.rows / len(picture.values), picture.columns / len(picture.values[0])
    hot = case == "combustor"
    least = 0 if hot else -FINEST

    return {
        "type": "heatmap", "xaxis": f"x{own}", "yaxis": f"y{own}", "z": [list(row) for row in picture.values],
        "x0": wide / 2, "dx": wide, "y0": high / 2, "dy": high, "zmin": least, "zmax": FINEST,
        "colorscale": frame.HEAT if hot else frame.DIVERGING, "showscale": False,
        "hovertemplate": "i = %{x:.0f}, j = %{y:.0f}: %{z} / 999 of the largest<extra></extra>",
    }  # fmt: skip


def _layout(seen: list[Seen]) -> dict[str, Any]:
    """Side by side; on a phone below each other."""
    drawn: dict[str, Any] = {"height": 400, "annotations": []}
    narrow: dict[str, Any] = {"height": 90 + 290 * len(seen)}
    plain = {"showgrid": False, "zeroline": False, "constrain": "domain", "mirror": True, "showline": True}
    for k, (case, _, picture) in enumerate(seen):
        own, share = "" if k == 0 else str(k + 1), 1 / len(seen)
        across = plain | {"title": {"text": "cells along i"}, "range": [0, picture.columns], "anchor": f"y{own}"}
        up = plain | {"title": {"text": "cells along j"}, "range": [0, picture.rows], "anchor": f"x{own}"}
        up |= {"scaleanchor": f"x{own}"}
        drawn[f"xaxis{own}"] = across | {"domain": [k * share, (k + 0.87) * share]}
        drawn[f"yaxis{own}"] = up
        narrow[f"xaxis{own}"] = across
        narrow[f"yaxis{own}"] = up | {"domain": [1 - (k + 0.78) * share, 1 - k * share]}
        drawn["annotations"].append(
            {"xref": f"x{own} domain", "yref": f"y{own} domain", "x": 0.5, "y": 1, "yanchor": "bottom",
             "showarrow": False, "text": frame.text(CASES[case].short)}
        )  # fmt: skip
    return drawn | {"narrow": narrow}


def _head(seen: list[Seen]) -> tuple[str, ...]:
    return ("along the middle row, from west to east", *(CASES[case].drawn for case, _, _ in seen))


def _rows(seen: list[Seen]) -> list[tuple[str, ...]]:
    rows = []
    for k in range(MOST_ROWS):
        share = (k + 0.5) / MOST_ROWS
        values = []
        for _, _, picture in seen:
            line = picture.values[len(picture.values) // 2]
            values.append(significant(line[int(share * len(line))] * picture.largest / FINEST))
        rows.append((f"{100 * share:.0f} %", *values))
    return rows
