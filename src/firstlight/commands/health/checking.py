"""Checking: measure a node, collect what it is compared with, and judge it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path

from firstlight import runner
from firstlight.analysis import stored
from firstlight.analysis.changes import Value
from firstlight.analysis.compare import disturbance, share_disturbed
from firstlight.analysis.history import accepted, folder, index
from firstlight.analysis.verdict import DISTURBED, Identity
from firstlight.commands.health import checks
from firstlight.commands.health.page import Health
from firstlight.commands.nodes.requests import CHAPTER
from firstlight.core.errors import OK, UsageError
from firstlight.results.record import Run
from firstlight.runner import RunRequest
from firstlight.runner.interrupt import interruptible
from firstlight.runner.progress import Progress, display
from firstlight.system import site
from firstlight.system.machine import cache_directory
from firstlight.toolchain import Toolbox

FIRST = 0.6
"""The share of the budget that is spent before the first judgement."""
RECENT = 60 * 86400.0
"""Seconds. Older runs of similar machines are not compared."""


def measure(
    names: Sequence[str], seconds: float, toolchain: str | None, results: Path, threshold: float
) -> tuple[Path, Health]:
    """Measure the node in a new run, and again if something is not healthy. Return the run and the result.

    Raises UsageError for what is not available here, BuildError if nothing could be built.
    """
    with interruptible(), display() as progress:
        if toolchain is None:
            toolchain = _native(runner.discover(progress)[1])
        order = RunRequest(tuple(names) or (CHAPTER,), budget=FIRST * seconds, toolchains=(toolchain,), results=results)
        path = runner.run(order, progress).directory
        found = check(path, results, threshold)
        if found.code != OK:
            _again(path, (1 - FIRST) * seconds, progress)
            found = check(path, results, threshold)
    return path, found


def _native(toolbox: Toolbox) -> str:
    """Return the first compiler's toolchain for this processor, or its first one. Raises UsageError if none is here."""
    if not toolbox.toolchains:
        raise UsageError("no compiler is here; ./fl doctor shows how to add one")
    first = toolbox.toolchains[0]
    native = [t for t in toolbox.toolchains if t.compiler == first.compiler and t.flag_set == "native"]
    return (native or [first])[0].name


def _again(path: Path, seconds: float, progress: Progress) -> None:
    with contextlib.suppress(UsageError):  # all its intervals are narrow already
        runner.resume(path, progress, seconds)


def check(path: Path, results: Path, threshold: float) -> Health:
    """Return the result for the run at `path`. Raises RecordError if it cannot be read, UsageError for wrong limits."""
    judgement, workloads, _ = stored.judged(path)
    run = judgement.run
    wanted = checks.limits(site.current().site.limits, workloads.values())
    base = accepted.baseline(results, run.machine.name) if results.is_dir() else None
    if base is not None and base.resolve() == path.resolve():
        base = None
    before = None if base is None else stored.judged(base).judgement
    similar, machines = _similar(run, results)
    share = share_disturbed(judgement.figures)
    return Health(
        machine=run.machine.title,
        run=str(path) if path.parent != results else path.name,
        checks=tuple(checks.checks(judgement, workloads, wanted, before, similar, threshold)),
        disturbed=disturbance("the run", judgement, share) if share >= DISTURBED else "",
        accepted=base.name if base is not None else "",
        similar=machines,
        limits=len(wanted),
    )


def _similar(run: Run, results: Path) -> tuple[dict[Identity, list[Value]], int]:
    """Return the newest values of each figure on other machines with the same processor, and how many these are."""
    if not results.is_dir():
        return {}, 0
    read = folder.read([results], index.place(cache_directory(), results))
    newest: dict[str, folder.Past] = {}
    for past in read.runs:
        machine = past.run.machine
        alike = (machine.processor, machine.cores) == (run.machine.processor, run.machine.cores)
        if machine.name != run.machine.name and alike and time.time() - past.run.started < RECENT:
            newest[machine.name] = past
    found: dict[Identity, list[Value]] = {}
    for past in newest.values():
        for number, value in past.entry.values:
            found.setdefault(read.figures[number].identity, []).append(value)
    return found, len(newest)


def accept(path: Path, results: Path) -> None:
    """Make the run the baseline of its machine. Raises UsageError if the run is not in the results folder."""
    if path.resolve().parent != results.resolve():
        raise UsageError(f"{path} is not in {results}; name its folder: --results DIR")
    accepted.accept(results, path, stored.judged(path).judgement.run.machine.name)
