"""Field: the field as a run left it, in absorbing layers and in a closed box."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from firstlight.catalogue import Plot, Workload
from firstlight.judge import sourced
from firstlight.judge.verdict import Verified
from firstlight.record import FINEST, Field
from firstlight.report import answers, frame, observed
from firstlight.report.frame import Drawing, Trace, View
from firstlight.units import significant

PICTURES = {"cpml": "a pulse in absorbing layers", "cavity": "a mode between walls"}
FAINT = FINEST // 20  # what is below it has no sign to count
MOST_ROWS = 24


def draw(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """The pictures beside each other, of the largest grid of each problem; none where no verified run left one."""
    seen = []
    for problem, words in PICTURES.items():
        mine = [
            f for f in answers.verified(view.selected(workload, plot)) if ("problem", problem) in f.identity.parameters
        ]
        drawn = [(f, picture) for f in mine if (picture := observed.field(view, f)) is not None and picture.largest > 0]
        if drawn:
            seen.append((words, *max(drawn, key=lambda x: x[1].rows)))
    if not seen:
        return []
    title = "; ".join(_message(f, picture) for _, f, picture in seen)
    pictures = ". ".join(_said(words, picture) for words, _, picture in seen)
    caption = (
        "Ez at the end of a run, as means over boxes of cells; each picture is in shares of its own largest value, "
        f"orange above zero and blue below. {pictures}. Layers begin at the dotted line."
    )
    data = [_heat(picture, k, k == len(seen) - 1) for k, (_, _, picture) in enumerate(seen)]
    return [Drawing(name, title[:1].upper() + title[1:], caption, _head(seen), _rows(seen), data, _layout(seen))]


Seen = tuple[str, Verified, Field]


def _message(figure: Verified, picture: Field) -> str:
    steps = sourced.parameter(str(_parameter(figure, "steps")), figure, "a['steps']")
    if ("problem", "cpml") in figure.identity.parameters:
        left = sourced.number(significant(picture.largest), "largest(a)", of=(figure,))
        return f"after {steps} time steps a pulse runs out through absorbing layers, |Ez| is {left} at most"
    waves = [sourced.number(str(half_waves(picture, k)), f"half_waves(a, {k})", of=(figure,)) for k in (0, 1)]
    return f"after {steps} a closed box holds {waves[0]} by {waves[1]} half waves"


def _parameter(figure: Verified, name: str) -> int:
    value = dict(figure.identity.parameters).get(name, 0)
    return value if isinstance(value, int) else 0


def half_waves(picture: Field, dimension: int) -> int:
    """How many stretches of one sign there are along that dimension, through the largest value."""
    rows = picture.values
    i, j = max(((i, j) for i in range(len(rows)) for j in range(len(rows[0]))), key=lambda at: abs(rows[at[0]][at[1]]))
    line = [row[j] for row in rows] if dimension == 0 else rows[i]
    signs = [x > 0 for x in line if abs(x) >= FAINT]
    return 1 + sum(a != b for a, b in pairwise(signs))


def _said(words: str, picture: Field) -> str:
    size = f"{picture.rows} x {picture.columns} cells"
    return f"{words[:1].upper() + words[1:]}: {size}, the largest |Ez| is {significant(picture.largest)}"


def _heat(picture: Field, number: int, last: bool) -> Trace:
    """Cells count along both axes; rows, along i, go down."""
    own = "" if number == 0 else str(number + 1)
    high, wide = picture.rows / len(picture.values), picture.columns / len(picture.values[0])
    ticks = {"tickvals": [-FINEST, 0, FINEST], "ticktext": ["-1", "0", "1"]}
    bar = {"title": {"text": "Ez, of the<br>largest"}, "thickness": 12, **ticks}
    return {
        "type": "heatmap", "xaxis": f"x{own}", "yaxis": f"y{own}", "z": [list(row) for row in picture.values],
        "x0": wide / 2, "dx": wide, "y0": high / 2, "dy": high, "zmin": -FINEST, "zmax": FINEST,
        "colorscale": frame.DIVERGING, "showscale": last, "colorbar": bar,
        "hovertemplate": "i = %{y:.0f}, j = %{x:.0f}: %{z} / 999 of the largest<extra></extra>",
    }  # fmt: skip


def _layout(seen: list[Seen]) -> dict[str, Any]:
    """Side by side; on a phone below each other."""
    drawn: dict[str, Any] = {"height": 430, "annotations": [], "shapes": []}
    narrow: dict[str, Any] = {"height": 90 + 310 * len(seen)}
    plain = {"showgrid": False, "zeroline": False, "constrain": "domain", "mirror": True, "showline": True}
    for k, (words, figure, picture) in enumerate(seen):
        own, share = "" if k == 0 else str(k + 1), 1 / len(seen)
        across = plain | {"title": {"text": "cells along j"}, "range": [0, picture.columns], "anchor": f"y{own}"}
        down = plain | {"title": {"text": "cells along i"}, "range": [picture.rows, 0], "anchor": f"x{own}"}
        down |= {"scaleanchor": f"x{own}"}
        drawn[f"xaxis{own}"] = across | {"domain": [k * share, (k + 0.87) * share]}
        drawn[f"yaxis{own}"] = down if k == 0 else down | {"title": {"text": ""}}
        narrow[f"xaxis{own}"] = across
        narrow[f"yaxis{own}"] = down | {"domain": [1 - (k + 0.78) * share, 1 - k * share]}
        drawn["annotations"].append(
            {"xref": f"x{own} domain", "yref": f"y{own} domain", "x": 0.5, "y": 1, "yanchor": "bottom",
             "showarrow": False, "text": frame.text(words)}
        )  # fmt: skip
        layers = _parameter(figure, "layers")
        if ("problem", "cpml") in figure.identity.parameters:
            drawn["shapes"].append(
                {"type": "rect", "xref": f"x{own}", "yref": f"y{own}", "x0": layers, "x1": picture.columns - layers,
                 "y0": layers, "y1": picture.rows - layers, "line": {"color": "@ghost", "width": 1, "dash": "dot"}}
            )  # fmt: skip
    return drawn | {"narrow": narrow}


def _head(seen: list[Seen]) -> tuple[str, ...]:
    return ("along the middle row, from one end to the other", *(f"Ez of {words}" for words, _, _ in seen))


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
