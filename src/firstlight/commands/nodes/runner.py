"""Run firstlight on all nodes simultaneously, then on pairs of nodes, round by round.

Each run is a run like any other, in a directory of its own, so no finished result can be lost. A continued measurement
starts the runs that have not begun, and resumes the runs that have not ended.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from msgspec.structs import replace

from firstlight import __version__
from firstlight.commands.nodes import folder, schedule
from firstlight.commands.nodes.folder import NodesRun, Record
from firstlight.commands.nodes.requests import Commands
from firstlight.core.errors import INCONCLUSIVE, OK, REGRESSION, UsageError
from firstlight.execute.launch import srun
from firstlight.results import store
from firstlight.runner import job
from firstlight.runner.interrupt import interruptible
from firstlight.runner.progress import Progress
from firstlight.system.machine import cache_directory
from firstlight.system.machine.allocation import ONLY, Allocation
from firstlight.system.process import guard

ENDED = (OK, REGRESSION, INCONCLUSIVE)
"""Exit statuses of a run that was executed."""
PATIENCE = 90.0
"""Seconds in which stopped runs write the reports of the available results."""
_PAUSE = 0.2


def begin(
    results: Path, name: str | None, suite: str, commands: Commands, here: Allocation, at_once: int | None
) -> Path:
    """Create a folder with the plan of all runs. Raises UsageError for a name that is in use, StoreError."""
    started = time.time()
    path = results / (store.free_name(results, name) if name else store.free_id(results, started, f"nodes-{suite}"))
    n = len(here.hosts)
    pairs, left_out = schedule.sampled(n, int(started)) if commands.pairs else ([], 0)
    rounds = [tuple(NodesRun(f"node-{k + 1:03d}", (k,)) for k in range(n))]
    rounds += [tuple(NodesRun(f"pair-{a + 1:03d}-{b + 1:03d}", (a, b)) for a, b in one) for one in pairs]
    record = Record(
        folder.SCHEMA, started, __version__, ("./fl", *sys.argv[1:]), here.hosts, commands.nodes, commands.pairs,
        commands.no_pairs, left_out, at_once or n, tuple(rounds),
    )  # fmt: skip
    with store.durable.os_errors_as_store_error(path):
        (path / folder.OUTPUT).mkdir(parents=True)
    folder.write(path, record)
    return path


def go_on(path: Path, here: Allocation, progress: Progress) -> Record:
    """Measure what is not measured yet. Raises UsageError if the nodes are different, KeyboardInterrupt after all
    started runs have ended.
    """
    record = folder.read(path)
    if record.hosts != here.hosts:
        raise UsageError(
            f"{path}: the folder has other nodes than this allocation; start a new measurement with ./fl "
            f"run --each-node"
        )
    try:
        with interruptible():
            for k in range(len(record.rounds)):
                record = _round(path, record, k, here, progress)
        record = replace(record, state="complete")
    except KeyboardInterrupt:
        record = replace(folder.read(path), state="interrupted")
        folder.write(path, record)
        raise
    folder.write(path, record)
    return record


def _round(path: Path, record: Record, number: int, here: Allocation, progress: Progress) -> Record:
    """Execute the parts of a round that have not ended, at most `at_once` simultaneously."""
    of = f"round {number} of {len(record.rounds) - 1}" if number else f"{len(record.hosts)} nodes"
    progress.state.enter("pairs" if number else "nodes", of)
    parts = list(record.rounds[number])
    waiting = [k for k, part in enumerate(parts) if part.status not in ENDED]
    progress.state.total = len(waiting)
    running: dict[int, subprocess.Popen[bytes]] = {}
    with guard.environment() as variables, _ending(running):
        while waiting or running:
            while waiting and len(running) < record.at_once:
                k = waiting.pop(0)
                running[k] = _start(path, record, parts[k], here, variables)
            progress.update()
            time.sleep(_PAUSE)
            for k in [k for k, process in running.items() if process.poll() is not None]:
                status = running.pop(k).returncode
                parts[k] = replace(parts[k], status=status, why="" if status in ENDED else _last_line(path, parts[k]))
                progress.state.done += 1
                if parts[k].why:
                    names = " and ".join(record.hosts[m] for m in parts[k].members)
                    progress.note(f"{names}: not measured: {parts[k].why}")
                rounds = (*record.rounds[:number], tuple(parts), *record.rounds[number + 1 :])
                record = replace(record, rounds=rounds)
                folder.write(path, record)
    return record


def _start(
    path: Path, record: Record, part: NodesRun, here: Allocation, environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    hosts = [record.hosts[k] for k in part.members]
    words = record.pairs if len(part.members) > 1 else record.nodes
    where = ("--results", str(path.absolute()))
    own = (
        ("run", "--resume", part.name)
        if (path / part.name / "run.json").exists()
        else ("run", *words, "--as", part.name)
    )
    variables = {ONLY: ",".join(hosts), "FIRSTLIGHT_CACHE": str(cache_directory())}
    with _open_output(path, part) as file:
        return subprocess.Popen(
            [*srun.on_node(hosts[0], here.cpus), *job.myself(), *own, *where],
            env={**environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _open_output(path: Path, part: NodesRun) -> IO[bytes]:
    with store.durable.os_errors_as_store_error(path):
        return (path / folder.OUTPUT / f"{part.name}.txt").open("wb")


def _last_line(path: Path, part: NodesRun) -> str:
    """Return the last line that it printed."""
    try:
        with (path / folder.OUTPUT / f"{part.name}.txt").open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 4096))
            lines = file.read().decode(errors="replace").strip().splitlines()
    except OSError:
        lines = []
    return lines[-1].strip() if lines else "no output"


@contextlib.contextmanager
def _ending(running: dict[int, subprocess.Popen[bytes]]) -> Iterator[None]:
    """Stop all runs when the block ends: srun forwards SIGTERM, and a run handles it like Ctrl-C and reports."""
    try:
        yield
    finally:
        _end(list(running.values()))


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + PATIENCE
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
