"""Slurm's srun: starts the ranks of any MPI library that works with it (proved by a trial, see toolchain/starting.py).

Every count is set here: values of the job's submission (SLURM_NTASKS and others) must not decide where ranks run.
"""

from __future__ import annotations

import os
import re
import time

from firstlight.core.errors import UsageError
from firstlight.execute.launch.invocation import Here, Invocation, shell_signal, thread_binding
from firstlight.model.plan import Placement
from firstlight.system.machine import allocation
from firstlight.system.machine.allocation import Allocation
from firstlight.system.mpi_families import bind_unit
from firstlight.system.process import bounded
from firstlight.toolchain import Mpi

STEP = "firstlight"
"""The beginning of the name of every job step started here: by it a step that outlived its srun is found."""
GRACE = 15.0
"""Seconds for srun to end the ranks on all nodes after SIGTERM."""


def invocation(mpi: Mpi | None, placement: Placement, here: Here) -> Invocation:
    """Return the invocation. Raises UsageError for more nodes than the allocation has, as srun would wait forever."""
    if mpi is None or not mpi.starter:
        raise UsageError("srun requires an MPI library that it can start, but none was specified")
    held = allocation.discover()
    if placement.nodes > held.nodes:
        raise UsageError(
            f"the placement requires {placement.nodes} nodes, but this Slurm job has {held.nodes}; see ./fl submit "
            f"--nodes"
        )
    if placement.ranks != placement.per_node * placement.nodes:
        raise UsageError(f"{placement.ranks} ranks cannot be distributed evenly over {placement.nodes} nodes")
    words = [
        *mpi.starter,
        f"--job-name={_name(held)}",
        f"--nodes={placement.nodes}",
        f"--ntasks={placement.ranks}",
        f"--ntasks-per-node={placement.per_node}",
        "--distribution=block:block",
        "--overlap",  # firstlight itself occupies a processor of the allocation while it waits
        "--kill-on-bad-exit=1",
        "--input=none",
        "--immediate=60",  # nodes that are busy are an error, not a reason to wait
    ]
    words += held.words(placement.nodes)
    if unit := bind_unit(placement, here.room):
        bound = "cores" if unit == "core" else "threads"
        words += [f"--cpus-per-task={placement.threads}", "--exact", f"--cpu-bind={bound}"]
        if unit == "core" and here.room.threads > here.room.cores:
            words.append("--threads-per-core=1")  # else it counts hardware threads, and puts two ranks on a core
    else:
        words += ["--cpus-per-task=1", "--overcommit", "--cpu-bind=none"]
    return Invocation(tuple(words), thread_binding(placement, here.room) | mpi.environment, grace=GRACE)


def _name(held: Allocation) -> str:
    """Return the name of our own job steps; a confined firstlight must not touch steps on other nodes."""
    return "@".join((STEP, *held.hosts)) if held.confined else STEP


def on_node(host: str, cpus: int | None) -> tuple[str, ...]:
    """Return words that start one process on a node of the allocation, with all that the allocation has there. Ranks
    that it starts itself overlap with it.
    """
    return (
        "srun", f"--job-name={STEP}-on-node", f"--nodelist={host}", "--nodes=1", "--ntasks=1", "--overlap",
        f"--cpus-per-task={cpus or 1}", "--cpu-bind=none", "--input=none", "--immediate=60",
    )  # fmt: skip


def devices(placement: Placement, gpus: int) -> tuple[str, ...]:
    """Return options so that each rank sees one GPU, the nearest; ranks share it if a node has more ranks than GPUs."""
    taken = min(gpus, placement.per_node)
    return (f"--gpus-per-node={taken}", f"--gpu-bind=single:{-(-placement.per_node // taken)}")


def signal_of(status: int, printed: str) -> int | None:
    """Return the signal in srun's status, 128 + signal; its output, as `Aborted`, is about the first rank only."""
    return shell_signal(status)


def abandon(patience: float = 10.0) -> None:
    """End the step, on all nodes, of a launch that did not end by itself; return when it is gone or patience ends."""
    job = os.environ.get("SLURM_JOB_ID", "")
    deadline = time.monotonic() + patience
    while steps := _steps(job):
        bounded.output(("scancel", "--signal=KILL", *steps))
        if time.monotonic() > deadline:
            return
        time.sleep(0.2)


def _steps(job: str) -> list[str]:
    """Return the steps of this job that were started here and still run; none if the controller does not answer."""
    if not job:
        return []
    lines = bounded.output(("squeue", "--steps", "--noheader", f"--jobs={job}", "--format=%i %j")).splitlines()
    own = _name(allocation.discover())
    return [words[0] for words in map(str.split, lines) if len(words) == 2 and words[1] == own and _IS_STEP(words[0])]


_IS_STEP = re.compile(r"[0-9]+\.[0-9]+").fullmatch
