"""What a plan is made of: placements, programs, cells."""

from __future__ import annotations

import msgspec

from firstlight.toolchains import Absent


class Placement(msgspec.Struct, frozen=True):
    """Where a program runs: nodes, ranks in all, threads a rank."""

    nodes: int = 1
    ranks: int = 1
    threads: int = 1

    @property
    def per_node(self) -> int:
        """Ranks on the fullest node."""
        return -(-self.ranks // self.nodes)


class Program(msgspec.Struct, frozen=True):
    """One executable: a variant built by a toolchain, against an MPI library where it needs one.

    `variant` is blas_openblas for blas.cpp with OpenBLAS.
    """

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
    """What one launch executes; launches of one cell are the samples of its figures.

    `id` is unique in a run and safe as a file name.
    """

    id: str
    program: Program
    placement: Placement
    arguments: tuple[str, ...]  # "n=100,1000": the sweep runs inside the launch


class Plan(msgspec.Struct, frozen=True):
    """What will be launched, and what could not be planned on this machine and why."""

    cells: tuple[Cell, ...]
    absent: tuple[Absent, ...]

    @property
    def programs(self) -> list[Program]:
        """Each executable once, in the order of the cells."""
        return list(dict.fromkeys(cell.program for cell in self.cells))
