"""On a node with several GPUs, firstlight measures each separately and all simultaneously."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace
from test_machine_gpus import NVIDIA_FOUR

import invented
import invented_run
import synthetic_machine
from firstlight.analysis import Judgement
from firstlight.analysis.figures import judge
from firstlight.analysis.verdict import Verified
from firstlight.core.errors import UsageError
from firstlight.execute.launch import command, launch
from firstlight.model.plan import Cell, Placement, Plan, Program, plan
from firstlight.model.plan.placements import expand
from firstlight.report import answers, export
from firstlight.results.record import LaunchRecord
from firstlight.system.machine import Gpu, Machine, gpus
from firstlight.toolchain import Cuda, Toolbox

NAMES = ("peak", "device_copy", "stream")
SMI = "".join(f"GPU-{k}b4f21c0-1111-2222-3333-444455556666, 8.0, 40960, NVIDIA A100-SXM4-40GB\n" for k in range(4))
TOOLS = replace(synthetic_machine.toolbox(), cuda=Cuda("nvcc 13.0.88", "/x/nvcc", "/usr/bin/g++", "sm_80", ()))
OUTPUTS = {gpus.gpu_links.NVIDIA: NVIDIA_FOUR}


def machine(folder: Path, **environment: str) -> Machine:
    """Return a node like JUWELS Booster's, by the output of its driver's tool in a job with this environment."""
    found = gpus.discover(folder, environment, lambda words: SMI)
    _, links = gpus.linked(len(found), environment, lambda words: OUTPUTS[words])
    return replace(invented.machine(folder, "gpus"), gpus=found, gpu_links=links)


def planned(on: Machine, suite: str = "standard") -> Plan:
    return plan(suite, invented_run.WORKLOADS, NAMES, TOOLS, on)


def devices(cells: tuple[Cell, ...], workload: str) -> list[tuple[int, int | None]]:
    """Return the ranks and the GPU of cells that run on one."""
    some = [c for c in cells if c.program.workload == workload and c.program.variant.endswith("cuda")]
    return [(c.placement.ranks, c.placement.gpu) for c in some if c.program.mpi in (None, "mpich")]


def test_each_gpu_has_a_cell_and_all_have_one_together(tmp_path: Path) -> None:
    on = machine(tmp_path)
    assert len(on.gpus) == 4 and on.gpu_links[0][1] == "NV12"
    cells = planned(on).cells
    each = [(1, k) for k in range(4)]
    assert devices(cells, "peak") == [*each, (4, None)]
    for workload in ("device_copy", "stream"):  # sizes measured on one GPU are not repeated on each
        assert set(devices(cells, workload)) == {(1, None), *each, (4, None)}
    assert len({c.id for c in cells}) == len(cells) and any(c.id.endswith("1x1.gpu3") for c in cells)
    full = devices(planned(on, "full").cells, "peak")
    assert full == [*each, (2, None), (4, None)]


@pytest.mark.parametrize(("visible", "each"), [("3", [(1, None)]), ("3,1", [(1, 0), (1, 1)])])
def test_what_a_batch_system_leaves_is_what_is_planned(
    tmp_path: Path, visible: str, each: list[tuple[int, int | None]]
) -> None:
    on = machine(tmp_path, CUDA_VISIBLE_DEVICES=visible)
    assert devices(planned(on).cells, "peak") == [*each, (len(each), None)]


def test_without_a_gpu_there_are_not_all_of_them(tmp_path: Path) -> None:
    bare = replace(machine(tmp_path), gpus=(), gpu_links=())
    made = planned(bare)
    assert devices(made.cells, "peak") == [(1, None)]  # refuses in its own words
    (absent,) = [a for a in made.absent if a.what == "peak as 1xgpusx1"]
    assert (absent.why, absent.fix) == ("programs can use no GPU here", "run on a node with a GPU")
    two = replace(machine(tmp_path), nodes=2)
    assert expand(["2xgpusx1"], two)[0] == [Placement(2, 8, 1)]
    with pytest.raises(UsageError):
        expand(["1x1xgpus"], two)


@pytest.mark.parametrize(
    ("given", "number", "expected"),
    [
        ({}, 2, {"CUDA_VISIBLE_DEVICES": "2"}),
        ({"CUDA_VISIBLE_DEVICES": "3, 1"}, 1, {"CUDA_VISIBLE_DEVICES": "1"}),
        ({"CUDA_VISIBLE_DEVICES": "GPU-2b4f,MIG-5ad2"}, 1, {"CUDA_VISIBLE_DEVICES": "MIG-5ad2"}),
    ],
)
def test_a_program_sees_that_one_gpu(given: dict[str, str], number: int, expected: dict[str, str]) -> None:
    some = (Gpu("NVIDIA A100"),) * 4
    assert gpus.alone(number, some, given) == {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", **expected}
    with pytest.raises(IndexError):
        gpus.alone(4, some, given)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"ROCR_VISIBLE_DEVICES": "1"}),
        ({"ROCR_VISIBLE_DEVICES": "4,6"}, {"ROCR_VISIBLE_DEVICES": "6"}),
        ({"ROCR_VISIBLE_DEVICES": "4,6", "HIP_VISIBLE_DEVICES": "1,0"}, {"HIP_VISIBLE_DEVICES": "0"}),
    ],
)
def test_amd_s_variables_count_what_the_outer_one_leaves(given: dict[str, str], expected: dict[str, str]) -> None:
    assert gpus.alone(1, (Gpu(gpus.OF_AMD),) * 2, given) == expected


def cell(gpu: int | None) -> Cell:
    return Cell("c", Program("peak", "cuda", "gcc-base"), Placement(gpu=gpu), ())


def test_the_launch_of_a_cell_has_its_gpu_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7,5")
    program = tmp_path / "peak.cuda"
    program.write_text('#!/bin/sh\necho "$CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER" >&2\nexit 1\n')
    program.chmod(0o755)
    on, tools = synthetic_machine.machine(gpus=(Gpu("NVIDIA A100"),) * 2), Toolbox((), (), (), ())
    for gpu, printed in ((None, "7,5 "), (0, "7 PCI_BUS_ID"), (1, "5 PCI_BUS_ID")):
        name = f"firstlight-gpus-{os.getpid()}-{gpu}"
        ended = launch(command(cell(gpu), program, tools, output=tmp_path / "o", machine=on), 20, name)
        assert ended.stderr.rstrip("\n") == printed
    with pytest.raises(UsageError, match=r"needs GPU 2 \(counted from 0\), but can use only 2 GPUs"):
        command(cell(2), program, tools, output=tmp_path / "o", machine=on)


def judged(on: Machine, slow: int | None) -> Judgement:
    """Return six launches of each cell; one GPU is 1.3 times as slow as the others."""
    scene = invented_run.run(on, "standard", names=("peak",), toolbox=TOOLS)
    late = {c.id for c in scene.run.cells if slow is not None and c.placement.gpu == slow}

    def took(record: LaunchRecord) -> LaunchRecord:
        factor = 1.3 if record.start.cell in late else 1.0
        return replace(record, samples=tuple(replace(s, wall=factor * s.wall) for s in record.samples))

    return judge(scene.run, [took(r) for r in scene.records], scene.workloads)


def test_every_gpu_has_a_figure_and_one_that_differs_is_a_finding(tmp_path: Path) -> None:
    on = machine(tmp_path)
    found = judged(on, slow=2)
    figures = [f for f in found.figures if f.identity.variant == "cuda"]
    assert sorted({f.identity.placement.gpu for f in figures}) == [0, 1, 2, 3]
    assert all(isinstance(f, Verified) for f in figures)
    (differ,) = [f for f in found.findings if f.rule == "gpus_differ"]
    assert differ.sentence.startswith("the GPUs of a node differ: peak.cuda, precision = ")
    assert " is 1.3 x faster on GPU " in differ.sentence and differ.sentence.endswith(" than on GPU 2")
    assert "GPU 2 (" in "".join(differ.evidence) and differ.command.startswith("./fl run peak.cuda")
    assert not [f for f in judged(on, slow=None).findings if f.rule == "gpus_differ"]
    answered = {a.row.title: a.best for a in answers.answers(found, invented_run.WORKLOADS)}
    one, every = answered["arithmetic, 64 bit, 1 GPU"], answered["arithmetic, 64 bit, all GPUs"]
    assert one is not None and one.identity.placement.gpu in (0, 1, 3)
    assert every is not None and every.identity.placement.ranks == 4
    assert {row.placement.gpu for row in export.rows(found)} == {None, 0, 1, 2, 3}
