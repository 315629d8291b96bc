"""fdtd2d: the field that a run left, drawn from its record."""

from __future__ import annotations

import math

import pytest
from msgspec.structs import replace
from test_report_noise import Edit, drawings, judged

import shipped
from firstlight.analysis import Judgement
from firstlight.model.catalogue import Plot, Workload
from firstlight.model.plan import Placement
from firstlight.report import pictures
from firstlight.report.frame import DIVERGING, Drawing
from firstlight.results.description import Metric
from firstlight.results.record import FINEST, Field, LaunchRecord
from synthetic_figures import Point

field = shipped.module("fdtd2d", "field")

RATE = Metric("update_rate", "Gcell/s", "elements", "rate", 1e-9, "higher")
CASES = [{"problem": p, "n": n, "steps": 152, "layers": 10, "bits": 64} for p, n in (("cavity", 96), ("cpml", 200))]


def wave(rows: int, columns: int, largest: float = 0.5) -> Field:
    """3 by 2 half waves."""
    high, wide = min(rows, 96), min(columns, 96)
    values = tuple(
        tuple(
            round(FINEST * math.sin(3 * math.pi * (i + 0.5) / high) * math.sin(2 * math.pi * (j + 0.5) / wide))
            for j in range(wide)
        )
        for i in range(high)
    )
    return Field(0, "ez", "", rows, columns, largest, values)


def drawn(record: LaunchRecord, number: int) -> LaunchRecord:
    fields = [replace(wave(n, n), case=c.case) for c in record.cases if (n := int(c.parameters["n"]))]
    return replace(record, fields=tuple(fields))


def judgement(edit: Edit = drawn) -> tuple[Judgement, dict[str, Workload]]:
    points = [Point(case, 2, {"elements": 1e6}, 0.0, 1e-4) for case in CASES]
    plot = Plot("field", "n", "update_rate", "variant")
    return judged("fdtd2d", (RATE,), [("serial", None, Placement(), points)], (plot,), edit)


def seen(edit: Edit = drawn) -> list[Drawing]:
    return drawings(*judgement(edit))


def test_the_title_says_what_the_pictures_show() -> None:
    (drawing,) = seen()
    assert drawing.title == (
        "After 152 time steps a pulse has left through absorbing layers, and |Ez| is at most 0.500; "
        "after 152 a closed box contains 3 by 2 half waves"
    )
    assert [s.formula for s in drawing.title.sources] == [
        "a['steps']", "largest(a)", "a['steps']", "half_waves(a, 0)", "half_waves(a, 1)",
    ]  # fmt: skip


def test_the_pictures_stand_in_cells_around_nothing() -> None:
    (drawing,) = seen()
    pulse, mode = drawing.data
    assert (pulse["x0"], pulse["dx"], mode["x0"], mode["dx"]) == (100 / 96, 200 / 96, 0.5, 1)
    assert {(t["zmin"], t["zmax"]) for t in drawing.data} == {(-FINEST, FINEST)}
    assert all(t["colorscale"] == DIVERGING for t in drawing.data)
    assert drawing.layout["xaxis"]["range"] == [0, 200] and drawing.layout["yaxis2"]["range"] == [96, 0]
    (layers,) = drawing.layout["shapes"]
    assert (layers["x0"], layers["x1"]) == (10, 190)
    assert len(drawing.rows) == pictures.MOST_ROWS and len(drawing.rows[0]) == len(drawing.head) == 3


@pytest.mark.parametrize("dimension", [0, 1])
def test_half_waves_are_counted_through_the_largest_value(dimension: int) -> None:
    assert field.half_waves(wave(96, 96), dimension) == (3, 2)[dimension]
    assert field.half_waves(wave(5, 40), 1) == 2


def test_a_run_without_pictures_or_with_empty_ones_draws_none() -> None:
    def empty(record: LaunchRecord, number: int) -> LaunchRecord:
        return replace(record, fields=tuple(replace(f, largest=0.0) for f in drawn(record, number).fields))

    assert seen(lambda record, number: record) == [] and seen(empty) == []


def test_two_runs_of_one_size_need_no_order() -> None:
    points = [Point(case, 2, {"elements": 1e6}, 0.0, 1e-4) for case in CASES]
    runs = [("serial", None, Placement(), points), ("mpi_overlap", "openmpi", Placement(ranks=2), points)]
    (drawing,) = drawings(*judged("fdtd2d", (RATE,), runs, (Plot("field", "n", "update_rate", "variant"),), drawn))
    assert len(drawing.data) == len(CASES)
