"""Rounds: every cell once a round in random order, until every figure is sure enough or the budget is spent."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import TYPE_CHECKING

from firstlight.conduct.progress import Progress, span
from firstlight.judge import stop, words
from firstlight.judge.evidence import Evidence, gather, launch_value, why_lost
from firstlight.judge.interval import estimate
from firstlight.judge.verdict import Estimate, Identity
from firstlight.plan import LAUNCHES, MOST_LAUNCHES, Cell, order
from firstlight.record import LaunchRecord, Metric, Run

if TYPE_CHECKING:
    from firstlight.judge.evidence import Subject

COMPLETE, BUDGET = "complete", "budget"
LOST_IN_A_ROW = 2  # then a cell is given up
DEAR = 4.0  # times what the median cell takes
COLD = 0.9  # what a later launch takes of the first one, which finds nothing in any cache
FAILED_LAUNCHES = 2  # of a cell of which every result is wrong: once more, to see that it is no accident


class Tally:
    """What is known of one cell so far. `seconds` is what one launch of it takes, None before the first."""

    def __init__(self, run: Run, cell: Cell) -> None:
        self.cell = cell
        self.seconds: float | None = None
        self.records: list[LaunchRecord] = []
        self.estimates: dict[Subject, Estimate] = {}
        self._run = run
        self._all_wrong = False

    def take(self, record: LaunchRecord, seconds: float) -> None:
        """Add a launch that took `seconds` in all."""
        self.records.append(record)
        n = len(self.records)
        self.seconds = seconds if self.seconds is None else self.seconds + (seconds - self.seconds) / n
        evidence, _ = gather(self._run, self.records)
        mine = {subject: e for subject, e in evidence.items() if subject.program == self.cell.program}
        self._all_wrong = bool(mine) and all(e.wrong for e in mine.values())
        self.estimates = {s: e for s, e in ((s, self._estimate(x)) for s, x in mine.items()) if e is not None}

    def _estimate(self, evidence: Evidence) -> Estimate | None:
        """Of the first metric; all metrics of a case share its times. None for a wrong result or an unusable record."""
        metric = self.metric()
        if evidence.wrong or not evidence.timings or metric is None:
            return None
        try:
            return estimate([launch_value(metric, timing) for timing in evidence.timings])
        except ValueError:
            return None  # the judgement says what is wrong with it

    def metric(self) -> Metric | None:
        description = self._run.descriptions.get(self.cell.program.target)
        return description.metrics[0] if description and description.metrics else None

    @property
    def dropped(self) -> str:
        """Why this cell is given up, or "": its last launches were lost one after the other."""
        last = [why_lost(self.cell, record) for record in self.records[-LOST_IN_A_ROW:]]
        return last[-1] if len(last) == LOST_IN_A_ROW and all(last) else ""

    def wants(self, minimum: int) -> bool:
        """Whether another launch would tell more. Fewer wanted than LAUNCHES means just that many, no intervals."""
        maximum = max(minimum, MOST_LAUNCHES) if minimum >= LAUNCHES else minimum
        if len(self.records) >= maximum or self.dropped:
            return False
        if self._all_wrong:
            return len(self.records) < FAILED_LAUNCHES
        return stop.needs_more(list(self.estimates.values()), minimum, self._run.precision, maximum)

    def last(self) -> str:
        """The newest verified figure in words, or ""."""
        metric = self.metric()
        if not self.estimates or metric is None:
            return ""
        subject, estimate = list(self.estimates.items())[-1]
        p = subject.program
        who = Identity(p.workload, p.variant, p.toolchain, p.mpi, subject.placement, subject.parameters, metric.name)
        return f"{words.name(who)}: {words.digits(estimate.median)} {metric.unit}"


class Rounds:
    """Launches the cells of a run, round by round; goes on after those launches that are `present`."""

    def __init__(
        self,
        run: Run,
        cells: Sequence[Cell],
        launch: Callable[[Cell, int], LaunchRecord],
        present: Sequence[LaunchRecord],
        budget: float,
        progress: Progress,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._run, self._launch, self._budget, self._progress, self._clock = run, launch, budget, progress, clock
        self.tallies = {cell.id: Tally(run, cell) for cell in cells}
        for record in sorted(present, key=lambda r: r.start.time):
            if record.start.cell in self.tallies:
                self.tallies[record.start.cell].take(record, record.exit.seconds)
        self._began = clock()
        self._aside: set[str] = set()  # cells that wait until the others have their launches

    def go(self) -> str:
        """Launch until nothing wants more (COMPLETE) or the budget is spent (BUDGET)."""
        self._began = self._clock()
        number, pending = self._resume_point()
        while pending:
            if not self._whole_round_fits(number, pending):
                return BUDGET
            for place, cell in enumerate(order(pending, self._run.seed, number)):
                if not self._fits(cell):
                    return BUDGET
                self._show(number, place, len(pending), cell)
                self._one(cell, number)
            if number == 0:
                self._foretell()
            number += 1
            pending = self._wanting()
            if self._aside and (not pending or number >= self._run.launches):
                pending = self._late()
        return COMPLETE

    def _resume_point(self) -> tuple[int, list[Cell]]:
        """The round to go on with, and its cells: an interrupted round is finished first."""
        done = [record for tally in self.tallies.values() for record in tally.records]
        if not done:
            return 0, self._wanting()
        number = max(record.start.round for record in done)
        launched = {record.start.cell for record in done if record.start.round == number}
        rest = [cell for cell in self._wanting() if cell.id not in launched]
        return (number, rest) if rest else (number + 1, self._wanting())

    def _wanting(self) -> list[Cell]:
        wanting = [tally.cell for tally in self.tallies.values() if tally.wants(self._run.launches)]
        return [cell for cell in wanting if cell.id not in self._aside]

    def _late(self) -> list[Cell]:
        """The cells that waited, until they have their launches too; then everything that wants more."""
        late = [
            tally.cell
            for name, tally in self.tallies.items()
            if name in self._aside and tally.wants(self._run.launches) and len(tally.records) < self._run.launches
        ]
        if not late:
            self._aside = set()
        return late or self._wanting()

    def _elapsed(self) -> float:
        return self._clock() - self._began

    def _fits(self, cell: Cell) -> bool:
        elapsed, seconds = self._elapsed(), self.tallies[cell.id].seconds
        return elapsed < self._budget and elapsed + (seconds or 0.0) <= self._budget

    def _whole_round_fits(self, number: int, pending: list[Cell]) -> bool:
        """Below the wanted number of launches part of a round would favour some cells: none is better."""
        if number == 0 or number >= self._run.launches:
            return True
        needed = sum(self.tallies[cell.id].seconds or 0.0 for cell in pending)
        return self._elapsed() + needed <= self._budget

    def _one(self, cell: Cell, number: int) -> None:
        tally = self.tallies[cell.id]
        before = self._clock()
        record = self._launch(cell, number)
        tally.take(record, self._clock() - before)
        if tally.dropped:
            self._progress.note(f"given up after {LOST_IN_A_ROW} lost launches: {cell.id}: {tally.dropped}")
        self._progress.state.last = tally.last() or self._progress.state.last

    def _show(self, number: int, place: int, total: int, cell: Cell) -> None:
        state = self._progress.state
        state.stage, state.now = f"round {number + 1}", cell.id
        state.done, state.total = place, total
        state.left = max(0.0, self._budget - self._elapsed())
        self._progress.update()

    def _foretell(self) -> None:
        """After the first round: say if the wanted launches will not fit; the dearest cells wait where that helps."""
        costs = {cell.id: COLD * (self.tallies[cell.id].seconds or 0.0) for cell in self._wanting()}
        left = self._budget - self._elapsed()
        more = self._run.launches - 1
        one = sum(costs.values())
        if not costs or one * more <= left:
            return
        enough = f"--budget {minutes(self._elapsed() + one * more)} would do for all"
        self._aside = dear(costs, left / more) if more else set()
        if self._aside:
            self._progress.note(
                f"a round takes {span(one)}, too long for {self._run.launches} in {span(self._budget)}: "
                f"{len(self._aside)} of {len(costs)} cells, the dearest, wait until the others are done; {enough}"
            )
        else:
            fit = 1 + int(left // one)
            self._progress.note(
                f"a round takes {span(one)}: {fit} of {self._run.launches} rounds fit the budget of "
                f"{span(self._budget)}; {enough}"
            )

    def wide(self) -> list[str]:
        """The cells of which some figure is not sure enough, given up ones left out."""
        return [
            name
            for name, tally in self.tallies.items()
            if not tally.dropped
            and (not tally.records or not all(stop.narrow(e, self._run.precision) for e in tally.estimates.values()))
        ]

    def missing(self) -> float:
        """Seconds of launching until every cell has the wanted launches; at least one more of those still wide."""
        known = [tally.seconds for tally in self.tallies.values() if tally.seconds is not None]
        usual = sum(known) / len(known) if known else 1.0
        wanting = [tally for tally in self.tallies.values() if tally.wants(self._run.launches)]
        return sum(max(1, self._run.launches - len(tally.records)) * (tally.seconds or usual) for tally in wanting)


def dear(costs: dict[str, float], room: float) -> set[str]:
    """The fewest cells to leave out of a round so that it takes `room` seconds; only such as cost far more than most.

    Empty where leaving those out does not help: cells that cost the same are treated the same.
    """
    outlying = DEAR * median(costs.values())
    aside: set[str] = set()
    total = sum(costs.values())
    for name in sorted(costs, key=lambda name: -costs[name]):
        if total <= room or costs[name] <= outlying:
            break
        aside.add(name)
        total -= costs[name]
    return aside if total <= room else set()


def minutes(seconds: float) -> str:
    """A budget that is enough for so many seconds, as the user writes it: 3m."""
    return f"{int(seconds * 1.1) // 60 + 1}m"
