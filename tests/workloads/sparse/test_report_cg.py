"""The drawing of cg from invented runs compares the residual b - A x with that of the recurrence."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from test_report_noise import drawings, judged

from firstlight.model.catalogue import Plot
from firstlight.model.plan import Placement
from firstlight.report.frame import Drawing
from firstlight.results.description import Metric
from firstlight.results.record import LaunchRecord
from synthetic import Point

VALUES = tuple(Metric(name, "1", name, "value", 1, "lower") for name in ("residual", "true_residual"))
Residuals = dict[str, tuple[float, float]]
FOUND: Residuals = {"classic": (1.5e-15, 3.5e-14), "pipelined": (1e-15, 2.2e-11), "replaced": (2e-14, 2.8e-14)}


def drift(found: Residuals) -> list[Drawing]:
    """Return the drawing of methods with these residuals, by the recurrence and by |b - A x|."""

    def edit(record: LaunchRecord, number: int) -> LaunchRecord:
        methods = {c.case: str(c.parameters["method"]) for c in record.cases}
        samples = (
            replace(s, values={m.name: (v, v, v) for m, v in zip(VALUES, found[methods[s.case]], strict=True)})
            for s in record.samples
        )
        return replace(record, samples=tuple(samples))

    points = [Point({"method": method, "iterations": 350, "m": 100}, 1, {"flops": 1.0}, 0.0, 1e-3) for method in found]
    plot = Plot("drift", "m", "residual", "method", {"m": 100, "iterations": 350}, subject="residuals")
    return drawings(*judged("cg", VALUES, [("serial", None, Placement(), points)], (plot,), edit))


def test_the_true_residual_stands_beside_the_recursive_one() -> None:
    (drawn,) = drift(FOUND)
    assert drawn.title == "Residuals: the recurrence of pipelined drifts most"
    assert {row[0]: row[1:] for row in drawn.rows} == {
        "classic": ("350", "1.50e-15", "3.50e-14", "23.3"),
        "pipelined": ("350", "1.00e-15", "2.20e-11", "2.2e+04"),
        "replaced": ("350", "2.00e-14", "2.80e-14", "1.4"),
    }
    recurrence, left = ({k: t[k] for k in ("name", "x", "y")} for t in drawn.data)
    assert recurrence["name"] == "residual of the recurrence" and left["name"] == "|b - A x| / |b|"
    for trace, which in ((recurrence, 0), (left, 1)):
        assert dict(zip(trace["x"], trace["y"], strict=True)) == pytest.approx({k: v[which] for k, v in FOUND.items()})


def test_where_nothing_drifts_the_title_says_so_and_what_is_nought_has_no_point() -> None:
    (drawn,) = drift({"classic": (2e-14, 3e-14), "gropp": (0.0, 1e-14)})
    assert drawn.title == "Residuals: no recurrence drifts from b - A x"
    assert [row[0] for row in drawn.rows] == ["classic"]
