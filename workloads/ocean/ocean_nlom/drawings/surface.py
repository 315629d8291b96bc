"""Draw the height of the sea above its rest at the end of a run, seen from above."""

from __future__ import annotations

from firstlight.analysis import provenance
from firstlight.core.units import significant
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import answers, frame, pictures
from firstlight.report.frame import Drawing, View

HEAD = ("along the middle line, from west to east", "height above rest")


def draw(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Draw the finest grid; return nothing if no verified run left a picture of a sea that moved."""
    seen = pictures.finest(view, answers.verified(view.selected(workload, plot)))
    if seen is None:
        return []
    figure, picture = seen
    most = provenance.number(significant(picture.largest), "largest(a)", "m", (figure,))
    caption = (
        f"Height of {picture.columns} x {picture.rows} cells relative to the sea at rest, averaged over boxes; "
        f"north is at the top. Blue is lower, red is higher, by {significant(picture.largest)} m at most."
    )
    data = pictures.heat(picture, "column %{x:.0f}, line %{y:.0f}", signed=True)
    axes = pictures.axes(picture, "cells from west to east", "cells from south to north")
    drawn, rows = frame.layout(*axes), pictures.middle([picture], " m")
    return [
        Drawing(
            name, f"The surface is up to {most} m above or below the sea at rest", caption, HEAD, rows, [data], drawn
        )
    ]
