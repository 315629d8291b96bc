"""Draw the middle layer: the temperature of the flame in the combustor, and the velocity in the cavity and behind the
step.
"""

from __future__ import annotations

from typing import NamedTuple

from firstlight.analysis import provenance
from firstlight.analysis.verdict import Verified
from firstlight.core.units import significant
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import answers, pictures
from firstlight.report.frame import Drawing, View
from firstlight.results.record import Field


class Named(NamedTuple):
    """The words for a case: `short` in a title and over its picture, and `drawn`, the quantity that is drawn."""

    short: str
    drawn: str


CASES = {
    "combustor": Named("a flame", "Temperature relative to the entering air"),
    "cavity": Named("a lid-driven cavity", "Velocity relative to the velocity of the lid"),
    "step": Named("flow downstream of a step", "Velocity along the channel, relative to the mean inflow"),
}
Seen = tuple[str, Verified, Field]


def draw(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Draw the finest grid of each case, side by side; return nothing if no verified run left a picture."""
    seen: list[Seen] = []
    figures = answers.verified(view.selected(workload, plot))
    for case in CASES:
        found = pictures.finest(view, (f for f in figures if ("case", case) in f.identity.parameters))
        if found is not None:
            seen.append((case, *found))
    if not seen:
        return []
    title = "; ".join(_message(*each) for each in seen)
    descriptions = ". ".join(
        f"{CASES[case].drawn}: {picture.columns} x {picture.rows} cells, {significant(picture.largest)} at most"
        for case, _, picture in seen
    )
    caption = f"The middle layer of converged flows, averaged over boxes of cells. {descriptions}."
    data = [  # south is below, the flow enters on the left
        pictures.heat(picture, "i = %{x:.0f}, j = %{y:.0f}", signed=case != "combustor", number=k)
        for k, (case, _, picture) in enumerate(seen)
    ]
    drawn = pictures.beside(
        [(CASES[case].short, pictures.axes(picture, "cells along i", "cells along j")) for case, _, picture in seen]
    )
    head = ("along the middle row, from west to east", *(CASES[case].drawn for case, _, _ in seen))
    rows = pictures.middle([picture for _, _, picture in seen])
    return [Drawing(name, title[:1].upper() + title[1:], caption, head, rows, data, drawn)]


def _message(case: str, figure: Verified, picture: Field) -> str:
    largest = provenance.number(significant(picture.largest), "largest(a)", of=(figure,))
    if case == "combustor":
        return f"a flame reaches {largest} times the temperature of the entering air"
    if case == "cavity":
        return f"the lid drags the fluid along, at up to {largest} of the lid's speed"
    return f"the maximum inflow above the step is {largest} times the mean"
