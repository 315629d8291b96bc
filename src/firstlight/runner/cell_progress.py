"""The progress of one cell during a run, and whether another launch would improve its interval."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

from msgspec.structs import replace

from firstlight.analysis import formatting, stop
from firstlight.analysis.evidence import Evidence, Subject, gather, launch_value, refused, why_lost
from firstlight.analysis.interval import estimate
from firstlight.analysis.verdict import Estimate
from firstlight.core.confidence import LAUNCHES
from firstlight.core.units import significant
from firstlight.model.plan import MOST_LAUNCHES, Cell
from firstlight.model.plan.arguments import Values
from firstlight.results.description import Metric
from firstlight.results.record import LaunchRecord, Run

LOST_IN_A_ROW = 2  # then a cell is given up
FAILED_LAUNCHES = 2  # of a cell of which every result is wrong: once more, to see that it is not an accident


class Tally:
    """The launches of one cell so far, and the estimates from them."""

    def __init__(self, run: Run, cell: Cell) -> None:
        self.cell = cell
        self.records: list[LaunchRecord] = []
        self.estimates: dict[Subject, Estimate] = {}
        self._run = replace(run, cells=(cell,))  # the others' evidence would be looked through at each launch
        self._metrics: dict[Subject, Metric] = {}
        self._all_wrong = False

    def take(self, record: LaunchRecord) -> None:
        """Add a launch."""
        self.records.append(record)
        evidence, _ = gather(self._run, self.records)
        mine = {subject: e for subject, e in evidence.items() if subject.program == self.cell.program}
        ran = [e for e in mine.values() if not e.refused]
        self._all_wrong = bool(ran) and all(e.wrong for e in ran)
        self._metrics = {s: m for s, e in mine.items() if (m := self._first(e)) is not None}
        estimates = ((s, _estimate(metric, mine[s])) for s, metric in self._metrics.items())
        self.estimates = {s: e for s, e in estimates if e is not None}

    def _first(self, evidence: Evidence) -> Metric | None:
        """Return the first metric that the case has; all its metrics share its launches."""
        description = self._run.descriptions.get(self.cell.program.target)
        return next((m for m in description.metrics if evidence.applies(m)), None) if description else None

    @property
    def dropped(self) -> str:
        """Return why this cell is given up, or "": its program refused, or its last launches were all lost."""
        if self.records and (reason := refused(self.records[-1])):
            return reason
        last = [why_lost(self.cell, record) for record in self.records[-LOST_IN_A_ROW:]]
        return last[-1] if len(last) == LOST_IN_A_ROW and all(last) else ""

    def wants(self, minimum: int) -> bool:
        """Return whether another launch would help. A `minimum` below LAUNCHES is exact: there are no intervals."""
        maximum = max(minimum, MOST_LAUNCHES) if minimum >= LAUNCHES else minimum
        if len(self.records) >= maximum or self.dropped:
            return False
        if self._all_wrong:
            return len(self.records) < FAILED_LAUNCHES
        return stop.needs_more(list(self.estimates.values()), minimum, self._run.precision, maximum)

    def last(self, varying: Collection[str] | None = None) -> str:
        """Return the newest verified figure in words, or "", with only the parameters in `varying`; None: with all."""
        description = self._run.descriptions.get(self.cell.program.target)
        if not self.estimates or description is None or description.unverified:
            return ""
        subject, estimate = list(self.estimates.items())[-1]
        metric = self._metrics[subject]
        who = subject.identity(metric.name)
        if varying is not None:
            who = replace(who, parameters=tuple((name, v) for name, v in who.parameters if name in varying))
        return f"{formatting.name(who)}: {significant(estimate.median)} {metric.unit}"


def _estimate(metric: Metric, evidence: Evidence) -> Estimate | None:
    """Return the estimate of a metric, or None for a wrong result or an unusable record."""
    if evidence.wrong or not evidence.timings:
        return None
    try:
        return estimate([launch_value(metric, timing) for timing in evidence.timings])
    except ValueError:
        return None  # the judgement reports its defect


def varying(cells: Iterable[Cell]) -> dict[str, frozenset[str]]:
    """Return by workload the parameters with more than one value in a run.

    These include a parameter that only some cells set, and a pattern that a program expands to several values.
    """
    given: dict[str, list[Values]] = defaultdict(list)
    for cell in cells:
        given[cell.program.workload].append(cell.values)
    found = {}
    for workload, some in given.items():
        values = {name: {v for one in some for v in one.get(name, ("",))} for one in some for name in one}
        found[workload] = frozenset(n for n, mine in values.items() if len(mine) > 1 or "*" in "".join(map(str, mine)))
    return found
