"""The drawings of himeno, from invented runs: rates by grid, and sums of residuals."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace
from test_report_noise import judged

from firstlight.core import heritage
from firstlight.model.catalogue import Plot
from firstlight.model.plan import Placement
from firstlight.report import html, plots
from firstlight.report.frame import Drawing
from firstlight.results.description import Metric
from firstlight.results.record import LaunchRecord
from report_samples import view_of
from synthetic import Point

RATE = Metric("rate", "Mflop/s", "flops", "rate", 1e-6, "higher")
POINTS = {"XS": 30 * 30 * 62, "S": 62 * 62 * 126, "M": 126 * 126 * 254}


def grids(rate: float, *names: str) -> list[Point]:
    """Return runs at this many flop/s."""
    return [
        Point({"size": n}, 1, {"flops": 34.0 * POINTS.get(n, 1)}, 0.0, 34.0 * POINTS.get(n, 1) / rate) for n in names
    ]


def drawings(*cells: tuple[str, str | None, Placement, list[Point]]) -> list[Drawing]:
    judgement, known = judged("himeno", (RATE,), cells, (Plot("sizes", "size", "rate", "variant"),))
    return plots.draw(view_of(judgement, known), known["himeno"])


def test_a_line_for_each_number_of_cores_is_the_best_of_its_variants() -> None:
    (drawn,) = drawings(
        ("serial", None, Placement(), grids(2e9, "XS", "S", "M", "free")),
        ("simd", None, Placement(), grids(6e9, "XS", "M")),
        ("mpi_overlap", "mpich", Placement(1, 2, 1), grids(9e9, "S", "M")),
    )
    lines = {t["name"]: t for t in drawn.data if t["mode"] == "lines+markers"}
    assert {name: t["x"] for name, t in lines.items()} == {
        "2 cores": [POINTS["S"], POINTS["M"]],
        "1 core": [POINTS["XS"], POINTS["S"], POINTS["M"]],
    }
    assert lines["1 core"]["y"] == pytest.approx([6000, 2000, 6000], rel=0.02)
    assert drawn.layout["xaxis"]["ticktext"] == ["XS", "S", "M"]
    title = (
        r"2 cores reach (8.9|9.0)\d Gflop/s on S and \S+ Gflop/s on M; 1 core reaches (5.9|6.0)\d Gflop/s on XS and \S+"
    )
    assert re.match(title, drawn.title), drawn.title


def test_what_was_published_stands_beside_them() -> None:
    (drawn,) = drawings(("serial", None, Placement(), grids(2e9, "XS", "M")))
    ghosts = [t for t in drawn.data if t.get("legendgroup") == "ghosts"]
    assert [t["y"][0] for t in ghosts] == [3900, 7800, 14900, 19200, 50000]
    assert all(t["x"] == [POINTS["XS"], POINTS["M"]] for t in ghosts)


def test_one_grid_makes_no_drawing() -> None:
    assert drawings(("serial", None, Placement(), grids(2e9, "M", "free"))) == []


SUMS = {"gosa": 1.693459e-3, "gosa_exact": 1.692174e-3, "gosa_official": 1.733593e-3}
VALUES = tuple(Metric(name, "1", name, "value", 1, "lower") for name in SUMS)


def residuals(*cells: tuple[str, str | None, Placement, list[Point]], zero: str = "") -> list[Drawing]:
    """Return the drawings of runs that found these sums on M, and equal sums on S."""

    def found(record: LaunchRecord, number: int) -> LaunchRecord:
        sizes = {c.case: c.parameters["size"] for c in record.cases}
        seen = {"M": SUMS | dict.fromkeys([zero] if zero else [], 0.0), "S": dict.fromkeys(SUMS, 3.295448e-3)}
        samples = (
            replace(s, values={k: (v, v, v) for k, v in seen[str(sizes[s.case])].items()}) for s in record.samples
        )
        return replace(record, samples=tuple(samples))

    plot = Plot("residuals", "size", "gosa", "variant", subject="sum of residuals")
    judgement, known = judged("himeno", (RATE, *VALUES), cells, (plot,), found)
    html.render(judgement, known, heritage.load())  # the sentence is traced to its numbers
    return plots.draw(view_of(judgement, known), known["himeno"])


def three_sweeps(*names: str) -> list[Point]:
    return [p._replace(parameters=p.parameters | {"sweeps": 3}) for p in grids(2e9, *names)]


def test_the_official_sum_stands_beside_the_exact_one() -> None:
    (drawn,) = residuals(("simd", None, Placement(), three_sweeps("M", "S")))
    assert drawn.title == "Sum of residuals: after 3 sweeps on M, the official value is 1.02 x the exact value"
    assert [s.formula for s in drawn.title.sources] == ["a['sweeps']", "a / b"]
    assert drawn.rows == [
        ("S", "3", "3.295448e-03", "3.295448e-03", "3.295448e-03", "1.000"),
        ("M", "3", "1.693459e-03", "1.692174e-03", "1.733593e-03", "1.024"),
    ]


def test_sums_of_several_processes_and_sums_that_are_none_are_no_official_ones() -> None:
    assert residuals(("mpi_overlap", "mpich", Placement(1, 2, 1), three_sweeps("M"))) == []
    assert residuals(("simd", None, Placement(), three_sweeps("M")), zero="gosa_exact") == []
