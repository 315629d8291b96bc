"""What a launcher supplies: a file of this folder (direct, srun), or the mpiexec of an MPI family."""

from __future__ import annotations

import os
import re
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple, Protocol

import msgspec

from firstlight.errors import UsageError
from firstlight.machine import Machine, allocation, cores
from firstlight.mpi_families import Room, every, grain
from firstlight.plan import Placement
from firstlight.process.tree import GRACE
from firstlight.toolchains import Mpi


class Invocation(msgspec.Struct, frozen=True):
    """How a program is started: words before the executable, extra environment, the CPU it is pinned to (or None).

    `grace`: seconds that the launcher gets to end its ranks, also those on other nodes, before it is killed itself.
    """

    prefix: tuple[str, ...]
    environment: dict[str, str]
    cpu: int | None = None
    grace: float = GRACE


class Here(NamedTuple):
    """What programs may use of a node now. `serial`: the CPU for a program of one thread; `places`: its cores as
    OpenMP writes them, the fastest first."""

    room: Room
    serial: int | None = None
    places: str = "cores"


class Launcher(Protocol):
    """The functions of a launcher file. Two more are optional.

    `abandon()` is called after a launch that was ended. `devices(placement, gpus)` gives the words that let each rank
    of a program for GPUs have one of its node's `gpus`; without it every rank sees all of them, and the harness takes
    one by the rank's place on its node.
    """

    def invocation(self, mpi: Mpi | None, placement: Placement, here: Here) -> Invocation: ...

    def signal_of(self, status: int, printed: str) -> int | None:
        """The signal that ended a rank, as this launcher tells it in what was printed; None when there was none."""
        ...


def find(name: str) -> Launcher:
    """The launcher of an MPI family, "direct" without MPI, or that of a batch system ("srun").

    Raises UsageError when there is none of that name.
    """
    family = next((family for family in every() if family.name == name), None)
    if family is not None:
        from firstlight.launch.mpiexec import Mpiexec  # which takes its words from here

        return Mpiexec(family)
    path = f"firstlight.launch.{name}"
    module = import_module(path) if re.fullmatch(r"[a-z][a-z0-9_]*", name) and find_spec(path) else None
    if module is None or not hasattr(module, "invocation"):
        raise UsageError(f"no launcher {name!r}: an MPI family is one file, src/firstlight/mpi_families/{name}.py")
    launcher: Launcher = module  # a module with the functions of the protocol
    return launcher


def here(machine: Machine) -> Here:
    """What this process may use of the machine now: a batch system may allow fewer CPUs than were there before."""
    cpus = frozenset(os.sched_getaffinity(0))
    some = cores.among(machine, cpus)
    whole, threads = len(some), len(cpus)
    allowed = allocation.discover().cpus if machine.nodes > 1 else None
    if allowed is not None and allowed < threads:  # programs on several nodes are placed by the smallest of them
        whole, threads = max(1, whole * allowed // threads), allowed
    # Where all cores are alike, the system's own order of them is as good, and the word can be compared.
    places = ",".join("{" + ",".join(map(str, core)) + "}" for core in some) if machine.kinds else "cores"
    return Here(Room(max(1, min(machine.cores, whole)), threads), cores.serial(machine, sorted(cpus)), places)


def thread_binding(placement: Placement, room: Room, places: str = "cores") -> dict[str, str]:
    """OpenMP binding: to neighbouring cores, or hardware threads where there are more threads than cores.

    Ranks without cores of their own must not all bind to the first ones.
    """
    unit = grain(placement, room)
    if placement.per_node > 1 and not unit:
        return {"OMP_PROC_BIND": "false"}
    return {"OMP_PROC_BIND": "close", "OMP_PLACES": "threads" if unit == "hwthread" else places}


def shell_signal(status: int) -> int | None:
    """The convention of shells: 128 + signal."""
    return status - 128 if 128 < status < 128 + 65 else None
