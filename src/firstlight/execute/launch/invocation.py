"""The interface of every launcher, and the command line and environment that it returns."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import msgspec

from firstlight.model.plan import Placement
from firstlight.system.mpi_families import NodeCapacity, bind_unit
from firstlight.system.process.tree import GRACE
from firstlight.toolchain import Mpi


class Invocation(msgspec.Struct, frozen=True):
    """How a program is started: words before the executable, extra environment, the CPU it is pinned to (or None).

    `grace`: seconds that the launcher gets to end its ranks, also those on other nodes, before it is killed itself.
    """

    prefix: tuple[str, ...]
    environment: dict[str, str]
    cpu: int | None = None
    grace: float = GRACE


class Here(NamedTuple):
    """What programs may use of a node now. `serial`: the CPU for a program of one thread; `places`: its cores in
    OpenMP's notation, the fastest first.
    """

    room: NodeCapacity
    serial: int | None = None
    places: str = "cores"


class Launcher(Protocol):
    """The functions of a launcher file. Two more are optional.

    `abandon()` is called after a launch that was ended. `devices(placement, gpus)` returns the words that assign one of
    a node's `gpus` to each rank of a program for GPUs; without it every rank sees all of them, and the harness selects
    one by the rank's place on its node.
    """

    def invocation(self, mpi: Mpi | None, placement: Placement, here: Here) -> Invocation: ...

    def signal_of(self, status: int, printed: str) -> int | None:
        """Return the signal that ended a rank, as this launcher reports it in its output; None if there was none."""
        ...


def thread_binding(placement: Placement, room: NodeCapacity, places: str = "cores") -> dict[str, str]:
    """Return variables that bind OpenMP threads to neighbouring cores, or to hardware threads if cores do not suffice.

    Ranks without cores of their own must not all bind to the first ones.
    """
    unit = bind_unit(placement, room)
    if placement.per_node > 1 and not unit:
        return {"OMP_PROC_BIND": "false"}
    return {"OMP_PROC_BIND": "close", "OMP_PLACES": "threads" if unit == "hwthread" else places}


def shell_signal(status: int) -> int | None:
    """Return the signal in a status by the convention of shells: 128 + signal; None if there is none."""
    return status - 128 if 128 < status < 128 + 65 else None
