"""Drivers of schedules for one MPI library, linked with the algorithms, which need no MPI."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import drivers
import native
from firstlight import ROOT
from firstlight.execute.recorder.library import C_ONLY
from firstlight.model.plan import Placement
from firstlight.system import mpi_families
from firstlight.toolchain import Mpi
from firstlight.toolchain import native as own

COLLECTIVES = ROOT / "native" / "collectives"
FLAGS = ("-Wall", "-Wextra", "-Werror", "-Wno-psabi", *C_ONLY)


def algorithms() -> Path:
    """libcollectives.a, from the cache or built now."""
    tool = native.toolchain("base")
    assert tool is not None
    return own.schedules(tool.cxx, native.CACHE)


def driver(mpi: Mpi, source: Path, *flags: str) -> Path:
    """Build the program from `source` and the executor."""
    sources = [source, *sorted((COLLECTIVES / "mpi").glob("*.cpp"))]
    return linked(mpi, source.stem, sources, [algorithms()], "-O1", f"-I{COLLECTIVES}/include", *flags)


def linked(mpi: Mpi, name: str, sources: Sequence[Path], archives: Sequence[Path], *flags: str) -> Path:
    """Link a program with the library's own compiler."""
    parts = drivers.objects(sources, *FLAGS, *flags, compiler=mpi.cxx, environment=mpi.environment)
    return drivers.linked(name, [*parts, *archives], *flags, compiler=mpi.cxx, environment=mpi.environment)


def launcher(mpi: Mpi, ranks: int) -> list[str]:
    """mpiexec for more ranks than there are cores, too."""
    unbound = mpi_families.of(mpi.family).placing(Placement(ranks=ranks), mpi_families.NodeCapacity(0, 0))
    return [mpi.launcher, "-n", str(ranks), *unbound]
