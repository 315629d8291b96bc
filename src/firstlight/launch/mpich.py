"""MPICH (hydra's mpiexec)."""

from __future__ import annotations

import re

from firstlight.errors import UsageError
from firstlight.launch.launcher import Way, fits, shell_signal, thread_binding
from firstlight.plan import Placement
from firstlight.toolchains import Mpi


def way(mpi: Mpi | None, placement: Placement, cpus: tuple[int, ...], cores: int) -> Way:
    if mpi is None:
        raise UsageError("an MPICH program needs its MPI library: none was given")
    words = [mpi.launcher, "-n", str(placement.ranks)]
    if placement.nodes > 1:
        words += ["-ppn", str(placement.per_node)]
    if fits(placement, cores):
        words += ["-bind-to", "core" if placement.threads == 1 else f"core:{placement.threads}"]
    return Way(tuple(words), thread_binding(placement, cores) | mpi.environment)


def signal_of(status: int, printed: str) -> int | None:
    """Hydra returns the bare signal number as its status, so only its message tells a signal from an exit status."""
    told = re.search(r"EXIT STRING: .*\(signal (\d{1,2})\)", printed)
    return int(told[1]) if told else shell_signal(status)
