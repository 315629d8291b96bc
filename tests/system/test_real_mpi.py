"""A real run of MPI programs recommends the same library in every part of its page."""

from __future__ import annotations

from pathlib import Path

import pytest

import agreement
import native
from firstlight.analysis import evidence, libraries
from firstlight.commands.shared import runs
from real_calls import MEASURED, firstlight, only_run

pytestmark = [pytest.mark.native, pytest.mark.faults]


def test_every_part_of_the_page_of_a_real_run_recommends_the_same_library(tmp_path: Path) -> None:
    if native.toolchain("native") is None or len(native.toolbox().mpis) < 2:
        pytest.skip("no gcc or fewer than two MPI libraries here")
    programs = ("pingpong.mpi_blocking", "halo.mpi_sendrecv", "vector_sum.mpi_allreduce")
    done = firstlight(tmp_path, "run", *programs, "--toolchain", "gcc-native", "--budget", "30s")
    assert done.returncode in MEASURED, done.stderr
    judgement, workloads, _ = runs.judged(only_run(tmp_path))
    fit = not evidence.unfit(judgement.run, judgement.records)
    assert bool(libraries.table(judgement, workloads)) == fit, done.stdout
    assert agreement.disagreements(judgement, workloads) == []
