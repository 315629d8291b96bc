"""Tuned defaults: parameters that are not set use the best value of an earlier run on this machine for their role."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from firstlight.analysis import ranking
from firstlight.analysis.figures import judge
from firstlight.analysis.overrides import apply_settings
from firstlight.analysis.roles import RoleFigure, players
from firstlight.analysis.roles import played as playing
from firstlight.core.errors import RecordError
from firstlight.core.formulas import FormulaError
from firstlight.core.roles import Ask
from firstlight.model.catalogue import Workload
from firstlight.model.plan import Cell, Placement, Plan
from firstlight.model.plan.arguments import compose, number
from firstlight.results import store
from firstlight.results.record import Run, TunedDefault
from firstlight.results.store.listing import identifiers
from firstlight.system.machine import Machine
from firstlight.toolchain import Toolbox

LOOKED_AT = 50
"""Maximum number of runs that are read, the newest of a folder."""
CASES = 1000  # of a cell, whose largest message is requested


class Found(NamedTuple):
    """The figures that a run measured for a role. `libraries`: its MPI libraries with their versions."""

    run: str
    libraries: Mapping[str, str]
    played: Sequence[RoleFigure]


def answered(
    planned: Plan, workloads: Mapping[str, Workload], toolbox: Toolbox, here: Machine, results: Path
) -> tuple[Plan, tuple[TunedDefault, ...]]:
    """Return the plan with tuned defaults in its cells, and the source of each default.

    A source is a run of this machine with the same MPI library, within a node or between nodes as the cell is. Its case
    has the nearest number of ranks, then the nearest message size.
    """
    versions = {m.name: m.version for m in toolbox.mpis}

    @cache
    def known(role: str) -> list[Found]:  # read when the first one needs it
        return list(_found(role, workloads, here, results))

    cells: list[Cell] = []
    by_answer: dict[TunedDefault, list[str]] = {}
    for cell in planned.cells:
        for ask in _open(cell, workloads):
            answer = _answer(ask, cell, known(ask.role), versions)
            by_answer.setdefault(answer, []).append(cell.id)
            cell = replace(cell, arguments=compose({ask.parameter: [answer.value]}) + cell.arguments)
        cells.append(cell)
    return replace(planned, cells=tuple(cells)), tuple(replace(a, cells=tuple(ids)) for a, ids in by_answer.items())


def _open(cell: Cell, workloads: Mapping[str, Workload]) -> Iterator[Ask]:
    """Yield the parameters of an MPI program that neither the suite nor the user set and that have a tuned default."""
    workload = workloads.get(cell.program.workload)
    if workload is None or cell.program.mpi is None or cell.external is not None:
        return
    for ask in workload.asks:
        if ask.parameter not in cell.values and any(fnmatchcase(cell.program.variant, p) for p in ask.variants):
            yield ask


def _answer(ask: Ask, cell: Cell, known: Iterable[Found], versions: Mapping[str, str]) -> TunedDefault:
    mpi, between = cell.program.mpi or "", _between(cell.placement)
    nothing = TunedDefault(cell.program.workload, ask.parameter, ask.otherwise, ask.role, mpi, ())
    for found in known:
        if found.libraries.get(mpi) != versions.get(mpi):
            continue  # another version may be good at something else
        alike = [p for p in found.played if p.identity.mpi == mpi and _between(p.identity.placement) == between]
        nearest = _nearest(_compared(alike, ask.otherwise), _bytes(ask, cell), cell.placement.ranks)
        if not nearest:
            continue
        first = ranking.rank(p.figure for p in nearest)[0]
        winners = [p for p in nearest if any(p.figure is f for f in first.figures)]
        size = nearest[0].size or 0.0
        if any(p.role.answer == ask.otherwise for p in winners):
            return replace(nothing, run=found.run, size=size)
        best = next(p for p in winners if p.figure is first.best)
        return replace(nothing, value=best.role.answer, run=found.run, program=best.program, size=size)
    return nothing


def _between(placement: Placement) -> bool:
    """Return whether messages go between nodes."""
    return placement.nodes > 1


def _compared(figures: Iterable[RoleFigure], otherwise: str) -> list[list[RoleFigure]]:
    """Return the figures of each case for which the fallback and at least one other value were measured."""
    of: dict[object, list[RoleFigure]] = {}
    for p in figures:
        of.setdefault((p.identity.toolchain, p.identity.placement, p.identity.parameters), []).append(p)
    return [some for some in of.values() if len(answers := {p.role.answer for p in some}) > 1 and otherwise in answers]


def _nearest(cases: Sequence[list[RoleFigure]], size: float, ranks: int) -> list[RoleFigure]:
    """Return the case whose number of ranks, then whose size, is nearest by ratio; in a tie the smaller."""

    def away(case: list[RoleFigure]) -> tuple[float, float, float]:
        measured = max(case[0].size or 1.0, 1.0)
        others = case[0].identity.placement.ranks
        return abs(math.log(others / ranks)), abs(math.log(measured / max(size, 1.0))), measured

    return min(cases, key=away, default=[])


def _bytes(ask: Ask, cell: Cell) -> float:
    """Return the bytes of the largest message of a cell."""
    known = {name: [n for v in some if (n := number(v)) is not None] for name, some in cell.values.items()}
    numbers = {name: some for name, some in known.items() if some}
    found = []
    for case in islice(product(*numbers.values()), CASES):
        with contextlib.suppress(FormulaError):  # of a case that the program will refuse
            found.append(ask.bytes(dict(zip(numbers, case, strict=True)), cell.placement.ranks))
    return max(found, default=1.0)


def _found(role: str, workloads: Mapping[str, Workload], here: Machine, results: Path) -> Iterator[Found]:
    """Yield what the newest runs of this machine measured of a role, the newest first.

    Only workloads of the catalogue count. A workload in a run's own record is data from the author of that run.
    """
    able = {player.workload.name for player in players(workloads, role)}
    bounds = {b.ceiling for name in able for b in workloads[name].bounded_by}
    # What their ceilings are measured by, too: a figure above its ceiling has failed.
    names = able | {w.name for w in workloads.values() if any(p.ceiling in bounds for p in w.provides)}
    for name in reversed(identifiers(results)[-LOOKED_AT:]):
        try:
            opened = store.open(results / name)
            run = opened.run()
            measured = names - {one.name for one in run.brought}
            cells = tuple(c for c in run.cells if c.program.workload in measured)
            if not _same_machine(run.machine, here) or not any(c.program.workload in able for c in cells):
                continue
            known = apply_settings(workloads, run.settings)
            records = list(opened.records({c.id for c in cells}))
        except RecordError:
            continue  # `check` reports its defect
        builds = tuple(b for b in run.builds if b.program.workload in measured)
        figures = judge(replace(run, cells=cells, builds=builds), records, known).figures
        if some := list(playing(figures, players(known, role), run.machine)):
            yield Found(name, _libraries(run), some)


def _libraries(run: Run) -> dict[str, str]:
    return {m.name: m.version for m in run.toolbox.mpis}


def _same_machine(was: Machine, here: Machine) -> bool:
    """Return whether both have the same processor and cores, and the same name or the same batch system."""
    if (was.processor, was.cores, was.emulated) != (here.processor, here.cores, here.emulated):
        return False
    return was.name == here.name or bool(was.batch and was.batch == here.batch)
