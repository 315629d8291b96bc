"""Rounds: the cells of a stage once a round in random order, until figures are sure enough or the budget is spent."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from firstlight.analysis import stop
from firstlight.analysis.evidence import refused
from firstlight.model.plan import Cell, order
from firstlight.results.record import LaunchRecord, Run
from firstlight.results.states import RunState
from firstlight.runner import agenda
from firstlight.runner.agenda import Item, Rank
from firstlight.runner.cell_progress import LOST_IN_A_ROW, Tally, varying
from firstlight.runner.costs import Costs
from firstlight.runner.progress import Progress

COMPLETE: Final[RunState] = "complete"
BUDGET: Final[RunState] = "budget"
LATE = 60.0
"""A run may exceed its budget by these seconds, or by the budget if longer, to launch all of a comparison once."""


class Rounds:
    """The launches of a run, stage by stage and round by round, after those that are `present`.

    Before every round the cells of the stage are chosen again, from the measured durations of launches.
    """

    def __init__(
        self,
        run: Run,
        cells: Sequence[Cell],
        launch: Callable[[Cell, int], LaunchRecord],
        present: Sequence[LaunchRecord],
        budget: float,
        progress: Progress,
        clock: Callable[[], float] = time.monotonic,
        ranks: dict[str, Rank] | None = None,
        costs: Costs | None = None,
        later: Sequence[Cell] = (),
        comparisons: Mapping[str, str] = {},
        finished: Callable[[], None] = lambda: None,
        stage: str = "round",
    ) -> None:
        """Count the launches that are `present`. `ranks`: the purpose of each cell; all equal by default.

        `costs`: the durations of launches. `comparisons`: for each cell, the name of the comparison that it starts
        with. `later`: cells that cannot be launched now, because their programs were not built for lack of time.
        `finished` is called after each round. `stage`: the name of a round on the display.
        """
        self._run, self._launch, self._budget, self._progress, self._clock = run, launch, budget, progress, clock
        self._ranks, self.costs, self.later = ranks or {}, costs or Costs({}), tuple(later)
        self._comparisons, self._finished, self._stage = comparisons, finished, stage
        self.tallies = {cell.id: Tally(run, cell) for cell in cells}
        for record in sorted(present, key=lambda r: r.start.time):
            if record.start.cell in self.tallies:
                self.tallies[record.start.cell].take(record)
                self.costs.take(self.tallies[record.start.cell].cell, record.exit.seconds)
        self._varying, self._slack = varying(cells), agenda.SLACK * budget
        self._began, self._resumed, self._launched = clock(), bool(present), False

    def go(self) -> RunState:
        """Launch until no cell needs more (COMPLETE) or the launches still needed do not fit the budget (BUDGET)."""
        self._began = self._clock()
        number, cells = self._resume_point()
        while cells:
            launched, kept = False, sum(map(self._kept, cells))
            for place, cell in enumerate(self._arranged(cells, number)):
                if self._may(cell, len(cells) == 1, kept):
                    self._show(number, place, len(cells), cell)
                    kept -= self._kept(cell)
                    self._one(cell, number)
                    kept += self._kept(cell)
                    launched = True
            if not launched:
                break
            self._finished()
            number += 1
            cells = self._next()
        wanting = any(tally.wants(self._run.launches) for tally in self.tallies.values())
        return BUDGET if wanting or self.later else COMPLETE

    def _resume_point(self) -> tuple[int, list[Cell]]:
        """Return the number and the cells of the next round; an interrupted round is finished first."""
        done = [record for tally in self.tallies.values() for record in tally.records]
        number = max((record.start.round for record in done), default=0)
        launched = {record.start.cell for record in done if record.start.round == number}
        cells = self._next()
        rest = [cell for cell in cells if cell.id not in launched]
        return (number, rest) if rest else (number + 1, cells)

    def _next(self) -> list[Cell]:
        """Return the cells of the next round."""
        items, left = self._items(), self._budget - self._elapsed()
        answering = any(t.records and not self._short(t) for n, t in self.tallies.items() if self._named(n))
        taken = agenda.chosen(items, left, self._slack, answering)
        if taken:
            return [item.cell for item in agenda.stage(taken, left, everything=len(taken) == len(items))]
        if more := agenda.going_on(items, left, self._resumed):
            return [item.cell for item in more]
        if items and not self._launched:
            return [item.cell for item in agenda.first(items)]  # time is too short for any cell: launch something
        return [t.cell for t in self.tallies.values() if not self._short(t) and t.wants(self._run.launches)]

    def _named(self, name: str) -> bool:
        """Return whether a cell was requested, and is not launched for a ceiling only."""
        return self._ranks.get(name) is not Rank.CEILING

    def _items(self) -> list[Item]:
        """Return the cells that do not have the wanted launches yet."""
        return [self._item(tally) for tally in self.tallies.values() if self._short(tally)]

    def _item(self, tally: Tally) -> Item:
        cell, missing = tally.cell, self._run.launches - len(tally.records)
        rank, seconds = self._ranks.get(cell.id, Rank.FRONT), self.costs.of(cell)
        compared = self._comparisons.get(cell.id, "")
        return Item(cell, rank, missing, seconds, bool(tally.records), self.costs.sure(cell), compared)

    def _short(self, tally: Tally) -> bool:
        return len(tally.records) < self._run.launches and tally.wants(self._run.launches)

    def _arranged(self, cells: Sequence[Cell], number: int) -> list[Cell]:
        """Return the cells in random order, or sorted by priority if some have no launch: the last may have no time.

        Cells that open rows are sorted by cores and duration: a cell that needs all cores may wait long for other users
        of the machine.
        """
        arranged = order(cells, self._run.seed, number)
        if all(self.tallies[cell.id].records for cell in cells):
            return arranged

        def turn(cell: Cell) -> tuple[float, ...]:
            rank = self._ranks.get(cell.id, Rank.FRONT)
            opens = rank in agenda.OPENING and not self.tallies[cell.id].records
            return (rank, cell.placement.ranks * cell.placement.threads, self.costs.of(cell)) if opens else (rank,)

        return sorted(arranged, key=turn)

    def _may(self, cell: Cell, alone: bool, kept: float) -> bool:
        """Return whether there is time for this launch; for a cell without launches, for all that it needs.

        A cell that opens a row needs time for one launch only. `kept`: the seconds that the stage's other cells need to
        finish. `alone`: it is the only one of its stage.
        """
        left = self._budget - self._elapsed()
        if not self._launched:
            return True
        tally = self.tallies[cell.id]
        if joining := self._joining(tally):
            return sum(self.costs.of(one) for one in joining) <= left + max(self._budget, LATE)
        if tally.records or alone:
            return self.costs.of(cell) <= left + (self._slack if self._short(tally) else 0.0)
        item = self._item(tally)
        return (item.seconds if item.rank in agenda.OPENING else kept + item.need) <= left

    def _joining(self, tally: Tally) -> list[Cell]:
        """Return the cells of this cell's comparison that have no launch, if this has none and others have some."""
        name = self._comparisons.get(tally.cell.id)
        if not name or tally.records:
            return []
        compared = [t for t in self.tallies.values() if self._comparisons.get(t.cell.id) == name]
        return [t.cell for t in compared if not t.records] if any(t.records for t in compared) else []

    def _kept(self, cell: Cell) -> float:
        """Return the seconds that a cell with launches needs for its remaining launches."""
        tally = self.tallies[cell.id]
        return self._item(tally).need if tally.records and self._short(tally) else 0.0

    def _elapsed(self) -> float:
        return self._clock() - self._began

    def _one(self, cell: Cell, number: int) -> None:
        tally = self.tallies[cell.id]
        before = self._clock()
        record = self._launch(cell, number)
        self._launched = True
        self.costs.take(cell, self._clock() - before)
        tally.take(record)
        if tally.dropped:
            why = "refused" if refused(record) else f"stopped after {LOST_IN_A_ROW} lost launches"
            self._progress.note(f"{why}: {cell.id}: {tally.dropped}")
        self._progress.state.last = tally.last(self._varying.get(cell.program.workload)) or self._progress.state.last

    def _show(self, number: int, place: int, total: int, cell: Cell) -> None:
        state = self._progress.state
        state.stage, state.now = f"{self._stage} {number + 1}", cell.id
        state.done, state.total = place, total
        state.left = max(0.0, self._budget - self._elapsed())
        self._progress.update()

    def wide(self) -> list[str]:
        """Return the cells without launches or with an imprecise figure, except those that were given up."""
        return [
            name
            for name, tally in self.tallies.items()
            if not tally.dropped
            and (not tally.records or not all(stop.narrow(e, self._run.precision) for e in tally.estimates.values()))
        ]

    def unfinished(self) -> list[str]:
        """Return the cells of comparisons that lack wanted launches, except those that were given up."""
        return [name for name in self._comparisons if name in self.tallies and self._short(self.tallies[name])]

    def missing(self) -> float:
        """Return the seconds until every cell has the wanted launches, with one more launch for those still wide."""
        wanting = [tally for tally in self.tallies.values() if tally.wants(self._run.launches)]
        begun = sum(max(1, self._run.launches - len(t.records)) * self.costs.of(t.cell) for t in wanting)
        return begun + sum(self._run.launches * self.costs.of(cell) for cell in self.later)

    def unbegun(self) -> int:
        """Return the number of cells without a launch."""
        return len(self.later) + sum(not tally.records for tally in self.tallies.values())
