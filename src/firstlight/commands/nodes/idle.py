"""Measure each node in a job of its own, which starts when the node is idle: no large allocation is necessary.

    results/NAME/   nodes.json   node-001/ ...   jobs/node-001/script.sh ...

`./fl nodes NAME` shows the nodes that are measured, at any time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from firstlight import __version__
from firstlight.commands.nodes import folder
from firstlight.commands.nodes.folder import NodesRun, Record
from firstlight.core.errors import FirstlightError, UsageError
from firstlight.core.units import count
from firstlight.results import store
from firstlight.runner.job import Job, Target
from firstlight.system import batch
from firstlight.system.batch import slurm

NO_PAIRS = "each node was measured alone, when it was idle"


def hosts(system: batch.System, partition: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the nodes of the partition, and the state of each that accepts no jobs.

    Raises UsageError for a batch system other than Slurm, and for a partition without nodes that accept jobs.
    """
    if system.LABEL != slurm.LABEL:
        raise UsageError(f"--idle is available under {slurm.LABEL} only, not under {system.LABEL}")
    good, bad = slurm.nodes(batch.output(slurm.NODES), partition)
    if not good:
        where = f"the partition {partition}" if partition else "the default partition"
        raise UsageError(f"no node of {where} accepts jobs; sinfo lists partitions and nodes")
    return good, bad


def begin(
    results: Path, name: str | None, suite: str, names: Sequence[str], words: Sequence[str]
) -> tuple[Path, Record]:
    """Return the folder for the nodes with these host names, and its record. Raises UsageError for a name in use."""
    started = time.time()
    root = results.absolute()
    path = root / (store.free_name(root, name) if name else store.free_id(root, started, f"nodes-{suite}"))
    runs = tuple(NodesRun(f"node-{k + 1:03d}", (k,)) for k in range(len(names)))
    record = Record(
        folder.SCHEMA, started, __version__, ("./fl", *sys.argv[1:]), tuple(names), tuple(words), (), NO_PAIRS, 0, 1,
        (runs,), "complete",
    )  # fmt: skip
    return path, record


def target(path: Path, run: NodesRun) -> Target:
    """Return the run that the job of a node fills."""
    return Target(path / run.name, path / store.layout.JOBS / run.name)


def submit(path: Path, record: Record, one: Callable[[NodesRun], Job]) -> list[Job]:
    """Submit the job of each node with `one`. Raises FirstlightError; the jobs submitted before remain."""
    with store.durable.os_errors_as_store_error(path):
        path.mkdir(parents=True)
    folder.write(path, record)
    sent: list[Job] = []
    for run in record.parts:
        try:
            sent.append(one(run))
        except FirstlightError as error:
            done = f"{len(sent)} of {count(len(record.hosts), 'job')} submitted"
            raise FirstlightError(f"{record.hosts[run.members[0]]}: {error}; {done}") from error
    return sent
