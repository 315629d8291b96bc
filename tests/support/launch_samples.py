"""An invented cell, MPI library and machine for tests of launches; `run` launches a stand-in for a program."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import synthetic_machine
from firstlight.execute.launch import Outcome, launch
from firstlight.execute.launch import command as command_of
from firstlight.execute.launch.invocation import Here
from firstlight.model.plan import Cell, Placement, Program
from firstlight.system.mpi_families import NodeCapacity
from firstlight.toolchain import Mpi, Toolbox

MACHINE = synthetic_machine.machine()
TWO = Here(NodeCapacity(2, 2))  # cores
NO_TOOLS = Toolbox((), (), (), ())
Make = Callable[[str], Path]


def cell(mpi: str | None = None, ranks: int = 1, threads: int = 1) -> Cell:
    return Cell("dot.serial", Program("dot", "serial", "gcc-base", mpi), Placement(1, ranks, threads), ("n=100",))


def library(family: str) -> Mpi:
    return Mpi(family, family, family, "5", "system", "/x/mpicxx", None, (), "/x/mpiexec", {"FROM_LIBRARY": "1"})


def run(executable: Path, tmp_path: Path, threads: int = 1, timeout: float = 20, tools: Toolbox = NO_TOOLS) -> Outcome:
    output = tmp_path / "record.jsonl"
    output.unlink(missing_ok=True)
    ready = command_of(cell(threads=threads), executable, tools, output=output, machine=MACHINE)
    return launch(ready, timeout, f"test-{os.getpid()}-{tmp_path.name}")
