"""Rows of GPUs: a machine without one is not told of each that it has none."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

import synthetic
from firstlight.catalogue import Row
from firstlight.judge.figures import judge
from firstlight.judge.verdict import Failed, Identity, Unverified
from firstlight.machine import Gpu
from firstlight.plan import Placement
from firstlight.report.answers import answers


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
