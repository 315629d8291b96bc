"""Draw the field at the end of a run, in absorbing layers and in a closed box."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from firstlight.analysis import provenance
from firstlight.analysis.verdict import Verified
from firstlight.core.units import significant
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import answers, pictures
from firstlight.report.frame import Drawing, Trace, View
from firstlight.results.record import FINEST, Field

PICTURES = {"cpml": "a pulse in absorbing layers", "cavity": "a mode between walls"}
FAINT = FINEST // 20  # what is below it has no sign to count
Seen = tuple[str, Verified, Field]


def draw(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Draw the largest grid of each problem, side by side; return nothing if no verified run left a picture."""
    seen: list[Seen] = []
    figures = answers.verified(view.selected(workload, plot))
    for problem, words in PICTURES.items():
        found = pictures.finest(view, (f for f in figures if ("problem", problem) in f.identity.parameters))
        if found is not None:
            seen.append((words, *found))
    if not seen:
        return []
    title = "; ".join(_message(f, picture) for _, f, picture in seen)
    descriptions = ". ".join(_describe(words, picture) for words, _, picture in seen)
    caption = (
        "Ez at the end of a run, averaged over boxes of cells, relative to the largest value of each picture. Orange "
        f"is positive, and blue is negative. {descriptions}. The absorbing layers begin at the dotted line."
    )
    data = [_heat(picture, k, k == len(seen) - 1) for k, (_, _, picture) in enumerate(seen)]
    head = ("along the middle row, from one end to the other", *(f"Ez of {words}" for words, _, _ in seen))
    rows = pictures.middle([picture for _, _, picture in seen])
    return [Drawing(name, title[:1].upper() + title[1:], caption, head, rows, data, _drawn(seen))]


def _message(figure: Verified, picture: Field) -> str:
    steps = provenance.parameter(str(_parameter(figure, "steps")), figure, "a['steps']")
    if ("problem", "cpml") in figure.identity.parameters:
        left = provenance.number(significant(picture.largest), "largest(a)", of=(figure,))
        return f"after {steps} time steps a pulse has left through absorbing layers, and |Ez| is at most {left}"
    waves = [provenance.number(str(half_waves(picture, k)), f"half_waves(a, {k})", of=(figure,)) for k in (0, 1)]
    return f"after {steps} a closed box contains {waves[0]} by {waves[1]} half waves"


def _parameter(figure: Verified, name: str) -> int:
    value = dict(figure.identity.parameters).get(name, 0)
    return value if isinstance(value, int) else 0


def half_waves(picture: Field, dimension: int) -> int:
    """Return the number of stretches of one sign along that dimension, through the largest value."""
    rows = picture.values
    i, j = max(((i, j) for i in range(len(rows)) for j in range(len(rows[0]))), key=lambda at: abs(rows[at[0]][at[1]]))
    line = [row[j] for row in rows] if dimension == 0 else rows[i]
    signs = [x > 0 for x in line if abs(x) >= FAINT]
    return 1 + sum(a != b for a, b in pairwise(signs))


def _describe(words: str, picture: Field) -> str:
    size = f"{picture.rows} x {picture.columns} cells"
    return f"{words[:1].upper() + words[1:]}: {size}, the largest |Ez| is {significant(picture.largest)}"


def _drawn(seen: list[Seen]) -> dict[str, Any]:
    """Return the layout: axes count cells; rows, along i, go down. A dotted line encloses the area between layers."""
    axes = [pictures.axes(picture, "cells along j", "cells along i", downwards=True) for _, _, picture in seen]
    drawn = pictures.beside([(words, both) for (words, _, _), both in zip(seen, axes, strict=True)])
    for k, (_, figure, picture) in enumerate(seen):
        own, layers = pictures.numbered(k), _parameter(figure, "layers")
        if ("problem", "cpml") in figure.identity.parameters:
            drawn["shapes"].append(
                {"type": "rect", "xref": f"x{own}", "yref": f"y{own}", "x0": layers, "x1": picture.columns - layers,
                 "y0": layers, "y1": picture.rows - layers, "line": {"color": "@ghost", "width": 1, "dash": "dot"}}
            )  # fmt: skip
    return drawn


def _heat(picture: Field, number: int, last: bool) -> Trace:
    ticks = {"tickvals": [-FINEST, 0, FINEST], "ticktext": ["-1", "0", "1"]}
    bar = {"title": {"text": "Ez, of the<br>largest"}, **ticks}
    drawn = pictures.heat(picture, "i = %{y:.0f}, j = %{x:.0f}", signed=True, number=number)
    return drawn | {"showscale": last, "colorbar": bar}
