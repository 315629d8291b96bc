"""Drivers of schedules for one MPI library, linked with the algorithms, which need no MPI."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import native
from firstlight import ROOT
from firstlight import native as own
from firstlight.toolchains import Mpi

COLLECTIVES = ROOT / "native" / "collectives"
FLAGS = ("-std=c++20", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX")


def algorithms() -> Path:
    """libcollectives.a, from the cache or built now."""
    tool = native.toolchain("base")
    assert tool is not None
    return own.make("collectives", "libcollectives.a", ("collectives",), native.CACHE, lambda: tool.cxx)


def driver(mpi: Mpi, source: Path, folder: Path, *flags: str) -> Path:
    """The program made of `source` and the executor."""
    include = f"-I{COLLECTIVES / 'include'}"
    sources = [source, *sorted((COLLECTIVES / "mpi").glob("*.cpp"))]

    def compiled(one: Path) -> Path:
        return compile(mpi, folder / f"{one.stem}.o", "-c", "-O1", include, *flags, str(one))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = [str(path) for path in pool.map(compiled, sources)]
    return compile(mpi, folder / "driver", *objects, str(algorithms()), *flags)


def compile(mpi: Mpi, made: Path, *words: str) -> Path:
    environment = os.environ | mpi.environment
    done = subprocess.run([mpi.cxx, *FLAGS, *words, "-o", str(made)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return made


def launcher(mpi: Mpi, ranks: int) -> list[str]:
    """mpiexec for more ranks than there are cores, too."""
    more = ["--oversubscribe", "--bind-to", "none"] if mpi.family == "openmpi" else []
    return [mpi.launcher, *more, "-n", str(ranks)]
