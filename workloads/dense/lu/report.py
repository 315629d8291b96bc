"""Draw lu: the tile column that each thread works on, over the time of a step (`timeline`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from firstlight.analysis import provenance
from firstlight.analysis.verdict import Verified
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import answers, frame, observed
from firstlight.report.frame import Drawing, Trace, View
from firstlight.results.record import FINEST, Field

MOST = 4  # shares side by side
LEAST = 0.2  # of the darkest: the first tile column, which is not to look like none

Seen = tuple[Verified, Field]


def timeline(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Return one drawing for each amount of noise, with a picture for each fixed share and a stripe for each thread.
    Return nothing if no verified run left a picture.
    """
    every = answers.verified(view.selected(workload, plot))
    made = []
    for k, noise in enumerate(sorted({_parameter(f, "noise") for f in every})):
        some = [f for f in every if _parameter(f, "noise") == noise]
        seen = [(f, p) for f in some if (p := observed.field(view, f)) is not None and p.largest > 0]
        seen = sorted(seen, key=lambda x: _parameter(x[0], plot.x))[:MOST]
        if seen:
            made.append(_drawing(f"{name}-{k}", plot, noise, seen))
    return made


def _drawing(name: str, plot: Plot, noise: int, seen: Sequence[Seen]) -> Drawing:
    results = ", ".join(
        f"{provenance.parameter(f'{_parameter(f, plot.x)} %', f, f'a[{plot.x!r}]', '%')}: {provenance.median(f)}"
        for f, _ in seen
    )
    share = provenance.parameter(f"{noise} %", seen[0][0], "a['noise']", "%")
    taken = f", {share} of each thread's time used by others" if noise else ""
    caption = (
        "Work of each thread during the last step, from its start to its end. Blue: the thread updates a tile column; "
        "orange: it factors a tile column; white: it waits or is interrupted. Later columns are darker."
    )
    data = [_stripes(picture, k) for k, (_, picture) in enumerate(seen)]
    rows = frame.table([f for f, _ in seen])
    return Drawing(
        name, f"Fixed share of the tile columns{taken}: {results}", caption, frame.HEAD, rows, data, _layout(plot, seen)
    )


def _parameter(figure: Verified, name: str) -> int:
    value = dict(figure.identity.parameters).get(name, 0)
    return value if isinstance(value, int) else 0


def _shade(tile: int) -> float:
    """Return a shade: darker for later tile columns; factored ones, which are less than 0, have the other colour."""
    return -math.copysign(LEAST * FINEST + (1 - LEAST) * abs(tile), tile) if tile else 0


def _stripes(picture: Field, number: int) -> Trace:
    own = "" if number == 0 else str(number + 1)
    return {
        "type": "heatmap", "xaxis": f"x{own}", "yaxis": f"y{own}",
        "z": [[_shade(x) for x in row] for row in picture.values],
        "x0": 50 / len(picture.values[0]), "dx": 100 / len(picture.values[0]),
        "y0": 0.5 * picture.rows / len(picture.values), "dy": picture.rows / len(picture.values),
        "zmin": -FINEST, "zmax": FINEST, "colorscale": frame.DIVERGING, "showscale": False,
        "hovertemplate": "thread %{y:.0f}, %{x:.0f} % of the time<extra></extra>",
    }  # fmt: skip


def _layout(plot: Plot, seen: Sequence[Seen]) -> dict[str, Any]:
    """Return the layout of pictures one below the other."""
    drawn: dict[str, Any] = {"annotations": []}
    plain = {"showgrid": False, "zeroline": False, "showline": True}
    share = 1 / len(seen)
    for k, (figure, picture) in enumerate(seen):
        own = "" if k == 0 else str(k + 1)
        title = "time (% of the step)" if k + 1 == len(seen) else ""
        drawn[f"xaxis{own}"] = plain | {"title": {"text": title}, "range": [0, 100]}
        drawn[f"yaxis{own}"] = plain | {
            "title": {"text": "thread"}, "range": [picture.rows, 0], "showticklabels": False,
            "domain": [1 - (k + 0.72) * share, 1 - k * share],
        }  # fmt: skip
        drawn["annotations"].append(
            {"xref": f"x{own} domain", "yref": f"y{own} domain", "x": 0.5, "y": 1, "yanchor": "bottom",
             "text": frame.text(f"{_parameter(figure, plot.x)} % fixed")}
        )  # fmt: skip
    return drawn
