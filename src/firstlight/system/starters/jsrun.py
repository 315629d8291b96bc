"""jsrun: the launcher of IBM's CORAL systems, in jobs of LSF. A rank is a resource set of its own."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.system.mpi_families import Family, Layout, NodeCapacity, bind_unit

LABEL = "jsrun"
COMMAND = "jsrun"
SYSTEMS = ("lsf",)


def ways(command: str, family: Family) -> Sequence[tuple[str, ...]]:
    return [(command,)]


def words(spread: Layout, room: NodeCapacity) -> Sequence[str]:
    """Return the options. The CPUs of jsrun are cores; ranks without a core of their own share one set per node."""
    unit = bind_unit(spread, room)
    if unit == "core":
        sets = [f"--nrs={spread.ranks}", f"--rs_per_host={spread.per_node}", "--tasks_per_rs=1"]
        return [
            *sets,
            f"--cpu_per_rs={spread.threads}",
            "--launch_distribution=packed",
            f"--bind=packed:{spread.threads}",
        ]
    sets = [f"--nrs={spread.nodes}", "--rs_per_host=1", f"--tasks_per_rs={spread.per_node}", "--cpu_per_rs=ALL_CPUS"]
    bound = f"packed:smt:{spread.threads}" if unit else "none"
    return [*sets, "--launch_distribution=packed", f"--bind={bound}"]


def devices(per_node: int, gpus: int) -> Sequence[str]:
    """Return the option for one GPU per set, which has whole GPUs; none if a node has fewer GPUs than ranks."""
    return ["--gpu_per_rs=1"] if per_node <= gpus else []
