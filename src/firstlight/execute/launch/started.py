"""A launcher of `starters`, or a user's own command line, as what starts one program."""

from __future__ import annotations

from firstlight.core.errors import UsageError
from firstlight.execute.launch.invocation import Here, Invocation, shell_signal, thread_binding
from firstlight.model.plan import Placement
from firstlight.system import starters
from firstlight.toolchain import Mpi

GRACE = 15.0
"""Seconds for it to end the ranks on all nodes after SIGTERM."""


class Started:
    """The launcher whose first words an MPI library has as its starter."""

    def __init__(self, label: str) -> None:
        self._label = label

    def invocation(self, mpi: Mpi | None, placement: Placement, here: Here) -> Invocation:
        """Raises UsageError for ranks that are not the same number on each node: they only know such."""
        if mpi is None or not mpi.starter:
            raise UsageError(f"{self._label} needs an MPI library that it can start: none was given")
        if placement.ranks != placement.per_node * placement.nodes:
            raise UsageError(f"{placement.ranks} ranks cannot be spread evenly over {placement.nodes} nodes")
        words = starters.line(mpi.starter, placement, here.room)
        return Invocation(words, thread_binding(placement, here.room) | mpi.environment, grace=GRACE)

    def signal_of(self, status: int, printed: str) -> int | None:
        return shell_signal(status)


class WithDevices(Started):
    """One that can give each rank a GPU."""

    def __init__(self, starter: starters.Starter) -> None:
        super().__init__(starter.LABEL)
        self._starter = starter

    def devices(self, placement: Placement, gpus: int) -> tuple[str, ...]:
        give = getattr(self._starter, "devices", None)
        return tuple(give(placement.per_node, gpus)) if give is not None else ()


def started(starter: tuple[str, ...]) -> Started:
    """By the first words of a command line."""
    one = starters.of(starter)
    return Started(" ".join(starter)) if one is None else WithDevices(one)
