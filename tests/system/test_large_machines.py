"""Machines of many cores through a whole run: what is planned, which rows are filled, how large the page is."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

import invented
import invented_run
import native
import synthetic_machine
from firstlight.analysis.figures import judge
from firstlight.analysis.verdict import Failed
from firstlight.core import heritage
from firstlight.model.plan import EFFORT, plan
from firstlight.model.plan.runtime_estimate import launch_seconds
from firstlight.model.plan.selectors import serves
from firstlight.report import answers, html, maps, terminal
from firstlight.results.record import Binding
from firstlight.system.machine import Gpu, Machine

MIB = 1 << 20
WORKLOADS = invented_run.WORKLOADS
NAMES = ["server", "next", "laptop", "big.LITTLE", "arm", "power", "gpus"]
OTHERS = ["smt8", "wide"]
"""Machines of 240 and 1792 CPUs, with eight and two threads per core."""
A_FEW = ("stream", "pingpong")


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Machine]:
    made = {name: invented.machine(tmp_path_factory.mktemp("machine"), name) for name in {*NAMES, *OTHERS}}
    made |= {name: replace(made[name], page=64 << 10) for name in ("arm", "power", "smt8")}
    four = tuple(Gpu("NVIDIA H200", "9.0", 141 << 30) for _ in range(4))
    return made | {"gpus": replace(made["gpus"], gpus=four)}


@pytest.mark.full
def test_a_figure_of_one_core_names_its_kind_where_cores_differ(machines: dict[str, Machine]) -> None:
    scene = invented_run.run(machines["laptop"], names=("dot", "stream"), launches=1)
    line = terminal.machine_line(judge(*scene))
    assert "14 cores (6 performance cores and 8 efficiency cores; 1 core: performance core), " in line
    moved = [
        replace(r, launch=replace(r.launch, binding=(Binding(0, (15,)),))) if k % 2 and r.launch else r
        for k, r in enumerate(scene.records)
    ]
    other = terminal.machine_line(judge(scene.run, tuple(moved), scene.workloads))
    assert "; 1 core: cores of several kinds), " in other
    alike = invented_run.run(machines["next"], names=("dot",), launches=1)
    assert " 16 cores, 2 NUMA nodes, " in terminal.machine_line(judge(*alike))


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_plans_stay_bounded_and_ask_for_cores(machines: dict[str, Machine], name: str) -> None:
    machine, toolbox = machines[name], synthetic_machine.toolbox()
    for suite, most in (("quick", 120), ("standard", 35 * len(WORKLOADS)), ("full", 100 * len(WORKLOADS))):
        cells = plan(suite, WORKLOADS, [], toolbox, machine).cells
        assert len(cells) <= most and len({cell.id for cell in cells}) == len(cells)
        seconds = sum(launch_seconds(cell, WORKLOADS[cell.program.workload]) for cell in cells)
        assert seconds < EFFORT[suite].budget  # a round at least
        busy = {c.placement.ranks * c.placement.threads for c in cells if c.program.mpi is None}
        assert machine.cores in busy and max(busy) == machine.cores


@pytest.mark.parametrize("name", OTHERS)
def test_plan_rows_drawings_and_findings_of_a_few_workloads(machines: dict[str, Machine], name: str) -> None:
    machine = machines[name]
    scene = invented_run.run(machine, names=A_FEW)
    judgement = judge(*scene)
    busy = {c.placement.ranks * c.placement.threads for c in scene.run.cells if c.program.mpi is None}
    assert machine.cores in busy and max(busy) == machine.cores  # a thread a core, however many it has
    answered = {(a.workload, a.row.title) for a in answers.answers(judgement, WORKLOADS) if a.best is not None}
    planned = {
        (w.name, row.title)
        for w in map(WORKLOADS.__getitem__, A_FEW)
        for row in w.rows
        if any(c.program.workload == w.name and serves(c, row, w, machine) for c in scene.run.cells)
    }
    assert planned <= answered and ("stream", "memory bandwidth, all cores") in planned
    assert {limit.cores for limit in judgement.limits} >= {1, machine.cores}
    assert not [f for f in judgement.figures if isinstance(f, Failed)]
    assert judgement.findings and all(f.sentence and f.weight > 0 for f in judgement.findings)
    page = html.render(judgement, WORKLOADS, heritage.load())
    assert len(page.encode()) < 10 * MIB
    assert re.search(r"plot-(stream|pingpong)-\d", page)
    assert not [m.title for m in maps.maps(judgement)[0] if m.strange]


@pytest.mark.parametrize("name", ["server", "laptop", "power"])
def test_every_row_that_is_planned_is_answered(machines: dict[str, Machine], name: str) -> None:
    scene = invented_run.run(machines[name])
    judgement = judge(*scene)
    answered = {(a.workload, a.row.title) for a in answers.answers(judgement, WORKLOADS) if a.best is not None}
    planned = {
        (w.name, row.title)
        for w in WORKLOADS.values()
        for row in w.rows
        if any(c.program.workload == w.name and serves(c, row, w, scene.run.machine) for c in scene.run.cells)
    }
    assert planned <= answered and ("stream", "memory bandwidth, all cores") in planned
    assert not [f for f in judgement.figures if isinstance(f, Failed)]
    assert {limit.cores for limit in judgement.limits} >= {1, machines[name].cores}
    shown = terminal.summary(judgement, WORKLOADS, width=100)
    assert "memory bandwidth, all cores" in shown and max(map(len, shown.splitlines())) <= 100
    page = html.render(judgement, WORKLOADS, heritage.load())
    assert len(page.encode()) < 10 * MIB
    assert not [m.title for m in maps.maps(judgement)[0] if m.strange]


def test_a_table_in_place_of_a_drawing_is_folded(machines: dict[str, Machine]) -> None:
    judgement = judge(*invented_run.run(machines["server"], "standard", launches=1, names=("collectives",)))
    page = html.render(judgement, WORKLOADS, heritage.load())
    assert re.search(r'<details id="plot-collectives-0"><summary>Table: \d{3} rows</summary>', page)
    folded = re.sub(r"<details.*?</details>", "", page, flags=re.DOTALL)
    figures = re.findall(r'<figure class="plot.*?</figure>', folded, re.DOTALL)
    assert figures and not any("<tr" in figure for figure in figures)


MANY_CPUS = """#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <string.h>
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t* set) {
  (void)pid;
  if (size < 512) {  /* as a kernel made for 4096 CPUs refuses less */
    errno = EINVAL;
    return -1;
  }
  memset(set, 0, size);
  CPU_SET_S(3, size, set);
  CPU_SET_S(1500, size, set);
  return 0;
}
"""


@pytest.mark.native
def test_a_program_tells_processors_beyond_1024(tmp_path: Path) -> None:
    """Where the kernel's sets of CPUs are larger than those of the C library."""
    (tmp_path / "many.c").write_text(MANY_CPUS)
    compiled = ["g++", "-x", "c", "-shared", "-fPIC", "-O1", str(tmp_path / "many.c"), "-o", str(tmp_path / "many.so")]
    subprocess.run(compiled, check=True)
    program = native.plain("dot", "serial").executable
    assert program is not None
    output = tmp_path / "record.jsonl"
    words = [str(program), "n=1000", "--output", str(output), *native.EFFORT]
    subprocess.run(words, check=True, env=os.environ | {"LD_PRELOAD": str(tmp_path / "many.so")}, timeout=60)
    launch = next(line for line in map(json.loads, output.read_text().splitlines()) if line["type"] == "launch")
    assert [bound["cpus"] for bound in launch["binding"]] == [[3, 1500]]
