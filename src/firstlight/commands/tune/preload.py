"""Preload: build libfirstlight_coll.so for one MPI library, and write the decision table that it reads."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

from firstlight.commands.tune.table import Table
from firstlight.toolchain import Mpi, native
from firstlight.toolchain.cmake import run

NAME = "libfirstlight_coll.so"
VARIABLE = "FIRSTLIGHT_COLLECTIVES"
"""The variable that names the table; with FIRSTLIGHT_COLLECTIVES_VERBOSE=1 rank 0 prints what ran how often."""
MAGIC = "firstlight-collectives 1"


def library(mpi: Mpi, cache: Path) -> Path:
    """Return the library for `mpi`, from the cache or newly built.

    Raises BuildError, in one line with the path of the compiler's whole output, if it cannot be built.
    """
    environment = dict(mpi.environment)
    archive = native.schedules(_behind(mpi), cache)
    return native.make(
        "firstlight_coll", NAME, ("collectives",), cache, lambda: mpi.cxx,
        {"FL_WITH_MPI": "ON", "FL_COLLECTIVES": str(archive), "CMAKE_CXX_COMPILER": mpi.cxx}, environment,
    )  # fmt: skip


def _behind(mpi: Mpi) -> str:
    """Return the compiler that the wrapper calls: libraries of one compiler share its archive of schedules. A wrapper
    that does not name its compiler is the compiler itself, as those of Cray are.
    """
    code, shown = run([mpi.cxx, "-show"], os.environ | mpi.environment, merge=False)
    words = shlex.split(shown) if code == 0 else []
    return (shutil.which(words[0]) if words else None) or mpi.cxx


def text(table: Table) -> str:
    """Return the decision table as the library reads it; native/collectives/preload/table.hpp describes it."""
    lines = [MAGIC, "# collective ranks bytes algorithm segments (0: automatic)"]
    lines += [f"{r.collective} {r.ranks} {r.low}-{r.high - 1} {r.algorithm} 0" for r in table.rules]
    return "\n".join(lines) + "\n"


def environment(library: Path, table: Path) -> dict[str, str]:
    """Return the variables that a user sets before mpiexec: the library and its table."""
    return {"LD_PRELOAD": str(library), VARIABLE: str(table)}
