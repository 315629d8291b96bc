"""Unmeasured: what the run's suite and its budget left out, with the commands that measure it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

from firstlight.analysis import Judgement
from firstlight.analysis.evidence import lacks_device
from firstlight.core.shell import command
from firstlight.model.catalogue import SUITES, Workload
from firstlight.model.plan import Cell
from firstlight.model.plan.requirements import lacking_here
from firstlight.model.plan.selectors import serves
from firstlight.report import chapters
from firstlight.results.record import Run
from firstlight.results.store import documents


class Unmeasured(NamedTuple):
    workload: Workload
    command: str


def unmeasured(run: Run, workloads: Mapping[str, Workload]) -> list[Unmeasured]:
    """Return workloads that this machine can run, by chapter and name; none if the user chose what to measure."""
    if run.names or run.brought:
        return []
    measured = {c.program.workload for c in run.cells}
    left = [w for w in workloads.values() if w.name not in measured and w.suites and run.suite not in w.suites]
    out = [w for w in left if any(not v.broken and not lacking_here("", v, run.toolbox) for v in w.variants)]
    return [Unmeasured(w, _command(w)) for w in sorted(out, key=lambda w: (chapters.place(w.chapter), w.name))]


class Unbegun(NamedTuple):
    """`cells` of the `of` cells of a workload that were not launched."""

    workload: str
    cells: int
    of: int
    command: str


def unbegun(judgement: Judgement) -> list[Unbegun]:
    """Return the cells that were not started, by workload, most missing cells first.

    There are none if the run is complete, or if it cannot be resumed.
    """
    run = judgement.run
    launched = {r.start.cell for r in judgement.records}
    failed = {b.program for b in run.builds if not b.ok}
    counts: dict[str, list[bool]] = {}
    for cell in run.cells if run.state not in ("complete", "changed") else ():
        if cell.program not in failed and not lacks_device(run, cell):
            counts.setdefault(cell.program.workload, []).append(cell.id in launched)

    def whole(name: str) -> str:
        if any(name == one.name for one in run.brought):
            return command("run", "--resume", run.id, *run.more())
        settings = run.settings.get(name, {})
        targets = {v for c in run.cells if c.program.workload == name for some in c.values.values() for v in some}
        given, storage = documents.typed(settings, run.id), run.storage(targets)
        return command("run", name, *given, f"--{run.suite}", *storage)

    found = [Unbegun(name, some.count(False), len(some), whole(name)) for name, some in counts.items() if not all(some)]
    return sorted(found, key=lambda u: (-u.cells, u.workload))


def unanswered(judgement: Judgement, workloads: Mapping[str, Workload], answered: Collection[str]) -> list[str]:
    """Return the titles of the rows that the plan covers and that a run has not answered: in its budget, or yet."""
    run = judgement.run
    if run.state not in ("budget", "running"):
        return []
    planned: dict[str, list[Cell]] = {}
    had = Counter(r.start.cell for r in judgement.records)
    for cell in (c for c in run.cells if had[c.id] < run.launches):
        planned.setdefault(cell.program.workload, []).append(cell)
    rows = ((w, row) for w in workloads.values() for row in w.rows if row.title not in answered)
    applicable = ((w, row) for w, row in rows if run.machine.gpus or not row.device)
    return [row.title for w, row in applicable if any(serves(c, row, w, run.machine) for c in planned.get(w.name, ()))]


def _command(workload: Workload) -> str:
    """Return the command that runs the workload in its shortest suite."""
    return command("run", workload.name, f"--{next(s for s in SUITES if s in workload.suites)}")
