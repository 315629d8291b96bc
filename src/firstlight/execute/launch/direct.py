"""No MPI: the program is started as it is. One thread is pinned to one core, more bind themselves (OpenMP, close)."""

from __future__ import annotations

from firstlight.execute.launch.invocation import Here, Invocation, thread_binding
from firstlight.model.plan import Placement
from firstlight.toolchain import Mpi


def invocation(mpi: Mpi | None, placement: Placement, here: Here) -> Invocation:
    cpu = here.serial if placement.threads == 1 else None
    return Invocation((), thread_binding(placement, here.room, here.places), cpu)


def signal_of(status: int, printed: str) -> int | None:
    return -status if status < 0 else None
