"""Rounds: every cell once a round in random order, until every figure is sure enough or the budget is spent."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Final

from firstlight.catalogue import Workload
from firstlight.conduct.progress import Progress
from firstlight.judge import stop, words
from firstlight.judge.evidence import Evidence, gather, launch_value, refused, why_lost
from firstlight.judge.interval import estimate
from firstlight.judge.select import in_row
from firstlight.judge.verdict import Estimate, Identity
from firstlight.plan import LAUNCHES, MOST_LAUNCHES, Cell, order
from firstlight.record import LaunchRecord, Metric, Run, RunState
from firstlight.units import duration, minutes, significant

if TYPE_CHECKING:
    from firstlight.judge.evidence import Subject

COMPLETE: Final[RunState] = "complete"
BUDGET: Final[RunState] = "budget"
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
        self._metrics: dict[Subject, Metric] = {}
        self._all_wrong = False

    def take(self, record: LaunchRecord, seconds: float) -> None:
        """Add a launch that took `seconds` in all."""
        self.records.append(record)
        n = len(self.records)
        self.seconds = seconds if self.seconds is None else self.seconds + (seconds - self.seconds) / n
        evidence, _ = gather(self._run, self.records)
        mine = {subject: e for subject, e in evidence.items() if subject.program == self.cell.program}
        self._all_wrong = bool(mine) and all(e.wrong for e in mine.values())
        self._metrics = {s: m for s, e in mine.items() if (m := self._first(e)) is not None}
        estimates = ((s, _estimate(metric, mine[s])) for s, metric in self._metrics.items())
        self.estimates = {s: e for s, e in estimates if e is not None}

    def _first(self, evidence: Evidence) -> Metric | None:
        """The first metric that is told of the case; all its metrics share its launches."""
        description = self._run.descriptions.get(self.cell.program.target)
        return next((m for m in description.metrics if evidence.tells(m)), None) if description else None

    @property
    def expected(self) -> float:
        """Seconds of the next launch: the first one finds nothing in any cache."""
        return (self.seconds or 0.0) * (COLD if len(self.records) == 1 else 1.0)

    @property
    def dropped(self) -> str:
        """Why this cell is given up, or "": its program refused, or its last launches were lost one after the other."""
        if self.records and (told := refused(self.records[-1])):
            return told
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
        description = self._run.descriptions.get(self.cell.program.target)
        if not self.estimates or description is None or description.unverified:
            return ""
        subject, estimate = list(self.estimates.items())[-1]
        metric = self._metrics[subject]
        return f"{words.name(identity(subject, metric.name))}: {significant(estimate.median)} {metric.unit}"


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
        workloads: Mapping[str, Workload] | None = None,
    ) -> None:
        """`workloads` say from which cells the lines of the terminal page choose: those wait last if time is short."""
        self._run, self._launch, self._budget, self._progress, self._clock = run, launch, budget, progress, clock
        self._workloads = workloads or {}
        self.tallies = {cell.id: Tally(run, cell) for cell in cells}
        for record in sorted(present, key=lambda r: r.start.time):
            if record.start.cell in self.tallies:
                self.tallies[record.start.cell].take(record, record.exit.seconds)
        self._began = clock()
        self._aside: set[str] = set()  # cells that wait until the others have their launches
        self._told = False

    def go(self) -> RunState:
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
            number += 1
            self._make_room(number)
            pending = self._pending()
        return COMPLETE

    def _resume_point(self) -> tuple[int, list[Cell]]:
        """The round to go on with, and its cells: an interrupted round is finished first."""
        done = [record for tally in self.tallies.values() for record in tally.records]
        if not done:
            return 0, self._pending()
        number = max(record.start.round for record in done)
        launched = {record.start.cell for record in done if record.start.round == number}
        if not any(cell.id not in launched for cell in self._pending()):
            number, launched = number + 1, set()
        self._make_room(number)
        rest = [cell for cell in self._pending() if cell.id not in launched]
        return (number, rest) if rest else (number + 1, self._pending())

    def _short(self) -> list[Tally]:
        """Those that want more and have not had the wanted launches yet."""
        launches = self._run.launches
        return [t for t in self.tallies.values() if len(t.records) < launches and t.wants(launches)]

    def _pending(self) -> list[Cell]:
        """The cells of the next round: those short of launches, then those that waited, then all that want more."""
        short = [tally.cell for tally in self._short()]
        now = [cell for cell in short if cell.id not in self._aside]
        if not now:
            self._aside = self._hopeless()
            now = [cell for cell in short if cell.id not in self._aside]
        return now or short or [t.cell for t in self.tallies.values() if t.wants(self._run.launches)]

    def _hopeless(self) -> set[str]:
        """Of those short of launches: which to leave out, so that the others can be completed; nobody if all are.

        What the terminal page does not show goes first, then what takes longest.
        """
        short = self._short()
        needs = {t.cell.id: t.expected * (self._run.launches - len(t.records)) for t in short}
        front = {t.cell.id for t in short if self._on_front_page(t)}
        left, total, aside = self._budget - self._elapsed(), sum(needs.values()), set[str]()
        for name in sorted(needs, key=lambda name: (name in front, -needs[name], name)):
            if total <= left:
                break
            aside.add(name)
            total -= needs[name]
        return aside if len(aside) < len(needs) else set()

    def _elapsed(self) -> float:
        return self._clock() - self._began

    def _fits(self, cell: Cell) -> bool:
        elapsed, seconds = self._elapsed(), self.tallies[cell.id].seconds
        return elapsed < self._budget and elapsed + (seconds or 0.0) <= self._budget

    def _whole_round_fits(self, number: int, pending: list[Cell]) -> bool:
        """Below the wanted number of launches part of a round would favour some cells: none is better."""
        if number == 0 or number >= self._run.launches:
            return True
        needed = sum(self.tallies[cell.id].expected for cell in pending)
        return self._elapsed() + needed <= self._budget

    def _one(self, cell: Cell, number: int) -> None:
        tally = self.tallies[cell.id]
        before = self._clock()
        record = self._launch(cell, number)
        tally.take(record, self._clock() - before)
        if tally.dropped:
            why = "refused" if refused(record) else f"given up after {LOST_IN_A_ROW} lost launches"
            self._progress.note(f"{why}: {cell.id}: {tally.dropped}")
        self._progress.state.last = tally.last() or self._progress.state.last

    def _show(self, number: int, place: int, total: int, cell: Cell) -> None:
        state = self._progress.state
        state.stage, state.now = f"round {number + 1}", cell.id
        state.done, state.total = place, total
        state.left = max(0.0, self._budget - self._elapsed())
        self._progress.update()

    def _make_room(self, number: int) -> None:
        """Before round `number`: if the wanted launches will not fit, choose cells that wait, and say so once."""
        more = self._run.launches - number
        short = [tally for tally in self._short() if tally.cell.id not in self._aside]
        costs = {tally.cell.id: tally.expected for tally in short}
        left, one = self._budget - self._elapsed(), sum(costs.values())
        if more <= 0 or one * more <= left:
            return
        aside = dear(costs, left / more, {t.cell.id for t in short if self._on_front_page(t)})
        self._aside |= aside
        if not self._told:
            self._tell(one, len(aside), len(costs), self._elapsed() + one * more, number + int(left // one))
        self._told = True

    def _on_front_page(self, tally: Tally) -> bool:
        """Whether a row of the report chooses from its figures."""
        workload = self._workloads.get(tally.cell.program.workload)
        if workload is None:
            return False
        machine = self._run.machine
        return any(
            in_row(identity(subject, row.metric), row, workload, machine)
            for row in workload.rows
            for subject in tally.estimates
        )

    def _tell(self, one: float, waiting: int, cells: int, enough: float, fit: int) -> None:
        """That a round takes `one` seconds, too long: `waiting` cells wait, or only `fit` rounds are launched."""
        wanted, budget = self._run.launches, duration(self._budget)
        hint = f"--budget {minutes(1.1 * enough)} would do for all"
        if waiting:
            self._progress.note(
                f"a round takes {duration(one)}, too long for {wanted} in {budget}: "
                f"{waiting} of {cells} cells, the dearest, wait until the others are done; {hint}"
            )
        else:
            self._progress.note(
                f"a round takes {duration(one)}: {fit} of {wanted} rounds fit the budget of {budget}; {hint}"
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


def _estimate(metric: Metric, evidence: Evidence) -> Estimate | None:
    """None for a wrong result or an unusable record."""
    if evidence.wrong or not evidence.timings:
        return None
    try:
        return estimate([launch_value(metric, timing) for timing in evidence.timings])
    except ValueError:
        return None  # the judgement says what is wrong with it


def identity(subject: Subject, metric: str) -> Identity:
    p = subject.program
    return Identity(p.workload, p.variant, p.toolchain, p.mpi, subject.placement, subject.parameters, metric)


def dear(costs: Mapping[str, float], room: float, front: Collection[str] = ()) -> set[str]:
    """The fewest cells to leave out of a round so that it takes `room` seconds; empty where that cannot be had.

    First such as cost far more than most, then any, but none of the `front`, which the terminal page shows; those only
    where they cost far more than most themselves. Without a front, cells that cost the same are treated the same.
    """
    outlying = {name for name in costs if costs[name] > DEAR * median(costs.values())}
    others = costs.keys() - front
    for candidates in (outlying & others, others if front else set(), outlying):
        aside = _fewest(costs, room, candidates)
        if aside is not None:
            return aside
    return set()


def _fewest(costs: Mapping[str, float], room: float, candidates: Iterable[str]) -> set[str] | None:
    """The dearest of the candidates, as many as it takes; None where all of them are not enough."""
    total, aside = sum(costs.values()), set[str]()
    for name in sorted(candidates, key=lambda name: (-costs[name], name)):
        if total <= room:
            break
        aside.add(name)
        total -= costs[name]
    return aside if total <= room else None
