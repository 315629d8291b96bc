"""Checking: measure a node, collect what it is compared with, and judge it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from firstlight import runner
from firstlight.analysis import disturbance
from firstlight.analysis.changes import Value
from firstlight.analysis.history import accepted, folder, index
from firstlight.analysis.verdict import Identity
from firstlight.commands.health import checks
from firstlight.commands.health.checks import Limit
from firstlight.commands.health.page import Health
from firstlight.commands.nodes.requests import CHAPTER
from firstlight.commands.shared import runs
from firstlight.core.errors import ENVIRONMENT, INTERRUPTED, FirstlightError, UsageError
from firstlight.model import catalogue
from firstlight.model.catalogue import Workload
from firstlight.results.record import Run
from firstlight.runner import Result, RunRequest
from firstlight.runner.interrupt import interruptible
from firstlight.runner.progress import display
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
        here, toolbox = runner.discover(progress)
        _limits(catalogue.load(catalogue.roots()))  # a wrong reference is reported before a minute is spent
        _accepted(results, here.name)
        order = RunRequest(
            tuple(names) or (CHAPTER,),
            budget=FIRST * seconds,
            toolchains=(toolchain or _native(toolbox),),
            results=results,
        )
        path = _ended(runner.run(order, progress))
        found = check(path, results, threshold)
        if not found.sound:
            _ended(runner.resume(path, progress, (1 - FIRST) * seconds))
            found = check(path, results, threshold)
    return path, found


def _ended(result: Result) -> Path:
    """Return the directory of a run. Raises KeyboardInterrupt if interrupted, FirstlightError for a full disk."""
    if result.code == INTERRUPTED:
        raise KeyboardInterrupt
    if result.code == ENVIRONMENT:
        raise FirstlightError(f"{result.directory}: {result.missing or result.line}")
    return result.directory


def _native(toolbox: Toolbox) -> str:
    """Return the first compiler's toolchain for this processor, or its first one. Raises UsageError if none is here."""
    if not toolbox.toolchains:
        raise UsageError("no compiler was found; ./fl doctor shows how to add one")
    first = toolbox.toolchains[0]
    native = [t for t in toolbox.toolchains if t.compiler == first.compiler and t.flag_set == "native"]
    return (native or [first])[0].name


def check(path: Path, results: Path, threshold: float) -> Health:
    """Return the result for the run at `path`. Raises RecordError if it cannot be read, UsageError for wrong limits."""
    judgement, workloads, _ = runs.judged(path)
    run, wanted = judgement.run, _limits(workloads)
    base = _accepted(results, run.machine.name)
    if base is not None and base.resolve() == path.resolve():
        base = None
    before = None if base is None else runs.judged(base).judgement
    similar, machines = _similar(run, results)
    return Health(
        machine=run.machine.title,
        run=str(path) if path.parent != results else path.name,
        checks=tuple(checks.checks(judgement, workloads, wanted, before, similar, threshold)),
        disturbed=disturbance.warning("the run", judgement),
        accepted=base.name if base is not None else "",
        similar=machines,
        limits=len(wanted),
    )


def _limits(workloads: Mapping[str, Workload]) -> dict[str, Limit]:
    return checks.limits(site.current().site.limits, workloads.values())


def _accepted(results: Path, machine: str) -> Path | None:
    return accepted.baseline(results, machine) if results.is_dir() else None


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
