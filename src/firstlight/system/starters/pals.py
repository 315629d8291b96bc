"""The mpiexec of HPE Cray's PALS, which starts ranks in jobs of PBS on Cray EX."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from firstlight.system.mpi_families import Family, Layout, NodeCapacity, bind_unit

LABEL = "PALS"
COMMAND = "mpiexec"
SYSTEMS = ("pbs",)


def is_it(path: Path) -> bool:
    """Return whether it is below a folder pals: /opt/cray/pals/1.8/bin or /opt/cray/pe/pals/default/bin."""
    return "pals" in path.resolve().parts


def ways(command: str, family: Family) -> Sequence[tuple[str, ...]]:
    pmix = [(command, "--pmi=pmix")] if "pmix" in family.pmi else []
    return [*pmix, (command,)] if family.pmi[:1] == ("pmix",) else [(command,), *pmix]


def words(spread: Layout, room: NodeCapacity) -> Sequence[str]:
    """Return the options. The depth counts hardware threads; those with the lowest numbers are of separate cores."""
    counts = ["--envall", "-n", str(spread.ranks), "--ppn", str(spread.per_node)]
    if not bind_unit(spread, room):
        return [*counts, "--cpu-bind", "none"]
    return [*counts, "--depth", str(spread.threads), "--cpu-bind", "depth"]
