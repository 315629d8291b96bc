"""The drawing of himeno's rates by grid, from an invented run."""

from __future__ import annotations

import re

import pytest

from firstlight import heritage
from firstlight.catalogue import Plot
from firstlight.plan import Placement
from firstlight.record import Metric
from firstlight.report import plots
from firstlight.report.frame import Drawing, View
from firstlight.report.palette import Palette
from synthetic import Point
from test_report_noise import judged

RATE = Metric("rate", "Mflop/s", "flops", "rate", 1e-6, "higher")
POINTS = {"XS": 30 * 30 * 62, "S": 62 * 62 * 126, "M": 126 * 126 * 254}


def grids(rate: float, *names: str) -> list[Point]:
    """Runs at so many flop/s."""
    return [
        Point({"size": n}, 1, {"flops": 34.0 * POINTS.get(n, 1)}, 0.0, 34.0 * POINTS.get(n, 1) / rate) for n in names
    ]


def drawings(*cells: tuple[str, str | None, Placement, list[Point]]) -> list[Drawing]:
    judgement, known = judged("himeno", (RATE,), cells, (Plot("sizes", "size", "rate", "variant"),))
    return plots.draw(View(judgement, known, heritage.load(), Palette(judgement.run)), known["himeno"])


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
    told = (
        r"2 cores reach (8.9|9.0)\d Gflop/s on S and \S+ Gflop/s on M; 1 core reaches (5.9|6.0)\d Gflop/s on XS and \S+"
    )
    assert re.match(told, drawn.title), drawn.title


def test_what_was_published_stands_beside_them() -> None:
    (drawn,) = drawings(("serial", None, Placement(), grids(2e9, "XS", "M")))
    ghosts = [t for t in drawn.data if t.get("legendgroup") == "ghosts"]
    assert [t["y"][0] for t in ghosts] == [3900, 7800, 14900, 19200, 50000]
    assert all(t["x"] == [POINTS["XS"], POINTS["M"]] for t in ghosts)


def test_one_grid_makes_no_drawing() -> None:
    assert drawings(("serial", None, Placement(), grids(2e9, "M", "free"))) == []
