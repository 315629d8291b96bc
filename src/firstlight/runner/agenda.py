"""The agenda: which cells are launched within a budget, and in which stages. Pure functions of what is known.

A figure needs LAUNCHES launches for an interval, so a cell without time for them is not begun. One candidate of each
row is launched once before anything is launched again: this measures the launch times of its workload, and each row has
a figure even if estimates were wrong. The other candidates of the rows come next, then the cells that they are compared
with, then whole workloads, the cheapest per case first. The cells of a stage are launched alternately, in rounds.

If a user names workloads, only their rows count. Cells that were added only to measure ceilings come after all that the
rows compare, and are never launched alone: a figure without its ceiling is useful, a ceiling without figures is not.

A user's own commands are compared with each other: those of one case start together or not at all. The same is true of
a plain variant with different flags, on which the advice for ordinary code rests, and of what a tuning compares with an
MPI library.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import IntEnum
from fnmatch import fnmatchcase
from typing import NamedTuple

from firstlight.model.catalogue import Row, Workload
from firstlight.model.plan import Cell, Program, family, select
from firstlight.model.plan.ceilings import bounding, measures
from firstlight.model.plan.runtime_estimate import cases
from firstlight.model.plan.selectors import provides, serves
from firstlight.system.machine import Machine
from firstlight.toolchain import Toolbox

UNSURE, STEADY = 1.25, 1.05
"""A cell is begun only if there is time for this many times its estimated (UNSURE) or measured (STEADY) seconds."""
SLACK = 0.02
"""The share by which a run may exceed its budget to complete the launches of cells that are begun."""
AMPLE = 0.7
"""If all cells need at most this share of the time, they are one stage: every cell is compared with every other."""


class Rank(IntEnum):
    """The purpose of a cell, highest priority first."""

    FRONT = 0  # an answer on the front page: one candidate of each row, the cheapest that comes first, and its ceilings
    CHAPTER = 1  # an answer in a chapter, likewise
    FRONT_FIRST = 2  # the other candidates that come first
    CHAPTER_FIRST = 3
    FRONT_OTHER = 4  # further candidates, and other sources of ceilings that the answers are compared with
    CHAPTER_OTHER = 5
    CEILING = 6  # cells of no row, for the ceilings of the workloads that the user named
    REST = 7


OPENING = (Rank.FRONT, Rank.CHAPTER)
"""The ranks that are launched once before anything is launched again."""
STAGE_OF = {rank: {Rank.CEILING: 2, Rank.REST: 3}.get(rank, rank % 2) for rank in Rank}


class Item(NamedTuple):
    """A cell that still needs `launches` launches of `seconds` each. `begun`: it has had some.

    `comparison`: cells with the same name here start together or not at all; "": the cell starts alone.
    """

    cell: Cell
    rank: Rank
    launches: int
    seconds: float
    begun: bool = False
    sure: bool = False
    comparison: str = ""

    @property
    def need(self) -> float:
        return self.launches * self.seconds * (1.0 if self.begun else STEADY if self.sure else UNSURE)


class RowCells(NamedTuple):
    """A row and the cells that it can choose from."""

    workload: str
    row: Row
    cells: frozenset[str]


def named(workloads: Mapping[str, Workload], names: Sequence[str], brought: Iterable[str] = ()) -> frozenset[str]:
    """Return the workloads that the user named or brought; for a whole suite, all of them."""
    if own := frozenset(brought):
        return own
    return frozenset(select(dict(workloads), names))


def rows(
    cells: Sequence[Cell], workloads: Mapping[str, Workload], machine: Machine, wanted: Collection[str] | None = None
) -> list[RowCells]:
    """Return the rows that some of these cells can answer. `wanted`: only rows of these workloads."""
    of: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        if wanted is None or cell.program.workload in wanted:
            of[cell.program.workload].append(cell)
    found = []
    for workload in (w for name, w in workloads.items() if name in of):
        for row in workload.rows:
            mine = frozenset(c.id for c in of[workload.name] if serves(c, row, workload, machine))
            found += [RowCells(workload.name, row, mine)] if mine else []
    return found


def comparisons(cells: Sequence[Cell], workloads: Mapping[str, Workload], toolbox: Toolbox) -> dict[str, str]:
    """Map each cell that is compared with others to a name that they share.

    A row compares all commands of a user in its case, the advice for ordinary code all flags of a plain variant, and a
    tuning an MPI library with its settings and with our algorithms.
    """
    names = {w.name: sorted({name for row in w.rows for name in row.where}) for w in workloads.values()}
    bases = {m.name: m.setting for m in toolbox.mpis if m.setting}
    found = {}
    for cell in cells:
        program, declared = cell.program, workloads.get(cell.program.workload)
        if declared is not None and declared.toolchain_sensitive and program.variant in declared.plain:
            found[cell.id] = f"{program.target} {program.mpi} {cell.placement} {cell.arguments}"
    for cell in (c for c in cells if c.external is not None):
        workload = cell.program.workload
        found[cell.id] = f"{workload} {[cell.values.get(name) for name in names.get(workload, ())]}"
    for cell in cells if bases else ():
        p = cell.program
        found[cell.id] = f"{p.workload} {p.toolchain} {bases.get(p.mpi or '', p.mpi)} {cell.placement} {cell.arguments}"
    return found


Preference = Callable[[Program], tuple[bool, ...]]


def candidate_preference(workloads: Mapping[str, Workload], toolbox: Toolbox) -> Preference:
    """Return which candidates of a row come first: variants of the quick suite with native flags.

    A reference library comes last, however short its launches are: it is slow by design.
    """
    slow = tuple(f"_{library.name}" for library in toolbox.libraries if library.reference)
    quick = {w.name: [p for entry in w.suites.get("quick", []) for p in entry.variants] for w in workloads.values()}
    flags = {t.name: (t.flag_set != "native", family(t.compiler) != "gcc") for t in toolbox.toolchains}

    def late(program: Program) -> tuple[bool, ...]:
        named = any(fnmatchcase(program.variant, pattern) for pattern in quick.get(program.workload, []))
        return (program.variant.endswith(slow), not named, *flags.get(program.toolchain, (True, True)))

    return late


def ranks(
    cells: Sequence[Cell],
    workloads: Mapping[str, Workload],
    machine: Machine,
    late: Preference = lambda program: (),
    seconds: Callable[[Cell], float] = lambda cell: 0.0,
    bases: Mapping[str, str] = {},
    wanted: Collection[str] | None = None,
) -> dict[str, Rank]:
    """Return the rank of each cell. The first candidates of a row have the least `late`; `seconds`: per launch.

    `wanted`: the workloads that the user named; None: all. `bases`: for each MPI library with a setting, the name of
    the library without it. If settings are measured, all cells of their workloads come first, because each is compared
    with the library's own calls.
    """
    known = {cell.id: cell for cell in cells}
    found = dict.fromkeys(known, Rank.REST)
    named_some = wanted is not None and not {*wanted} >= {*workloads}

    def want(some: Iterable[str], rank: Rank) -> None:
        for name in some:
            found[name] = min(found[name], rank)

    for answered in rows(cells, workloads, machine, wanted):
        order = {name: late(known[name].program) for name in answered.cells}
        least = min(order.values())
        first = sorted((n for n, o in order.items() if o == least), key=lambda n: (seconds(known[n]), n))
        chapter = not answered.row.headline  # 1 for the ranks of chapters
        want(first[:1], Rank(Rank.FRONT + chapter))
        want(first, Rank(Rank.FRONT_FIRST + chapter))
        want(order, Rank(Rank.FRONT_OTHER + chapter))
        want((n for n in order if known[n].external is not None), Rank(Rank.FRONT + chapter))
    tuned = {c.program.workload for c in cells if c.program.mpi in bases}
    want((c.id for c in cells if c.program.workload in tuned), Rank.FRONT)
    asked = {name for name, rank in found.items() if rank is not Rank.REST}
    for chapter in (False, True):
        asking = {known[n].program.workload for n, r in found.items() if r in (chapter, chapter + Rank.FRONT_FIRST)}
        ceilings = {b.ceiling for name in asking if name in workloads for b in workloads[name].bounded_by}
        offered = [c for c in cells if c.program.workload in workloads]
        aside = [c for c in offered if named_some and c.id not in asked]
        giving = (c.id for c in offered if provides(c, ceilings, workloads[c.program.workload], machine))
        want(giving, Rank(Rank.FRONT_OTHER + chapter))
        found |= {c.id: Rank.CEILING for c in aside if found[c.id] is not Rank.REST}
        answering = Rank(Rank.FRONT + chapter)
        answers = [c for c in offered if found[c.id] is answering]
        for ceiling in bounding(answers, workloads, machine):
            able = (c for c in offered if measures(c, ceiling, workloads, machine))
            soonest = min(able, key=lambda c: (late(c.program), seconds(c), c.id), default=None)
            want([soonest.id] if soonest else [], Rank.CEILING if soonest in aside else answering)
    return found


def ranked(
    cells: Sequence[Cell],
    workloads: Mapping[str, Workload],
    machine: Machine,
    toolbox: Toolbox,
    seconds: Callable[[Cell], float],
    wanted: Collection[str],
) -> dict[str, Rank]:
    """Return the ranks of a run's cells: its toolbox decides which candidates come first. Parameters as in `ranks`."""
    bases = {m.name: m.setting for m in toolbox.mpis if m.setting}
    return ranks(cells, workloads, machine, candidate_preference(workloads, toolbox), seconds, bases, wanted)


