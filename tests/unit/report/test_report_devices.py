"""GPUs: the report mentions once that a machine has none, and doubts nothing that needs one."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

import synthetic
from firstlight.analysis import Judgement
from firstlight.analysis.absence import absences
from firstlight.analysis.figures import judge
from firstlight.analysis.verdict import Failed, Identity, Unverified, Verified
from firstlight.model.catalogue import Row
from firstlight.model.plan import Placement
from firstlight.report import failures
from firstlight.report.answers import answers
from firstlight.results.record import LaunchRecord
from firstlight.system.machine import Gpu
from firstlight.toolchain import Cuda


@pytest.mark.parametrize(("gpus", "failed", "rows"), [((), False, 0), ((Gpu("NVIDIA H200"),), False, 1), ((), True, 1)])
def test_a_row_of_gpus_is_shown_where_there_is_one_or_where_it_failed(
    gpus: tuple[Gpu, ...], failed: bool, rows: int
) -> None:
    scene = synthetic.run(2, 7, only=["dot"], failed_build=False)
    judgement = judge(*scene)
    identity = Identity("dot", "cuda", "gcc-native", None, Placement(), (("n", 1000),), "rate")
    kind = Failed if failed else Unverified
    judgement = replace(
        judgement,
        figures=(kind(identity, "Gflop/s", "higher", "it needs a GPU"),),
        run=replace(judgement.run, machine=replace(judgement.run.machine, gpus=gpus)),
    )
    row = Row("on a GPU", "rate", 1, device=True)
    assert len(answers(judgement, {"dot": replace(scene.workloads["dot"], rows=(row,))})) == rows


def refusing(gpus: tuple[Gpu, ...], device: str = "CUDA", refuses: bool = True) -> Judgement:
    """dot, whose variant `simd` is one for a device, and refuses wherever it is launched."""
    scene = synthetic.run(2, 7, only=["dot"], failed_build=False)
    run = scene.run
    descriptions = run.descriptions | {"dot.simd": replace(run.descriptions["dot.simd"], device=device)}
    cuda = Cuda("nvcc 13.0.88", "/usr/local/cuda/bin/nvcc", "/usr/bin/g++", "sm_75", ())
    run = replace(
        run,
        descriptions=descriptions,
        machine=replace(run.machine, gpus=gpus),
        toolbox=replace(run.toolbox, cuda=cuda),
    )
    ours = {cell.id for cell in run.cells if cell.program.variant == "simd"}

    def refused(r: LaunchRecord) -> LaunchRecord:
        ended = replace(r.exit, ok=False, status=2, reason="rejected its arguments (status 2): this needs a GPU")
        return replace(r, cases=(), samples=(), checks=(), launch=None, complete=False, exit=ended)

    records = tuple(refused(r) if refuses and r.start.cell in ours else r for r in scene.records)
    return judge(run, records, scene.workloads)


def of_simd(judgement: Judgement) -> list[object]:
    return [type(f) for f in judgement.figures if f.identity.variant == "simd"]


def test_without_a_gpu_what_needs_one_is_not_available_and_no_figure() -> None:
    judgement = refusing(())
    assert of_simd(judgement) == []
    assert not any("simd" in f.program for f in failures.failures(judgement))
    (gpu,) = (a for a in absences(judgement) if a.what == "GPU")
    assert gpu.why.endswith("; not measured: dot (simd)") and gpu.fix == "run on a node with a GPU"


@pytest.mark.parametrize(("gpus", "device"), [((Gpu("NVIDIA H200"),), "CUDA"), ((), "")])
def test_a_refusal_that_no_missing_gpu_explains_is_told(gpus: tuple[Gpu, ...], device: str) -> None:
    judgement = refusing(gpus, device)
    assert set(of_simd(judgement)) == {Unverified}
    assert not any("simd" in a.why for a in absences(judgement))


def test_what_found_a_device_that_the_system_does_not_tell_of_is_measured() -> None:
    judgement = refusing((), refuses=False)
    assert Verified in of_simd(judgement)
    assert not any("simd" in a.why for a in absences(judgement))
