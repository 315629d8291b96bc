"""Intel MPI (its own hydra)."""

from __future__ import annotations

import re

from firstlight.errors import UsageError
from firstlight.launch.launcher import Way, fits, shell_signal, thread_binding
from firstlight.plan import Placement
from firstlight.toolchains import Mpi


def way(mpi: Mpi | None, placement: Placement, cpus: tuple[int, ...], cores: int) -> Way:
    if mpi is None:
        raise UsageError("an Intel MPI program needs its MPI library: none was given")
    domain = "core" if placement.threads == 1 else f"{placement.threads}:compact"
    pin = {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": domain} if fits(placement, cores) else {"I_MPI_PIN": "0"}
    words = [mpi.launcher, "-n", str(placement.ranks)]
    if placement.nodes > 1:
        words += ["-ppn", str(placement.per_node)]
        pin["I_MPI_JOB_RESPECT_PROCESS_PLACEMENT"] = "0"  # else it takes the batch system's layout, not -ppn
    return Way(tuple(words), thread_binding(placement, cores) | pin | mpi.environment)


def signal_of(status: int, printed: str) -> int | None:
    told = re.search(r"KILLED BY SIGNAL: (\d{1,2})", printed)
    return int(told[1]) if told else shell_signal(status)
