"""Open MPI (mpiexec of 4, prterun of 5)."""

from __future__ import annotations

import os

from firstlight.errors import UsageError
from firstlight.launch.launcher import Way, fits, shell_signal, thread_binding
from firstlight.plan import Placement
from firstlight.toolchains import Mpi


def way(mpi: Mpi | None, placement: Placement, cpus: tuple[int, ...], cores: int) -> Way:
    if mpi is None:
        raise UsageError("an Open MPI program needs its MPI library: none was given")
    words = [mpi.launcher, "-n", str(placement.ranks)]
    if placement.per_node > cores:
        words.append("--oversubscribe")
    if placement.nodes > 1:
        wide = f":PE={placement.threads}" if fits(placement, cores) and placement.threads > 1 else ""
        words += ["--map-by", f"ppr:{placement.per_node}:node{wide}"]
        words += ["--bind-to", "core" if fits(placement, cores) else "none"]
    elif not fits(placement, cores):
        words += ["--bind-to", "none"]  # said aloud: the default binds, and even a rank with many threads to one core
    elif placement.threads == 1:
        words += ["--map-by", "core", "--bind-to", "core"]
    else:
        words += ["--map-by", f"slot:PE={placement.threads}", "--bind-to", "core"]
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.geteuid() == 0 else {}
    return Way(tuple(words), thread_binding(placement, cores) | root | mpi.environment)


def signal_of(status: int, printed: str) -> int | None:
    return shell_signal(status)
