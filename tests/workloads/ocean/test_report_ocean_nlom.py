"""ocean_nlom: the sea at the end of a run and what the run wrote down of itself, drawn from its record."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from test_report_noise import Edit, drawings, judged

import shipped
from firstlight.model.catalogue import Plot
from firstlight.model.plan import Placement
from firstlight.report.frame import DIVERGING, Drawing
from firstlight.results.description import Metric
from firstlight.results.record import FINEST, Field, LaunchRecord, Series
from synthetic_figures import Point

RATE = Metric("update_rate", "Mcell/s", "elements", "rate", 1e-6, "higher")
DIARY = {
    "time": ("d", (0.0, 0.5, 1.0)),
    "mass": ("1", (0.0, -2e-16, 1e-16)),
    "energy": ("m^5/s^2", (8e14, 6e14, 4e14)),
    "enstrophy": ("m/s^2", (40.0, 41.0, 42.0)),
}


def sea(columns: int, largest: float) -> Field:
    """High in the south, low in the north."""
    values = tuple(
        tuple(FINEST - 2 * FINEST * j // (columns // 2) for _ in range(columns)) for j in range(columns // 2)
    )
    return Field(0, "surface", "m", columns // 2, columns, largest, values)


def kept(record: LaunchRecord, number: int) -> LaunchRecord:
    fields = tuple(replace(sea(int(str(c.parameters["nx"])), 2.5), case=c.case) for c in record.cases)
    series = tuple(
        Series(c.case, name, unit, 0, points) for c in record.cases for name, (unit, points) in DIARY.items()
    )
    return replace(record, fields=fields, series=series)


def seen(kind: str, edit: Edit = kept) -> list[Drawing]:
    points = [Point({"nx": nx, "diary": 10}, 2, {"elements": 1e6}, 0.0, 1e-1) for nx in (32, 64)]
    plot = Plot(kind, "nx", "update_rate", "variant")
    return drawings(*judged("ocean_nlom", (RATE,), [("serial", None, Placement(), points)], (plot,), edit))


def test_the_finest_sea_is_drawn_from_south_to_north() -> None:
    (drawing,) = seen("surface")
    (heat,) = drawing.data
    assert len(heat["z"][0]) == 64 and heat["z"][0][0] > 0 > heat["z"][-1][0] and heat["colorscale"] == DIVERGING
    assert (heat["zmin"], heat["zmax"]) == (-FINEST, FINEST)
    assert drawing.title == "The surface is up to 2.50 m above or below the sea at rest"
    assert {s.formula for s in drawing.title.sources} == {"largest(a)"}


def test_a_diary_is_drawn_over_its_first_entry() -> None:
    (drawing,) = seen("diary")
    energy, enstrophy = drawing.data
    assert energy["x"] == [0.0, 0.5, 1.0] and energy["y"] == [1.0, 0.75, 0.5]
    assert enstrophy["y"] == pytest.approx([1.0, 1.025, 1.05])
    assert drawing.title == "In 1.00 model days, the mass of the sea changes by at most a fraction of 2e-16"
    assert [row[0] for row in drawing.rows] == ["0", "0.500", "1.00"] and drawing.rows[2][1:3] == ("0.500", "1.05")


@pytest.mark.parametrize("kind", ["surface", "diary"])
def test_runs_that_left_nothing_draw_nothing(kind: str) -> None:
    assert seen(kind, lambda record, number: record) == []
    short = {name: points[:1] if name == "mass" else points for name, (_, points) in DIARY.items()}
    torn = tuple(Series(0, name, "", 0, points) for name, points in short.items())
    assert seen(kind, lambda record, number: replace(record, series=torn)) == []


def test_the_kinds_of_the_drawings_are_those_of_the_folder() -> None:
    assert {"surface", "diary"} <= {plot.kind for plot in shipped.workloads()["ocean_nlom"].plots}
