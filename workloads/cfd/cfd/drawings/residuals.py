"""Draw the residuals of the equations before each iteration, from a run's first iteration to its last."""

from __future__ import annotations

from itertools import takewhile

from firstlight.analysis import provenance
from firstlight.analysis.formatting import listing
from firstlight.analysis.verdict import Verified
from firstlight.core.units import significant
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import answers, frame, observed, sentence
from firstlight.report.frame import Drawing, Trace, View

from .slice import CASES

LEFT = {"momentum_left": "momentum", "mass_left": "mass", "scalars_left": "scalars"}
DASHES = ("solid", "dash", "dot")
MOST_POINTS = 400  # of a line
LEAST, MOST = 1e-18, 1e12  # what may be left; a flow of which more is left diverges
Histories = dict[str, tuple[float, ...]]  # by what is left


def draw(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Draw the finest grid of each case; return nothing if no verified run came to an end."""
    seen: list[tuple[str, Verified, Histories]] = []
    every = view.selected(workload, plot)
    for case in CASES:
        mine = [f for f in answers.verified(every) if ("case", case) in f.identity.parameters]
        with_histories = [(f, some) for f in mine if (some := _histories(view, f))]
        if with_histories:
            seen.append((case, *max(with_histories, key=lambda x: _cells(x[0]))))
    if not seen:
        return []
    title = sentence.capital(listing([_message(case, figure) for case, figure, _ in seen]))
    caption = (
        "Residuals of velocities, mass and scalars before each iteration, summed over all cells, relative to the "
        "flow. A run ends when the requested number of digits is reached. The vertical axis is logarithmic."
    )
    data = [_line(view, case, left, some[left]) for case, _, some in seen for left in some]
    drawn = frame.layout(
        {"title": {"text": "iterations"}, "rangemode": "tozero"},
        frame.log_axis("residual relative to the flow"),
    )
    return [Drawing(name, title, caption, frame.HEAD, frame.table(every), data, drawn)]


def _cells(figure: Verified) -> int:
    """Return the number of cells of a slice, along i and j; 0 if the parameters do not contain it."""
    parameters = dict(figure.identity.parameters)
    along, across = parameters.get("i"), parameters.get("j")
    return along * across if isinstance(along, int) and isinstance(across, int) else 0


def _histories(view: View, figure: Verified) -> Histories:
    """Return the histories of the last launch, each up to the first value that cannot be a residual (foreign data)."""
    windows = observed.windows(view, figure)
    series = windows[-1].ranks.get(0, {}) if windows else {}
    histories = {left: tuple(takewhile(lambda v: LEAST < v < MOST, series.get(left, ()))) for left in LEFT}
    return {left: values for left, values in histories.items() if values}


def _message(case: str, figure: Verified) -> str:
    digits = dict(figure.identity.parameters).get("digits")
    taken = f"{CASES[case].short} requires {provenance.median(figure)}"
    if not isinstance(digits, int):
        return taken
    down = provenance.parameter(str(digits), figure, "a['digits']")
    return f"{taken} for {down} digits"


def _line(view: View, case: str, left: str, values: tuple[float, ...]) -> Trace:
    step = max(1, len(values) // MOST_POINTS)
    whose = f"{CASES[case].short}: {LEFT[left]}"
    return {
        "type": "scatter", "mode": "lines", "name": frame.text(whose),
        "x": list(range(1, len(values) + 1, step)), "y": [float(significant(v)) for v in values[::step]],
        "hovertemplate": "%{y:.3g} before iteration %{x}",
        "line": {"color": view.palette.colour(case), "dash": DASHES[list(LEFT).index(left)], "width": 2},
    }  # fmt: skip
