"""The preview: the programs of the first page are built and launched before all others, so that it appears early."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from firstlight.execute import build
from firstlight.model.plan import Cell, Program
from firstlight.runner import agenda
from firstlight.runner.agenda import Rank
from firstlight.runner.prepare import Prepared, RunForecast, RunRequest, costs_of
from firstlight.system import machine

SHARE = 0.05
"""The share of the budget that the launches of a preview may use."""
FEWEST = 20
"""Programs that are still to be built after those of a preview, at least: with fewer the wait is short anyway."""


def cells(prepared: Prepared, order: RunRequest, ahead: RunForecast) -> list[Cell]:
    """Return the cells of the preview: the first candidate of each headline without MPI, and their ceilings.

    The longest are left out if all of them use too much of the budget. Empty if the user names workloads, or if few
    programs must be built after the preview.
    """
    if order.names or prepared.brought or prepared.machine.emulated:
        return []
    known = costs_of(prepared)
    named = agenda.named(prepared.workloads, ())
    ranks = agenda.ranked(prepared.plan.cells, prepared.workloads, prepared.machine, prepared.toolbox, known.of, named)
    some = [
        c
        for c in prepared.plan.cells
        if ranks[c.id] is Rank.FRONT and not c.program.mpi and c.program in ahead.programs
    ]
    some.sort(key=known.of)
    seconds = itertools.accumulate(order.launches * known.of(c) for c in some)
    some = [c for c, total in zip(some, seconds, strict=True) if total <= SHARE * ahead.budget]
    return some if len(_unbuilt(prepared, ahead.programs, some)) >= FEWEST else []


def _unbuilt(prepared: Prepared, programs: Sequence[Program], some: Sequence[Cell]) -> list[Program]:
    """Return the programs without those of `some` cells that must be compiled."""
    others = [p for p in programs if p not in {c.program for c in some}]
    present = build.known(others, prepared.toolbox, prepared.workloads, machine.cache_directory())
    return [p for p in others if p not in present]
