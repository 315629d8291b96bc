"""Surface: how high the sea stands above its rest at the end of a run, seen from above."""

from __future__ import annotations

from firstlight.catalogue import Plot, Workload
from firstlight.judge import sourced
from firstlight.record import FINEST
from firstlight.report import answers, frame, observed
from firstlight.report.frame import Drawing, View
from firstlight.units import significant

MOST_ROWS = 24


def draw(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Of the finest grid; none where no verified run left a picture of a sea that moved."""
    figures = answers.verified(view.selected(workload, plot))
    seen = [(f, p) for f in figures if (p := observed.field(view, f)) is not None and p.largest > 0]
    if not seen:
        return []
    figure, picture = max(seen, key=lambda x: x[1].columns)
    high, wide = picture.rows / len(picture.values), picture.columns / len(picture.values[0])
    most = sourced.number(significant(picture.largest), "largest(a)", "m", (figure,))
    caption = (
        f"Height above rest, as means over boxes of cells, north above: blue below, red above it, "
        f"{picture.columns} x {picture.rows} cells, {significant(picture.largest)} m at most."
    )
    data = {
        "type": "heatmap", "z": [list(row) for row in picture.values],
        "x0": wide / 2, "dx": wide, "y0": high / 2, "dy": high, "zmin": -FINEST, "zmax": FINEST,
        "colorscale": frame.DIVERGING, "showscale": False,
        "hovertemplate": "column %{x:.0f}, line %{y:.0f}: %{z} / 999 of the largest<extra></extra>",
    }  # fmt: skip
    plain = {"showgrid": False, "zeroline": False, "constrain": "domain", "mirror": True, "showline": True}
    drawn = frame.layout(
        plain | {"title": {"text": "cells from west to east"}, "range": [0, picture.columns]},
        plain | {"title": {"text": "cells from south to north"}, "range": [0, picture.rows], "scaleanchor": "x"},
        height=460,
    )
    middle = picture.values[len(picture.values) // 2]
    rows: list[tuple[str, ...]] = []
    for k in range(MOST_ROWS):
        share = (k + 0.5) / MOST_ROWS
        height = middle[int(share * len(middle))] * picture.largest / FINEST
        rows.append((f"{100 * share:.0f} %", f"{significant(height)} m"))
    head = ("along the middle line, from west to east", "height above rest")
    return [Drawing(name, f"The sea stands up to {most} m from its rest", caption, head, rows, [data], drawn)]
