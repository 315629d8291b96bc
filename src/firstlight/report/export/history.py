"""A history as JSON: the source of every number on its pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from firstlight.analysis.compare import Comparison
from firstlight.analysis.history.folder import Left, Past
from firstlight.analysis.history.series import History, Moved, Outcome, Series
from firstlight.report.export.comparison import ComparedRuns, Which, compared, which
from firstlight.results.description import Better
from firstlight.results.record import Time


class HistoryRun(msgspec.Struct, frozen=True):
    """A run. `disturbed`: the share of its samples whose wall and CPU time diverged."""

    id: str
    path: str
    started: Time
    machine: str
    firstlight: str
    disturbed: float


class HistoryPoint(msgspec.Struct, frozen=True):
    """A figure in one run. `run`: the index of the run, from 0. Also the median, the interval, and both groups of a
    bimodal figure.
    """

    run: int
    median: float
    low: float | None
    high: float | None
    lower: float | None
    upper: float | None


class HistoryDifference(msgspec.Struct, frozen=True):
    """A difference between two runs; null: not present."""

    what: str
    before: str | None
    since: str | None


class HistoryChange(msgspec.Struct, frozen=True):
    """A change of level. It first shows in point `at` of the figure, which is a point of run `first`; `last` is the
    previous run.

    `before` and `after`: medians of the points since the previous change, and until the next change. `ratio`: after /
    before. `certainty`: the CUSUM statistic in standard deviations.
    """

    at: int
    last: int
    first: int
    before: float
    after: float
    ratio: float
    outcome: Outcome
    certainty: float
    environment: tuple[HistoryDifference, ...]


class HistorySeries(msgspec.Struct, frozen=True):
    """A figure over the runs. `deviation`: its standard deviation from run to run, as a share (null: too few runs).

    `reported`: another tool reported the figure, and firstlight did not verify it.
    """

    identity: Which
    unit: str
    better: Better
    observed: bool
    deviation: float | None
    other_work: int
    points: tuple[HistoryPoint, ...]
    changes: tuple[HistoryChange, ...]
    reported: bool = False


class HistoryDocument(msgspec.Struct, frozen=True):
    """The runs, oldest first. `noise`: the median deviation of timed figures; a quarter of them deviate by more than
    `quarter`. `others`: runs of other machines, by machine. `accepted`: the newest run compared with the accepted
    run (null: none is accepted). `first`: the newest run compared with the first run, if no run is accepted and
    there are too few runs to detect a change, otherwise null. `code`: the exit status.
    """

    machine: str
    runs: tuple[HistoryRun, ...]
    left_out: tuple[Left, ...]
    others: dict[str, int]
    threshold: float
    noise: float | None
    quarter: float | None
    figures: tuple[HistorySeries, ...]
    accepted: ComparedRuns | None
    first: ComparedRuns | None
    code: int


def document(
    history: History, left: Sequence[Left], accepted: Comparison | None, first: Comparison | None, code: int
) -> HistoryDocument:
    """Return the history as --json prints it."""
    places = {past.path: k for k, past in enumerate(history.runs)}
    return HistoryDocument(
        machine=history.machine,
        runs=tuple(_run(past) for past in history.runs),
        left_out=tuple(left),
        others=history.others,
        threshold=history.threshold,
        noise=history.noise,
        quarter=history.quarter,
        figures=tuple(_series(series, places) for series in history.series),
        accepted=None if accepted is None else compared(accepted),
        first=None if first is None else compared(first),
        code=code,
    )


def _run(past: Past) -> HistoryRun:
    run = past.run
    return HistoryRun(run.id, str(past.path), run.started, run.machine.name, run.firstlight, past.entry.disturbed)


def _series(series: Series, places: dict[Path, int]) -> HistorySeries:
    figure = series.figure
    points = tuple(
        HistoryPoint(k, v.median, v.low, v.high, v.lower, v.upper)
        for k, v in zip(series.at, series.values, strict=True)
    )
    return HistorySeries(
        which(figure.identity),
        figure.unit,
        figure.better,
        figure.observed,
        series.deviation,
        series.other_work,
        points,
        tuple(_change(moved, places) for moved in series.moved),
        figure.reported,
    )


def _change(moved: Moved, places: dict[Path, int]) -> HistoryChange:
    change, (last, first) = moved.change, moved.runs
    return HistoryChange(
        change.at,
        places[last.path],
        places[first.path],
        change.before,
        change.after,
        change.ratio,
        moved.outcome,
        change.certainty,
        tuple(HistoryDifference(*difference) for difference in moved.environment),
    )
