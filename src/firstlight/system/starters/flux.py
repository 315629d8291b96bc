"""flux run: a job in the Flux instance that this process stands in (flux-run(1))."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from firstlight.system.mpi_families import Family, Layout, NodeCapacity, bind_unit

LABEL = "flux run"
COMMAND = "flux"
SYSTEMS = ("flux",)


def is_it(path: Path) -> bool:
    return True


def ways(command: str, family: Family) -> Sequence[tuple[str, ...]]:
    """By itself it speaks the first PMI, which all of MPICH's family do; others need its PMIx plugin."""
    pmix = [(command, "run", "-o", "pmi=pmix")] if "pmix" in family.pmi else []
    plain = (command, "run")
    return [*pmix, plain] if family.pmi[:1] == ("pmix",) else [plain, *pmix]


def words(spread: Layout, room: NodeCapacity) -> Sequence[str]:
    """It counts cores. Ranks without a core of their own get all of their node together."""
    if bind_unit(spread, room) != "core":
        return [
            f"--nodes={spread.nodes}",
            f"--tasks-per-node={spread.per_node}",
            "--exclusive",
            "-o",
            "cpu-affinity=off",
        ]
    counts = [f"--nodes={spread.nodes}", f"--ntasks={spread.ranks}", f"--cores-per-task={spread.threads}"]
    return [*counts, "-o", "cpu-affinity=per-task"]


def devices(per_node: int, gpus: int) -> Sequence[str]:
    """Its unit is a GPU a rank."""
    return ["--gpus-per-task=1", "-o", "gpu-affinity=per-task"] if per_node <= gpus else []
