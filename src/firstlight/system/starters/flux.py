"""flux run: a job in the Flux instance that this process runs in (flux-run(1))."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.system.mpi_families import Family, Layout, NodeCapacity, bind_unit

LABEL = "flux run"
COMMAND = "flux"
SYSTEMS = ("flux",)


def ways(command: str, family: Family) -> Sequence[tuple[str, ...]]:
    """Return the ways: flux itself uses the first PMI, as all of MPICH's family do; others need its PMIx plugin."""
    pmix = [(command, "run", "-o", "pmi=pmix")] if "pmix" in family.pmi else []
    plain = (command, "run")
    return [*pmix, plain] if family.pmi[:1] == ("pmix",) else [plain, *pmix]


def words(spread: Layout, room: NodeCapacity) -> Sequence[str]:
    """Return the options. Flux counts cores; ranks without a core of their own share all of their node."""
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
    """Return the options for one GPU per rank, the unit of Flux; none if a node has fewer GPUs than ranks."""
    return ["--gpus-per-task=1", "-o", "gpu-affinity=per-task"] if per_node <= gpus else []
