"""aprun: ALPS of Cray XE, XK and XC (aprun(1))."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.system.mpi_families import Family, Layout, NodeCapacity, bind_unit

LABEL = "aprun"
COMMAND = "aprun"
SYSTEMS = ("pbs", "slurm")


def ways(command: str, family: Family) -> Sequence[tuple[str, ...]]:
    return [(command,)]


def words(spread: Layout, room: NodeCapacity) -> Sequence[str]:
    """Return the options; `-j` is the number of hardware threads used on each core."""
    unit = bind_unit(spread, room)
    of_core = 1 if unit == "core" else max(1, room.threads // max(1, room.cores))
    counts = ["-n", str(spread.ranks), "-N", str(spread.per_node), "-d", str(spread.threads), "-j", str(of_core)]
    bound = "none" if not unit else "depth" if spread.threads > 1 else "cpu"
    return [*counts, "-cc", bound]
