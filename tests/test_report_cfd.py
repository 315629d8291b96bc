"""cfd: the middle layer of a flow, drawn from its record."""

from __future__ import annotations

from msgspec.structs import replace

import shipped
from firstlight.catalogue import Plot
from firstlight.plan import Placement
from firstlight.record import FINEST, Field, LaunchRecord, Metric
from firstlight.report.frame import DIVERGING, Drawing
from synthetic_figures import Point
from test_report_noise import Edit, drawings, judged

TIME = Metric("time", "s", "operations", "time", 1, "lower")
CASES = [{"case": case, "i": i, "iterations": 0} for case, i in (("cavity", 32), ("combustor", 48), ("combustor", 96))]


def layer(columns: int, largest: float = 4.0) -> Field:
    """Half as high as it is long: nothing but a hot, or fast, middle row."""
    rows = columns // 2
    values = tuple(tuple(FINEST if j == rows // 2 else 0 for _ in range(columns)) for j in range(rows))
    return Field(0, "temperature", "", rows, columns, largest, values)


def drawn(record: LaunchRecord, number: int) -> LaunchRecord:
    return replace(record, fields=tuple(replace(layer(int(str(c.parameters["i"]))), case=c.case) for c in record.cases))


def seen(edit: Edit = drawn) -> list[Drawing]:
    points = [Point(case, 2, {"operations": 1.0}, 0.0, 1e-4) for case in CASES]
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
        "A flame gets 4.00 times as hot as the air that enters; "
        "a lid drags what is below it along with up to 4.00 of its speed"
    )
    assert {s.formula for s in drawing.title.sources} == {"largest(a)"}


def test_runs_that_left_no_picture_draw_none() -> None:
    assert seen(lambda record, number: record) == []
    assert seen(lambda record, number: replace(record, fields=(replace(layer(32, 0.0), case=0),))) == []


def test_the_kind_of_the_drawing_is_one_that_the_folder_has() -> None:
    assert any(plot.kind == "slice" for plot in shipped.workloads()["cfd"].plots)
