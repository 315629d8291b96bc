"""Figures have HPC Challenge's names: those declared, those of a run, and those that never have a number."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from msgspec.structs import replace

import invented
import invented_run
import many_runs
import synthetic_machine
from firstlight.analysis import Judgement
from firstlight.analysis.figures import judge
from firstlight.analysis.verdict import Failed
from firstlight.commands.shared.command_line import call
from firstlight.model.catalogue import Elsewhere
from firstlight.model.plan import plan
from firstlight.model.plan.selectors import serves
from firstlight.report.export.hpcc import SUITE, Line, known, lines, to_summary, to_table
from firstlight.toolchain import Library, Offer

WORKLOADS = invented_run.WORKLOADS
DECLARED = [(w, e) for w in WORKLOADS.values() for e in w.elsewhere]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> invented_run.Scene:
    """Return all cores of a laptop; three workloads that HPC Challenge has, too."""
    machine = invented.machine(tmp_path_factory.mktemp("machine"), "next")
    return invented_run.run(machine, "standard", launches=6, names=("stream", "pingpong", "dot"))


@pytest.fixture(scope="module")
def judgement(scene: invented_run.Scene) -> Judgement:
    return judge(*scene)


def lines_by_name(judgement: Judgement) -> dict[str, Line]:
    return {line.known.name: line for line in lines(judgement, WORKLOADS)}


def test_declared_names_are_its_own() -> None:
    names = {one.name: one.unit for one in known()}
    assert len(names) == len(known()) and {e.suite for _, e in DECLARED} == {SUITE}
    declared = [e.name for _, e in DECLARED]
    assert len(declared) == len(set(declared)) >= 9 and set(declared) <= names.keys()


def test_a_standard_run_plans_what_its_names_need(tmp_path: Path) -> None:
    """Where an FFT library and one with BLAS are found; else the rows that such a library fills stay empty."""
    machine = invented.machine(tmp_path, "next")
    offers = get_args(Offer)
    toolbox = replace(synthetic_machine.toolbox(), libraries=(Library("all", "all of it", (), (), offers=offers),))
    some = {w.name: w for w, _ in DECLARED}
    cells = plan("standard", some, [], toolbox, machine).cells
    for workload, one in DECLARED:
        row = next(row for row in workload.rows if row.title == one.row)
        theirs = (c for c in cells if c.program.workload == workload.name)
        assert any(serves(cell, row, workload, machine) for cell in theirs), (one.name, one.row)


def test_the_mean_of_a_core_is_a_share_of_all_cores(judgement: Judgement) -> None:
    found = lines_by_name(judgement)
    star, single = found["StarSTREAM_Triad"], found["SingleSTREAM_Triad"]
    assert star.figure is not None and star.value is not None and single.figure is not None
    cores = judgement.run.machine.cores
    assert cores > 1 and star.figure.identity.placement.threads == cores
    assert star.value == pytest.approx(star.figure.estimate.median / cores)
    assert single.value == single.figure.estimate.median
    latency = found["AvgPingPongLatency_usec"]
    assert latency.figure is not None and latency.value == latency.figure.estimate.median


@pytest.mark.parametrize(
    ("name", "unit", "scale", "wanted"),
    [
        ("SingleDGEMM_Gflops", "Gflop/s", 1.0, 250.0),
        ("HPL_Tflops", "Gflop/s", 1.0, 0.25),
        ("PTRANS_GBs", "GB/s", 0.5, 125.0),
        ("PTRANS_GBs", "s", 1.0, None),  # another quantity
    ],
)
def test_figures_are_told_as_it_counts(
    judgement: Judgement, name: str, unit: str, scale: float, wanted: float | None
) -> None:
    """The row shows 250 of the unit for which it is declared."""
    workload = next(w for w in WORKLOADS.values() if w.name == "stream")
    other = replace(workload, elsewhere=(Elsewhere(SUITE, name, "memory bandwidth, 1 core", scale),))
    like = lines_by_name(judgement)["SingleSTREAM_Triad"].figure
    assert like is not None
    figure = replace(like, unit=unit, estimate=replace(like.estimate, median=250.0))
    found = lines(replace(judgement, figures=(figure,)), {other.name: other})
    line = next(line for line in found if line.known.name == name)
    assert (
        line.value == pytest.approx(wanted)
        if wanted
        else line.value is None and line.reason == "s cannot be converted to GB/s"
    )


def test_only_verified_figures_have_numbers(judgement: Judgement) -> None:
    failed = tuple(
        Failed(f.identity, f.unit, f.better, "wrong") if f.identity.workload == "stream" else f
        for f in judgement.figures
    )
    found = lines(replace(judgement, figures=failed), WORKLOADS)
    text = to_summary(found)
    assert "STREAM" not in text and "AvgPingPongLatency_usec=" in text
    assert text.startswith("Begin of Summary section.\n") and text.endswith("\nEnd of Summary section.\n")
    table = " ".join(to_table(judgement, found).split())
    assert "StarSTREAM_Triad: none rule: 24 bytes" in table
    assert "firstlight: memory bandwidth, all cores: no verified figure; `./fl figures --failed` shows why" in table
    row = "matrix of 4096^2 transposed, 64 bit, all cores"
    assert f"firstlight: {row}: not measured; `./fl run transpose --standard` measures it" in table
    assert "firstlight: no figure of firstlight corresponds to this name" in table


def test_each_name_is_told_with_its_rule_and_what_differs(judgement: Judgement) -> None:
    found = lines(judgement, WORKLOADS)
    table = " ".join(to_table(judgement, found).split())
    for line in found:
        assert f"{line.known.name}: " in table and f"rule: {line.known.rule}" in table
    for _, one in DECLARED:
        assert f"differences: {one.differs or 'none'}" in table
    assert max(len(line) for line in to_table(judgement, found).splitlines()) <= 120


@pytest.mark.full
def test_a_run_is_exported_from_the_command_line(
    scene: invented_run.Scene, judgement: Judgement, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = many_runs.write(scene, tmp_path, scene.run.id, scene.run.started)
    assert call(["export", "hpcc", str(folder)]) == 0
    table = to_table(judgement, lines(judgement, WORKLOADS))
    assert capsys.readouterr().out == table.replace("./fl run ", f"./fl run --results {folder.parent} ")
    summary = tmp_path / "hpccoutf.txt"
    assert call(["export", "hpcc", str(folder), "--summary", "-o", str(summary)]) == 0
    values = dict(line.split("=") for line in summary.read_text().splitlines()[1:-1])
    line = lines_by_name(judgement)["StarSTREAM_Triad"]
    assert line.value is not None and float(values["StarSTREAM_Triad"]) == pytest.approx(line.value, rel=1e-5)
