"""Series: each figure over the runs of one machine, its changes, and what else changed at their runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from statistics import median
from typing import Literal

import msgspec

from firstlight.analysis import changes
from firstlight.analysis.changes import Change, Value
from firstlight.analysis.compare import BETTER, WORSE
from firstlight.analysis.environment import Difference, differing
from firstlight.analysis.formatting import name
from firstlight.analysis.history.folder import Folder, Past
from firstlight.analysis.history.index import Measured
from firstlight.analysis.verdict import DISTURBED, Identity

ANY = "any"  # machine

Outcome = Literal["better", "worse"]


class Moved(msgspec.Struct, frozen=True):
    """A change of a figure: `runs` are the last run before it and the first since.

    `environment`: what differs between these two; `since`: how many runs of the figure show the new level.
    """

    change: Change
    outcome: Outcome
    runs: tuple[Past, Past]
    environment: tuple[Difference, ...]
    since: int


class Series(msgspec.Struct, frozen=True):
    """A figure in the runs that have it: `at` are their places among the runs shown.

    `deviation`: how far it moves from run to run by itself, as a share; None: too few runs. `other_work`: how
    many earlier runs measured it with other work in a step, which is another figure.
    """

    figure: Measured
    at: tuple[int, ...]
    values: tuple[Value, ...]
    moved: tuple[Moved, ...]
    deviation: float | None
    other_work: int

    @property
    def name(self) -> str:
        return name(self.figure.identity)


class History(msgspec.Struct, frozen=True):
    """The runs shown, oldest first, and their figures. `machine`: whose runs; `others`: of others, how many.

    `noise`: the median of the deviations of what is timed: what this machine adds from run to run. `quarter`: three of
    four figures move by less.
    """

    runs: tuple[Past, ...]
    series: tuple[Series, ...]
    machine: str
    others: dict[str, int]
    threshold: float
    noise: float | None
    quarter: float | None

    @property
    def changed(self) -> list[tuple[Series, Moved]]:
        """Return every change, newest first; within one run, largest first."""
        some = [(series, moved) for series in self.series for moved in series.moved]
        return sorted(some, key=lambda x: (-x[1].runs[1].run.started, -abs(x[1].change.certainty)))

    @property
    def enough_runs(self) -> bool:
        """Return whether any figure is in enough runs to detect a change."""
        return self.watched > 0

    @property
    def watched(self) -> int:
        """Return the number of figures in enough runs to detect a change."""
        return sum(len(series.at) >= changes.fewest() for series in self.series)

    def disturbed(self, past: Past) -> bool:
        """Return whether a share DISTURBED or more of the run's samples had diverged wall and CPU time."""
        return past.entry.disturbed >= DISTURBED


def history(
    folder: Folder,
    machine: str = "",
    since: float = 0.0,
    figures: Sequence[str] = (),
    threshold: float = changes.THRESHOLD,
) -> History:
    """Return the history of a machine: by default that of the newest run that was not imported; ANY: of all as one.

    `since`: runs that started earlier are left out; `figures`: only those whose names contain all words of one of these
    texts.
    """
    newest = next((p for p in reversed(folder.runs) if not p.run.imported), folder.runs[-1] if folder.runs else None)
    chosen = machine or (newest.run.machine.name if newest else "")
    mine = [past for past in folder.runs if chosen in (ANY, past.run.machine.name)]
    others: dict[str, int] = {}
    for past in folder.runs:
        if past not in mine:
            others[past.run.machine.name] = others.get(past.run.machine.name, 0) + 1
    mine = [past for past in mine if past.run.started >= since]
    series = _series(mine, folder.figures, figures, threshold)
    known = sorted(
        s.deviation for s in series if s.deviation is not None and not (s.figure.observed or s.figure.reported)
    )
    noise = median(known) if known else None
    quarter = known[3 * len(known) // 4] if known else None
    return History(tuple(mine), tuple(series), chosen, others, threshold, noise, quarter)


def _series(runs: Sequence[Past], figures: Sequence[Measured], wanted: Sequence[str], threshold: float) -> list[Series]:
    found: dict[int, list[tuple[int, Value]]] = {}
    for at, past in enumerate(runs):
        for number, value in past.entry.values:
            found.setdefault(number, []).append((at, value))
    newest: dict[Identity, int] = {}
    measured: Counter[Identity] = Counter()
    for number in sorted(found, key=lambda number: found[number][-1][0]):
        newest[figures[number].identity] = number
        measured[figures[number].identity] += len(found[number])
    since = cache(lambda a, b: tuple(differing(runs[a].run, runs[b].run)))
    series = []
    for number in sorted(newest.values()):
        figure, points = figures[number], found[number]
        if wanted and not any(named(figure, text) for text in wanted):
            continue
        other = measured[figure.identity] - len(points)
        series.append(_one(figure, points, runs, since, threshold, other))
    return series


def named(figure: Measured, text: str) -> bool:
    """Return whether a figure's name contains all words of a text."""
    whole = name(figure.identity)
    return all(word in whole for word in text.split())


def _one(
    figure: Measured,
    points: Sequence[tuple[int, Value]],
    runs: Sequence[Past],
    since: Callable[[int, int], tuple[Difference, ...]],
    threshold: float,
    other: int,
) -> Series:
    """Return the series of one figure. `since` returns what differs between two runs."""
    at, values = tuple(k for k, _ in points), tuple(v for _, v in points)
    positive = [v for v in values if v.median > 0]
    deviation = changes.deviation(positive) if len(positive) >= 2 * changes.SHORTEST else None
    found = changes.changes(values, threshold, deviation)
    moved = []
    for change, end in zip(found, [*(later.at for later in found[1:]), len(values)], strict=False):
        before, first = runs[at[change.at - 1]], runs[at[change.at]]
        outcome: Outcome = BETTER if (change.ratio > 1) == (figure.better == "higher") else WORSE
        moved.append(Moved(change, outcome, (before, first), since(at[change.at - 1], at[change.at]), end - change.at))
    return Series(figure, at, values, tuple(moved), deviation, other)
