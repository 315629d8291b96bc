"""Programs of a workload with each MPI library, and those that run a number of ranks on few cores."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import native
from firstlight.execute.build import Built
from firstlight.model.catalogue import Variant, Workload

MOST_OF_MPICH = 2  # ranks: MPICH waits by spinning


def build_on_each_library(workload: Workload, variants: Sequence[Variant]) -> dict[str, list[Built]]:
    """Return the program of each MPI library by variant. Skip the test without gcc or an MPI library."""
    if native.toolchain("base") is None or not native.toolbox().mpis:
        pytest.skip("no gcc or no MPI library here")
    built: dict[str, list[Built]] = {v.name: [] for v in variants}
    for program, one in native.make(p for v in variants for p in native.on_each_library(workload, v)).items():
        built[program.variant].append(one)
    return built


def for_ranks(programs: Sequence[Built], ranks: int, most_of_mpich: int = MOST_OF_MPICH) -> list[Built]:
    """Return the programs that run this number of ranks. Skip the test if none does."""
    able = [b for b in programs if b.program.mpi != "mpich" or ranks <= most_of_mpich]
    if not able:
        pytest.skip(f"this session builds it with MPICH alone, whose {ranks} ranks would wait by spinning")
    return able
