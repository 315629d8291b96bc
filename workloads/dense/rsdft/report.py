"""Draw rsdft: the density of the electrons (`density`)."""

from __future__ import annotations

from firstlight.analysis import provenance
from firstlight.analysis.verdict import Verified
from firstlight.core.units import significant
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import answers, frame, pictures
from firstlight.report.frame import Drawing, View
from firstlight.results.record import Field

HEAD = ("along the middle row", "electrons per unit volume")


def density(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Draw the middle plane of the finest grid; return nothing if no verified run left a picture."""
    seen = pictures.finest(view, answers.verified(view.selected(workload, plot)))
    if seen is None:
        return []
    figure, picture = seen
    caption = (
        "Electron density in the middle plane of the box, with two electrons in each computed state. "
        f"{picture.columns} x {picture.rows} points, averaged over boxes; the darker, the denser."
    )
    data = pictures.heat(picture, "point %{x:.0f} along z, %{y:.0f} along y")
    drawn = frame.layout(*pictures.axes(picture, "points along z", "points along y"))
    return [Drawing(name, _message(figure, picture), caption, HEAD, pictures.middle([picture]), [data], drawn)]


def _message(figure: Verified, picture: Field) -> str:
    wanted = dict(figure.identity.parameters)["wanted"]
    states = provenance.parameter(f"{wanted} states", figure, "a['wanted']", "states")
    most = provenance.number(significant(picture.largest), "largest(a)", of=(figure,))
    return f"The density of two electrons in each of {states} is at most {most} per unit volume"
