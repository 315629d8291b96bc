"""Findings on storage: layouts, small transfers, targets, fsync without effect, reads that no device delivers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

import shipped
import synthetic
from firstlight.analysis import Finding
from firstlight.analysis.figures import judge
from firstlight.model.plan import Cell, Placement, Program
from firstlight.report import method, wording
from firstlight.results.description import Description, Metric
from firstlight.results.record import Build
from firstlight.system.machine import Storage
from synthetic_figures import Point

WORKLOAD = shipped.workloads()["file_io"]
METRICS = (
    Metric("bandwidth", "GB/s", "bytes", "rate", 1e-9, "higher"),
    Metric("sync_time", "us", "operations", "time", 1e6, "lower"),
)
USUAL = {"target": "results", "operation": "write", "layout": "per_process", "size": 1 << 24, "transfer": 1 << 20}
TARGETS = (Storage("results", "ext4"), Storage("home", "nfs4"), Storage("shm", "tmpfs"))
Case = tuple[str, float, dict[str, Any]]
"""A variant, the seconds of its step, and what differs from the usual parameters."""


def scene(*cases: Case, virtual: str | None = None) -> synthetic.Scene:
    rng, base = random.Random(2), synthetic.run(1, 1, only=["pingpong"])
    programs = {name: Program("file_io", name, "gcc-native") for name, _, _ in cases}
    cells, records = [], []
    for k, (name, _, changed) in enumerate(cases):
        words = tuple(f"{key}={value}" for key, value in (USUAL | changed).items())
        cells.append(Cell(f"case-{k}", programs[name], Placement(), words))
    for number in range(8):
        for cell, (_, seconds, changed) in zip(cells, cases, strict=True):
            point = Point(USUAL | changed, 1, {"bytes": 1e7, "operations": 1.0}, 0.0, seconds)
            records.append(synthetic.launch(cell, number, rng, points=[point], disturbed=0))
    described = {
        p.target: Description("file_io", p.variant, "Files", (), METRICS, "", "every byte", "exact")
        for p in programs.values()
    }
    run = replace(
        base.run, cells=tuple(cells), builds=tuple(Build(p, True, 1.0, "0" * 64) for p in programs.values()),
        descriptions=described, machine=replace(base.run.machine, storage=TARGETS, virtual=virtual),
    )  # fmt: skip
    return synthetic.Scene(run, tuple(records), {"file_io": replace(WORKLOAD, rows=(), bounded_by=())})


def findings(*cases: Case, virtual: str | None = None) -> dict[str, Finding]:
    found = judge(*scene(*cases, virtual=virtual)).findings
    return {f.rule: f for f in found if f.command.startswith("./fl run file_io")}


def test_a_slow_layout() -> None:
    found = findings(("serial", 0.1, {}), ("serial", 0.4, {"layout": "strided"}))["file_layouts"]
    assert found.sentence.startswith("layout strided has 1/4 of the bandwidth of layout per_process (file_io.serial, ")
    assert len(found.evidence) == 2


def test_small_transfers() -> None:
    found = findings(("serial", 0.1, {}), ("serial", 0.8, {"transfer": 4096}))["small_transfers"]
    assert found.sentence.startswith("transfer 4096 has 1/8 of the bandwidth of transfer 1048576")
    assert "small_transfers" not in findings(("serial", 0.1, {}), ("serial", 0.15, {"transfer": 4096}))


def test_a_slow_target() -> None:
    found = findings(("omp", 0.1, {}), ("omp", 1.0, {"target": "home"}))["storage_targets"]
    assert found.sentence.startswith("target home has 1/10 of the bandwidth of target results")
    assert found.command == "./fl run file_io.omp"
    assert "storage_targets" not in findings(("omp", 1.0, {}), ("omp", 0.1, {"target": "shm"}))


SYNC = {"operation": "sync", "transfer": 4096, "size": 65536}


@pytest.mark.parametrize(("target", "seconds", "there"), [("results", 2e-6, True), ("results", 1e-3, False),
                                                          ("shm", 2e-6, False)])  # fmt: skip
def test_a_sync_that_no_device_can_make(target: str, seconds: float, there: bool) -> None:
    found = findings(("serial", seconds, SYNC | {"target": target}))
    assert ("sync_without_effect" in found) == there
    if there:
        assert "on target results (ext4) lasts " in found["sync_without_effect"].sentence


def reads(*seconds: float) -> Sequence[Case]:
    return [(name, s, {"operation": "read"}) for name, s in zip(("serial", "direct"), seconds, strict=True)]


def test_reads_that_no_device_delivers() -> None:
    found = findings(*reads(0.1, 0.5))["reads_beyond_device"]
    assert found.sentence.startswith("cold reads by file_io.serial are ")
    assert " x faster than file_io.direct" in found.sentence
    assert "host" not in found.sentence
    assert "the host may also cache files" in findings(*reads(0.1, 0.5), virtual="KVM")["reads_beyond_device"].sentence
    assert "reads_beyond_device" not in findings(*reads(0.4, 0.5))
    writes = [(name, s, {}) for name, s in (("serial", 0.1), ("direct", 0.5))]
    assert "reads_beyond_device" not in findings(*writes)


@pytest.mark.parametrize("words", [("--storage", "mine=/data"), ("--storage=mine=/data",)])
def test_commands_name_the_directory_of_a_user_s_target(words: tuple[str, ...]) -> None:
    """Every command that measures a target again, or goes on, works as it is shown."""
    run, records, workloads = scene(("omp", 0.1, {}), ("omp", 1.0, {"target": "mine"}), ("serial", 0.1, {}))
    run = replace(run, command=("./fl", "run", "file_io", *words, "--storage", "other=/elsewhere"))
    judgement = judge(run, records, workloads)
    commands = {f.identity.parameters: wording.repeat(f.identity, run) for f in judgement.figures}
    for parameters, text in commands.items():
        assert text.endswith(" --storage mine=/data") == (dict(parameters)["target"] == "mine"), text
        assert "other=" not in text
    (slow,) = (f for f in judgement.findings if f.rule == "storage_targets")
    assert slow.command == "./fl run file_io.omp --storage mine=/data"
    assert run.more() == ("--storage", "mine=/data", "--storage", "other=/elsewhere")
    assert replace(run, state="budget", missing=60.0).more()[4] == "--budget"
    assert not replace(run, command=("./fl", "run", "--storage")).storage({"", "mine"})


def test_the_page_of_a_virtual_machine_shows_that_its_host_may_cache_reads() -> None:
    for virtual, shown in (("KVM", True), (None, False)):
        facts = dict(method.environment(scene(("serial", 0.1, {}), virtual=virtual).run))
        assert ("host of a virtual machine may also cache" in facts.get("cold reads", "")) == shown
