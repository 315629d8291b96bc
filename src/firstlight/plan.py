"""The plan: which programs are launched with which arguments, in which order, within which budget."""

from __future__ import annotations

import msgspec


class Placement(msgspec.Struct, frozen=True):
    """Where a program runs: nodes, ranks in all, threads a rank."""

    nodes: int = 1
    ranks: int = 1
    threads: int = 1


class Program(msgspec.Struct, frozen=True):
    """One executable: a variant built by a toolchain, against an MPI library where it needs one. `variant` is blas_openblas for blas.cpp."""

    workload: str
    variant: str
    toolchain: str
    mpi: str | None = None

    @property
    def target(self) -> str:
        return f"{self.workload}.{self.variant}"

    @property
    def key(self) -> str:
        return f"{self.target}@{self.toolchain}" + (f"+{self.mpi}" if self.mpi else "")


class Cell(msgspec.Struct, frozen=True):
    """What one launch executes; launches of one cell are the samples of its figures. `id` is unique in a run and safe as a file name."""

    id: str
    program: Program
    placement: Placement
    arguments: tuple[str, ...]  # "n=100,1000": the sweep runs inside the launch
