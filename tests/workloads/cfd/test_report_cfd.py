"""cfd: the middle layer of a flow, and what was left of its equations on the way, drawn from its record."""

from __future__ import annotations

from msgspec.structs import replace
from test_report_noise import Edit, drawings, judged

import shipped
from firstlight.core import heritage
from firstlight.model.catalogue import Plot
from firstlight.model.plan import Placement
from firstlight.report.frame import DIVERGING, Drawing
from firstlight.results.description import Metric
from firstlight.results.record import FINEST, Field, LaunchRecord, Series
from synthetic_figures import Point

TIME = Metric("time", "s", "operations", "time", 1, "lower")
CASES: list[dict[str, str | int | float]] = [
    {"case": case, "i": i, "iterations": 0} for case, i in (("cavity", 32), ("combustor", 48), ("combustor", 96))
]


def layer(columns: int, largest: float = 4.0) -> Field:
    """Half as high as it is long: nothing but a hot, or fast, middle row."""
    rows = columns // 2
    values = tuple(tuple(FINEST if j == rows // 2 else 0 for _ in range(columns)) for j in range(rows))
    return Field(0, "temperature", "", rows, columns, largest, values)


def drawn(record: LaunchRecord, number: int) -> LaunchRecord:
    return replace(record, fields=tuple(replace(layer(int(str(c.parameters["i"]))), case=c.case) for c in record.cases))


def seen(edit: Edit = drawn, cases: list[dict[str, str | int | float]] = CASES) -> list[Drawing]:
    points = [Point(case, 2, {"operations": 1.0}, 0.0, 1e-4) for case in cases]
    plot = Plot("slice", "i", "time", "variant")
    return drawings(*judged("cfd", (TIME,), [("serial", None, Placement(), points)], (plot,), edit))


def test_the_finest_grid_of_each_case_is_drawn_with_the_inlet_on_the_left_and_south_below() -> None:
    (drawing,) = seen()
    flame, lid = drawing.data
    assert (len(flame["z"][0]), len(lid["z"][0])) == (96, 32)
    assert drawing.layout["xaxis"]["range"] == [0, 96] and drawing.layout["yaxis"]["range"] == [0, 48]
    assert (flame["zmin"], lid["zmin"]) == (0, -FINEST) and lid["colorscale"] == DIVERGING
    assert drawing.rows[0][0] == "2 %" and {row[1] for row in drawing.rows} == {"4.00"}


def test_its_title_says_how_hot_and_how_fast() -> None:
    (drawing,) = seen()
    assert drawing.title == (
        "A flame reaches 4.00 times the temperature of the entering air; "
        "the lid drags the fluid along, at up to 4.00 of the lid's speed"
    )
    assert {s.formula for s in drawing.title.sources} == {"largest(a)"}


def test_the_flow_behind_a_step_is_drawn_by_itself_where_nothing_else_ran() -> None:
    (drawing,) = seen(cases=[{"case": "step", "i": 60, "iterations": 0}])
    assert drawing.title == "The maximum inflow above the step is 4.00 times the mean"
    assert len(drawing.data) == 1


def test_runs_that_left_no_picture_draw_none() -> None:
    assert seen(lambda record, number: record) == []
    assert seen(lambda record, number: replace(record, fields=(replace(layer(32, 0.0), case=0),))) == []


ITERATIONS = Metric("iterations", "iterations", "iterations", "value", 1, "lower")
HISTORIES = {
    "momentum_left": tuple(0.5**n for n in range(1000)),
    "mass_left": tuple(0.25**n for n in range(1000)),
    "scalars_left": (4.0, 2.0, 0.0, 1.0),
}


def observing(record: LaunchRecord, number: int) -> LaunchRecord:
    """Return 120 iterations of a lid and 240 of a flame; only the flame has scalars."""
    taken = {c.case: 120.0 if c.parameters["case"] == "cavity" else 240.0 for c in record.cases}
    series = [
        Series(c.case, name, "1", 0, values[: int(taken[c.case])])
        for c in record.cases
        for name, values in HISTORIES.items()
        if name != "scalars_left" or c.parameters["case"] != "cavity"
    ]
    samples = [replace(s, values=s.values | {"iterations": (taken[s.case],) * 3}) for s in record.samples]
    return replace(record, series=tuple(series), samples=tuple(samples))


def left(edit: Edit = observing) -> list[Drawing]:
    points = [Point(case | {"j": case["i"], "digits": 6}, 2, {"operations": 1.0}, 0.0, 1e-4) for case in CASES]
    plot = Plot("residuals", "i", "iterations", "variant")
    return drawings(*judged("cfd", (ITERATIONS,), [("serial", None, Placement(), points)], (plot,), edit))


def test_what_is_left_is_a_line_for_each_kind_of_equations() -> None:
    (drawing,) = left()
    assert [line["name"].rpartition(": ")[2] for line in drawing.data] == [
        *("momentum", "mass", "scalars"),
        *("momentum", "mass"),
    ]
    assert drawing.title == (
        "A flame requires 240 iterations for 6 digits and a lid-driven cavity requires 120 iterations for 6 digits"
    )
    momentum, mass, scalars, *_ = drawing.data
    assert momentum["x"][:2] == [1, 2] and momentum["y"][:2] == [1.0, 0.5] and drawing.layout["yaxis"]["type"] == "log"
    assert (len(momentum["x"]), len(mass["x"]), len(scalars["x"])) == (60, 30, 2)  # down to 1e-18, and to nothing


def test_runs_that_told_no_history_draw_none() -> None:
    assert left(lambda record, number: replace(observing(record, number), series=())) == []


def test_what_was_published_of_eight_processors_is_drawn_beside_the_same_solver() -> None:
    published = heritage.load().matching("cfd", "rate")
    for plot in shipped.workloads()["cfd"].plots:
        if plot.kind == "scaling":
            (same,) = [e for e in published if all(e.parameters.get(k, v) == v for k, v in plot.where.items())]
            assert (same.ranks, same.parameters["size"]) == (8, "B")


def test_the_kinds_of_drawings_are_those_that_the_folder_has() -> None:
    assert {"slice", "residuals"} <= {plot.kind for plot in shipped.workloads()["cfd"].plots}
