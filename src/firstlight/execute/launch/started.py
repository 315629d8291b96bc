"""The launcher that starts one program with a launcher of `starters`, or with a user's own command line."""

from __future__ import annotations

from firstlight.core.errors import UsageError
from firstlight.execute.launch.invocation import Here, Invocation, shell_signal, thread_binding
from firstlight.model.plan import Placement
from firstlight.system import starters
from firstlight.toolchain import Mpi

GRACE = 15.0
"""Seconds for the launcher to end the ranks on all nodes after SIGTERM."""


class Started:
    """A launcher whose first words are the starter of an MPI library."""

    def __init__(self, label: str) -> None:
        self._label = label

    def invocation(self, mpi: Mpi | None, placement: Placement, here: Here) -> Invocation:
        """Return the invocation. Raises UsageError unless every node has the same number of ranks, as required."""
        if mpi is None or not mpi.starter:
            raise UsageError(f"{self._label} requires an MPI library that it can start, but none was specified")
        if placement.ranks != placement.per_node * placement.nodes:
            raise UsageError(f"{placement.ranks} ranks cannot be distributed evenly over {placement.nodes} nodes")
        words = starters.line(mpi.starter, placement, here.room)
        return Invocation(words, thread_binding(placement, here.room) | mpi.environment, grace=GRACE)

    def signal_of(self, status: int, printed: str) -> int | None:
        return shell_signal(status)


class WithDevices(Started):
    """A launcher that can assign a GPU to each rank."""

    def __init__(self, starter: starters.Starter) -> None:
        super().__init__(starter.LABEL)
        self._starter = starter

    def devices(self, placement: Placement, gpus: int) -> tuple[str, ...]:
        give = getattr(self._starter, "devices", None)
        return tuple(give(placement.per_node, gpus)) if give is not None else ()


def started(starter: tuple[str, ...]) -> Started:
    """Return the launcher with these first words of a command line."""
    one = starters.of(starter)
    return Started(" ".join(starter)) if one is None else WithDevices(one)
