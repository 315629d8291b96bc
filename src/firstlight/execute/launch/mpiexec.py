"""The mpiexec of an MPI library, with the options that its family has for placing and binding ranks."""

from __future__ import annotations

import os
import signal

from firstlight.core.errors import UsageError
from firstlight.execute.launch.invocation import Here, Invocation, shell_signal, thread_binding
from firstlight.model.plan import Placement
from firstlight.system.mpi_families import Family
from firstlight.toolchain import Mpi


class Mpiexec:
    """The launcher of one family."""

    def __init__(self, family: Family) -> None:
        self._family = family

    def invocation(self, mpi: Mpi | None, placement: Placement, here: Here) -> Invocation:
        if mpi is None:
            raise UsageError(f"a program of {self._family.label} requires its MPI library, but none was specified")
        telling, placing = self._family.telling, self._family.placing(placement, here.room)
        words = [mpi.launcher, *telling, "-n", str(placement.ranks), *placing]
        binding = thread_binding(placement, here.room) | self._family.pinning(placement, here.room)
        return Invocation(tuple(words), binding | self._on_one_node(mpi, placement) | mpi.environment)

    def _on_one_node(self, mpi: Mpi, placement: Placement) -> dict[str, str]:
        """Return variables that skip unnecessary searches of pip's library on one node, unless the user set them."""
        if mpi.origin != "embedded" or placement.nodes > 1:
            return {}
        return {name: value for name, value in self._family.on_one_node.items() if name not in os.environ}

    def signal_of(self, status: int, printed: str) -> int | None:
        signals = self._family.signals(printed)
        # The first that died did so by itself: the launcher then kills the others.
        return next(
            (number for number in signals if number != signal.SIGKILL), signals[0] if signals else shell_signal(status)
        )