def chosen(items: Sequence[Item], room: float, slack: float = 0.0, answering: bool = False) -> list[Item]:
    """Return the items whose wanted launches all fit into `room` seconds, begun ones first, in the order of stages.

    `slack`: additional seconds for begun items. `answering`: a cell of a workload that was named has all its
    launches; until then, ceilings are not launched alone.
    """
    taken: list[Item] = []
    dear = _cost_per_case(items)

    def turn(unit: Sequence[Item]) -> tuple[object, ...]:
        first = min(unit, key=lambda i: i.cell.id)
        rank = min(i.rank for i in unit)
        return (not _begun(unit), rank, dear[first.cell.id], sum(i.need for i in unit), first.cell.id)

    for unit in sorted(units(items), key=turn):
        need = sum(i.need for i in unit)
        if need <= room + (slack if _begun(unit) else 0.0):
            taken += unit
            room -= need
    return taken if answering or any(item.rank is not Rank.CEILING for item in taken) else []


def units(items: Iterable[Item]) -> list[list[Item]]:
    """Return groups that start together: the items of each comparison, any other item alone."""
    found: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        found[item.comparison or item.cell.id].append(item)
    return list(found.values())


def _begun(unit: Iterable[Item]) -> bool:
    return any(item.begun for item in unit)


