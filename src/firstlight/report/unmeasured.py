"""Unmeasured: the workloads that the run's suite leaves out, each with the command that measures it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from firstlight.catalogue import SUITES, Workload
from firstlight.plan.ability import lacking_here
from firstlight.record import Run
from firstlight.report import chapters


class Unmeasured(NamedTuple):
    workload: Workload
    command: str


def unmeasured(run: Run, workloads: Mapping[str, Workload]) -> list[Unmeasured]:
    """By chapter and name, those that this machine can run. None where the user named what to measure."""
    if run.names:
        return []
    measured = {c.program.workload for c in run.cells}
    left = [w for w in workloads.values() if w.name not in measured and w.suites and run.suite not in w.suites]
    out = [w for w in left if any(not v.broken and not lacking_here("", v, run.toolbox) for v in w.variants)]
    return [Unmeasured(w, _command(w)) for w in sorted(out, key=lambda w: (chapters.place(w.chapter), w.name))]


def _command(workload: Workload) -> str:
    """With the shortest suite that it has."""
    return f"./fl run {workload.name} --{next(s for s in SUITES if s in workload.suites)}"
