"""rsdft: the density of electrons, drawn from its record."""

from __future__ import annotations

from msgspec.structs import replace
from test_report_noise import Edit, drawings, judged

import shipped
from firstlight.model.catalogue import Plot
from firstlight.model.plan import Placement
from firstlight.report.frame import Drawing
from firstlight.results.description import Metric
from firstlight.results.record import FINEST, Field, LaunchRecord
from synthetic_figures import Point

RATE = Metric("rate", "Gflop/s", "flops", "rate", 1e-9, "higher")


def cloud(n: int) -> Field:
    """Return a cloud that is denser to the right, in the middle row only."""
    values = tuple(tuple(FINEST * k // (n - 1) if j == n // 2 else 0 for k in range(n)) for j in range(n))
    return Field(0, "density", "electrons a volume of 1", n, n, 0.5, values)


def drawn(record: LaunchRecord, number: int) -> LaunchRecord:
    return replace(record, fields=tuple(replace(cloud(int(str(c.parameters["n"]))), case=c.case) for c in record.cases))


def seen(edit: Edit = drawn) -> list[Drawing]:
    points = [Point({"n": n, "wanted": 10}, 2, {"flops": 1e9}, 0.0, 1e-2) for n in (17, 41)]
    plot = Plot("density", "n", "rate", "variant")
    return drawings(*judged("rsdft", (RATE,), [("simd", None, Placement(), points)], (plot,), edit))


def test_the_density_on_the_finest_grid_is_drawn() -> None:
    (drawing,) = seen()
    (heat,) = drawing.data
    assert len(heat["z"]) == 41 and heat["z"][20][0] == 0 and heat["z"][20][-1] == FINEST
    assert (heat["zmin"], heat["zmax"]) == (0, FINEST) and drawing.layout["xaxis"]["range"] == [0, 41]
    assert drawing.title == "The density of two electrons in each of 10 states is at most 0.500 per unit volume"
    assert [s.formula for s in drawing.title.sources] == ["a['wanted']", "largest(a)"]
    assert drawing.rows[0][1] == "0" and float(drawing.rows[-1][1]) == 0.5


def test_runs_that_left_no_picture_draw_nothing() -> None:
    assert seen(lambda record, number: record) == []


def test_the_kind_of_the_drawing_is_that_of_the_folder() -> None:
    assert "density" in {plot.kind for plot in shipped.workloads()["rsdft"].plots}
