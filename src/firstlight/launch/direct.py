"""No MPI: the program is started as it is. One thread is pinned to one core, more bind themselves (OpenMP, close)."""

from __future__ import annotations

from firstlight.launch.launcher import Invocation, thread_binding
from firstlight.plan import Placement
from firstlight.toolchains import Mpi


def invocation(mpi: Mpi | None, placement: Placement, cpus: tuple[int, ...], cores: int) -> Invocation:
    # The first CPU serves most interrupts, the last ones may be slow cores of a hybrid processor: take the second.
    cpu = cpus[min(1, len(cpus) - 1)] if placement.threads == 1 else None
    return Invocation((), thread_binding(placement, cores), cpu)


def signal_of(status: int, printed: str) -> int | None:
    return -status if status < 0 else None
