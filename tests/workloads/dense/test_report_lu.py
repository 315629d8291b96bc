"""lu: which tile column each thread had in hand, drawn from its record."""

from __future__ import annotations

from msgspec.structs import replace
from test_report_noise import Edit, drawings, judged

from firstlight.model.catalogue import Plot
from firstlight.model.plan import Placement
from firstlight.report.frame import Drawing
from firstlight.results.description import Metric
from firstlight.results.record import FINEST, Field, LaunchRecord
from synthetic_figures import Point

RATE = Metric("rate", "Gflop/s", "flops", "rate", 1e-9, "higher")
CASES = [{"n": 4000, "block": 192, "fixed": fixed, "noise": noise} for noise in (0, 10) for fixed in (0, 50, 100)]
TILES = ((-FINEST, 500, 0), (250, 0, FINEST))  # of two threads


def drawn(record: LaunchRecord, number: int) -> LaunchRecord:
    fields = [Field(case.case, "tiles", "", 2, 3, 21.0, TILES) for case in record.cases]
    return replace(record, fields=tuple(fields))


def seen(edit: Edit = drawn) -> list[Drawing]:
    points = [Point(case, 2, {"flops": 1e9}, 0.0, 1e-2) for case in CASES]
    plot = Plot("timeline", "fixed", "rate", "variant")
    return drawings(*judged("lu", (RATE,), [("omp", None, Placement(threads=2), points)], (plot,), edit))


def test_each_amount_of_noise_is_drawn_by_the_fixed_share() -> None:
    quiet, noisy = seen()
    assert quiet.title == "Fixed share of the tile columns: 0 %: 101 Gflop/s, 50 %: 101 Gflop/s, 100 %: 101 Gflop/s"
    assert noisy.title.startswith(
        "Fixed share of the tile columns, 10 % of each thread's time used by others: 0 %: 101 Gflop/s"
    )
    assert [s.formula for s in noisy.title.sources][:2] == ["a['noise']", "a['fixed']"]


def test_threads_lie_below_each_other_and_time_goes_to_the_right() -> None:
    quiet, _ = seen()
    first, _, last = quiet.data
    early, later = 0.2 * FINEST + 0.8 * 250, 0.2 * FINEST + 0.8 * 500
    assert first["z"] == [[FINEST, -later, 0], [-early, 0, -FINEST]] and last["yaxis"] == "y3"
    assert (first["y0"], first["dy"], first["dx"]) == (0.5, 1, 100 / 3)
    assert (
        quiet.layout["yaxis"]["range"] == [2, 0] and quiet.layout["xaxis3"]["title"]["text"] == "time (% of the step)"
    )


def test_nothing_is_drawn_where_nobody_left_a_picture() -> None:
    assert seen(lambda record, _: record) == []
