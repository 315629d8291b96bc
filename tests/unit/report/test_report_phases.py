"""Where the time of a step goes: shares of phases, the spread over ranks, and nothing where no phase was marked."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

import chart_tree
import synthetic_solver
from firstlight.analysis.figures import judge
from firstlight.core import heritage
from firstlight.model.catalogue import Plot
from firstlight.report import html, plots
from firstlight.report.frame import Drawing
from firstlight.report.plots import phases
from firstlight.results.record import LaunchRecord
from report_samples import view_of

PLOT = Plot("phases", "level", "time_to_tolerance", "variant", subject="an elliptic problem")
PARTS = {"halo": 0.1, "solver": 0.6}


def marked(record: LaunchRecord) -> LaunchRecord:
    """Return a record whose program spent a tenth in `halo`, more in `solver`, the rest in no phase; ranks differ in
    halo.
    """
    samples = []
    for s in record.samples:
        step = s.wall / record.cases[s.case].steps
        grown = PARTS["solver"] + 0.05 * s.case
        halo = (0.05 * step, 0.1 * step, 0.2 * step)
        times = {"phase_halo": halo, "phase_solver": (grown * step,) * 3, "phase_other": ((0.9 - grown) * step,) * 3}
        samples.append(replace(s, values=dict(s.values) | times))
    return replace(record, samples=tuple(samples))


def drawings(names: tuple[str, ...] = ("halo", "solver"), **options: object) -> list[Drawing]:
    scene = synthetic_solver.run(variants=("mpi",), ranks=(2,), stream=False, **options)  # type: ignore[arg-type]
    described = {k: replace(d, phases=names) for k, d in scene.run.descriptions.items()}
    workloads = {"fem2d": replace(scene.workloads["fem2d"], plots=(PLOT,))}
    judgement = judge(replace(scene.run, descriptions=described), [marked(r) for r in scene.records], workloads)
    html.render(judgement, workloads, heritage.load())
    return plots.draw(view_of(judgement, workloads), workloads["fem2d"])


def test_shares_add_up_and_the_title_names_the_longest_phase() -> None:
    (drawing,) = drawings()
    took = "solver is 75 % of a step at level = 7 (mpi) and 60 % at level = 4 (mpi)"
    assert drawing.title == f"An elliptic problem: {took}"
    parts = {t["name"]: t["y"] for t in drawing.data}
    assert list(parts) == ["halo", "solver", "outside phases"]
    assert parts["halo"] == [pytest.approx(10, rel=0.01)] * 4
    assert [sum(bar) for bar in zip(*parts.values(), strict=True)] == [pytest.approx(100)] * 4
    assert chart_tree.words(chart_tree.tree(drawing))


def test_the_table_has_every_bar_with_the_spread_over_ranks() -> None:
    (drawing,) = drawings()
    assert drawing.head == ("program", "case", "time to tolerance", "halo", "solver", "outside phases")
    assert len(drawing.rows) == 4 and all(len(r) == len(drawing.head) for r in drawing.rows)
    assert all(" to " in r[3] and " to " not in r[4] for r in drawing.rows)


def test_a_phase_that_no_program_marked_is_no_part() -> None:
    (drawing,) = drawings(("halo", "solver", "output"))
    assert [t["name"] for t in drawing.data] == ["halo", "solver", "outside phases"]
    assert drawings(()) == [] and drawings(("output",)) == []


def test_more_bars_than_fit_are_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phases, "MOST_BARS", 3)
    (drawing,) = drawings()
    assert len(drawing.data[0]["x"]) == 3 and drawing.data[0]["x"][-1] == "7, mpi" and len(drawing.rows) == 4
    assert drawing.notes == ("1 bar with smaller level, only in the table",)