def going_on(items: Iterable[Item], room: float, resumed: bool) -> list[Item]:
    """Return the group with the highest priority that has started, lacks time for all its launches, and fits once more.

    This serves comparisons, which are launched as often as time allows, and runs that are resumed for a short time.
    """
    some = [u for u in units(items) if _begun(u) and (resumed or u[0].comparison)]
    return _most_wanted([u for u in some if sum(i.seconds for i in u) <= room])


def first(items: Iterable[Item]) -> list[Item]:
    """Return the group to start with if there is too little time for any."""
    return _most_wanted(units(items))


def _most_wanted(some: Sequence[list[Item]]) -> list[Item]:
    return min(some, key=lambda u: min((i.rank, i.need, i.cell.id) for i in u), default=[])


def stage(items: Sequence[Item], room: float, everything: bool) -> list[Item]:
    """Return the chosen items that are launched next, in rounds. `everything`: nothing was left out."""
    if not items or (everything and sum(i.need for i in items) <= AMPLE * room):
        return list(items)
    if opening := [i for i in items if i.rank in OPENING and not i.begun]:
        return opening
    dear, begun = _cost_per_case(items), {i.cell.program.workload for i in items if i.begun}
    names = {i.cell.id: (STAGE_OF[i.rank], i.cell.program.workload not in begun, dear[i.cell.id]) for i in items}
    names = {n: k if k[0] == STAGE_OF[Rank.REST] else (k[0], False, (0.0, "")) for n, k in names.items()}
    now = min(names.values())
    return [i for i in items if names[i.cell.id] == now]


def _cost_per_case(items: Sequence[Item]) -> dict[str, tuple[float, str]]:
    """Return for each cell that no row needs the seconds per case of its workload: the cheapest are launched first."""
    seconds, numbers = defaultdict[str, float](float), defaultdict[str, int](int)
    for item in items:
        if item.rank is Rank.REST:
            seconds[item.cell.program.workload] += item.need
            numbers[item.cell.program.workload] += item.launches * cases(item.cell)
    return {
        i.cell.id: (seconds[name] / numbers[name], name) if i.rank is Rank.REST else (0.0, "")
        for i in items
        for name in [i.cell.program.workload]
    }
