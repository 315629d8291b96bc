"""Busy waiting is found where a waiting process uses its processor, and not where it sleeps."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

import synthetic
import synthetic_workloads
from firstlight.analysis import Finding, Judgement
from firstlight.analysis.figures import judge
from firstlight.core.roles import Role
from firstlight.model.catalogue import Plot
from firstlight.model.plan import Cell, Placement, Program
from firstlight.report import plots
from firstlight.results.description import Description, Metric
from firstlight.results.record import Build
from report_samples import view_of
from synthetic_figures import Point

METRIC = Metric("cpu_share", "%", "cpu_share", "value", 100, "lower")
ROLES = (Role("busy_waiting", "cpu_share"),)
PLOT = Plot("table", "ms", "cpu_share", "mpi", subject="a waiting process keeps its processor busy")


def scene(shares: dict[str, float], ranks: int = 2) -> synthetic.Scene:
    """Return a run in which a waiting rank of each MPI library uses its processor for that share of the time."""
    rng = random.Random(1)
    base = synthetic.run(1, 1, only=["pingpong"])
    programs = [Program("waiting", "mpi_recv", "gcc-native", mpi) for mpi in shares]
    cells = [Cell(f"waiting-{p.mpi}", p, Placement(1, ranks, 1), ("ms=20",)) for p in programs]
    point = Point({"ms": 20}, 1, {"operations": 1.0}, 0.0, 0.02)
    records = []
    for number in range(8):
        for cell in cells:
            r = synthetic.launch(cell, number, rng, points=[point], disturbed=0)
            share = shares[cell.program.mpi or ""] * (1 + number / 1000)
            records.append(
                replace(r, samples=tuple(replace(s, values={"cpu_share": (0.0, share, share)}) for s in r.samples))
            )
    described = Description("waiting", "mpi_recv", "Waiting in MPI", (), (METRIC,), "", "every word", "exact")
    run = replace(
        base.run, cells=tuple(cells), builds=tuple(Build(p, True, 1.0, "0" * 64) for p in programs),
        descriptions={"waiting.mpi_recv": described},
    )  # fmt: skip
    workload = replace(
        synthetic_workloads.workload("pingpong"), name="waiting", rows=(), plots=(PLOT,), bounded_by=(), roles=ROLES
    )
    return synthetic.Scene(run, tuple(records), {"waiting": workload})


def judged(shares: dict[str, float], ranks: int = 2) -> Judgement:
    return judge(*scene(shares, ranks))


def waiting_findings(judgement: Judgement) -> list[Finding]:
    return [f for f in judgement.findings if f.rule == "busy_waiting"]


def test_processes_that_burn_their_processor_while_they_wait() -> None:
    (found,) = waiting_findings(judged({"openmpi": 1.0, "mpich": 0.98}))
    assert found.sentence == (
        "Open MPI (100 %) and MPICH (98 %) keep a processor busy while a process waits: with more ranks than "
        "processors, waiting ranks slow down the others"
    )
    assert found.command == "./fl run waiting.mpi_recv"
    assert len(found.evidence) == 2 and "waiting.mpi_recv cpu_share, ms = 20, 2 ranks" in found.evidence[0]


def test_one_library_that_sleeps_is_named_beside_the_other() -> None:
    (found,) = waiting_findings(judged({"openmpi": 1.0, "mpich": 0.02}))
    assert "Open MPI (100 %) keeps a processor busy while a process waits; MPICH does not: " in found.sentence
    assert found.command == "./fl run waiting.mpi_recv --mpi openmpi"


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3])
def test_libraries_that_sleep_are_no_finding(share: float) -> None:
    assert waiting_findings(judged({"openmpi": share, "mpich": share})) == []


def test_more_ranks_than_processors_prove_nothing() -> None:
    assert waiting_findings(judged({"openmpi": 1.0}, ranks=4)) == []


def test_an_ordinary_run_has_no_such_finding() -> None:
    assert waiting_findings(synthetic.judgement()) == []


def test_the_table_on_the_page_tells_the_share_of_each_library() -> None:
    s = scene({"openmpi": 1.0, "mpich": 0.02})
    view = view_of(judge(*s), s.workloads)
    (drawing,) = plots.draw(view, s.workloads["waiting"])
    assert drawing.title == "A waiting process keeps its processor busy: 2.01 % (MPICH) and 100 % (Open MPI)"
    assert drawing.data == [] and len(drawing.rows) == 2
