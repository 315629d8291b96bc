"""Drawings of rsdft: where the electrons are (`density`)."""

from __future__ import annotations

from typing import Any

from firstlight.catalogue import Plot, Workload
from firstlight.judge import sourced
from firstlight.judge.verdict import Verified
from firstlight.record import FINEST, Field
from firstlight.report import answers, frame, observed
from firstlight.report.frame import Drawing, Trace, View
from firstlight.units import significant

MOST_ROWS = 24
HEAD = ("points along the middle row", "electrons in a volume of 1")


def density(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """In the middle plane of the finest grid; none where no verified run left a picture."""
    figures = answers.verified(view.selected(workload, plot))
    seen = [(f, p) for f in figures if (p := observed.field(view, f)) is not None and p.largest > 0]
    if not seen:
        return []
    figure, picture = max(seen, key=lambda x: x[1].columns)
    caption = (
        "The density of electrons in the middle plane of the box, two in each state that was wanted, as means over "
        f"boxes of points: {picture.columns} x {picture.rows} points; the darker, the denser."
    )
    return [Drawing(name, _message(figure, picture), caption, HEAD, _rows(picture), [_heat(picture)], _layout(picture))]


def _message(figure: Verified, picture: Field) -> str:
    wanted = dict(figure.identity.parameters)["wanted"]
    states = sourced.parameter(f"{wanted} states", figure, "a['wanted']", "states")
    most = sourced.number(significant(picture.largest), "largest(a)", of=(figure,))
    return f"Two electrons in each of {states} are {most} in a volume of 1 where they are densest"


def _heat(picture: Field) -> Trace:
    high, wide = picture.rows / len(picture.values), picture.columns / len(picture.values[0])
    return {
        "type": "heatmap", "z": [list(row) for row in picture.values], "zmin": 0, "zmax": FINEST,
        "x0": wide / 2, "dx": wide, "y0": high / 2, "dy": high, "colorscale": frame.HEAT, "showscale": False,
        "hovertemplate": "point %{x:.0f} along z, %{y:.0f} along y: %{z} / 999 of the largest<extra></extra>",
    }  # fmt: skip


def _layout(picture: Field) -> dict[str, Any]:
    plain = {"showgrid": False, "zeroline": False, "constrain": "domain", "mirror": True, "showline": True}
    across = plain | {"title": {"text": "points along z"}, "range": [0, picture.columns]}
    up = plain | {"title": {"text": "points along y"}, "range": [0, picture.rows], "scaleanchor": "x"}
    return frame.layout(across, up, height=460)


def _rows(picture: Field) -> list[tuple[str, ...]]:
    middle = picture.values[len(picture.values) // 2]
    step = max(1, len(middle) // MOST_ROWS)
    wide = picture.columns / len(middle)
    return [
        (f"{(k + 0.5) * wide:.0f}", significant(middle[k] * picture.largest / FINEST))
        for k in range(0, len(middle), step)
    ]
