"""Observed: data that programs recorded behind a figure, by launch: series, fields, and values over the ranks."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

import msgspec

from firstlight.analysis.verdict import Figure, Identity, Verified
from firstlight.report.frame import View
from firstlight.results.record import Case, Field, LaunchRecord

LEAST, MOST = 1e-6, 1e12  # microseconds: what a length of time may be


class Window(NamedTuple):
    """The last sample of a case in one launch: its duration, and the points of each series by rank."""

    seconds: float
    ranks: dict[int, dict[str, tuple[float, ...]]]


def windows(view: View, figure: Verified) -> list[Window]:
    """Return one window for each complete launch with series, in the order of time."""
    who = figure.identity
    records = sorted(_records(view, who), key=lambda r: r.start.time)
    found = [_window(r, case.case) for r in records for case in _cases(r, who)]
    return [w for w in found if w.ranks and LEAST < 1e6 * w.seconds < MOST]


def field(view: View, figure: Figure) -> Field | None:
    """Return the field of the last complete launch of that case; None if there is none."""
    who = figure.identity
    records = sorted(_records(view, who), key=lambda r: r.start.time)
    found = [f for r in records for case in _cases(r, who) for f in r.fields if f.case == case.case]
    return found[-1] if found else None


def other(view: View, figure: Figure, metric: str) -> Verified | None:
    """Return another metric of the same case, if it was verified."""
    wanted = msgspec.structs.replace(figure.identity, metric=metric)
    return next((f for f in view.judgement.figures if f.identity == wanted and isinstance(f, Verified)), None)


def _records(view: View, who: Identity) -> list[LaunchRecord]:
    """Return the complete launches of that program in that placement."""
    cells = {
        c.id
        for c in view.judgement.run.cells
        if (c.program.workload, c.program.variant) == (who.workload, who.variant)
        and (c.program.toolchain, c.program.mpi) == (who.toolchain, who.mpi)
        and msgspec.structs.replace(c.placement, threads=who.placement.threads) == who.placement
    }
    return [r for r in view.judgement.records if r.start.cell in cells and r.complete]


def _cases(record: LaunchRecord, who: Identity) -> Iterator[Case]:
    for case in record.cases:
        if case.threads == who.placement.threads and tuple(sorted(case.parameters.items())) == who.parameters:
            yield case


def _window(record: LaunchRecord, case: int) -> Window:
    ranks: dict[int, dict[str, tuple[float, ...]]] = {}
    for line in record.series:
        if line.case == case:
            ranks.setdefault(line.rank, {})[line.name] = line.values
    walls = [s.wall for s in record.samples if s.case == case]
    return Window(walls[-1] if walls else 0.0, ranks)


def over_ranks(view: View, figure: Figure, value: str) -> tuple[float, float, float] | None:
    """Return (`least`, `median`, `largest`) over the ranks of a value observed in that case.

    The values are medians over samples and launches; None if no complete launch observed it.
    """
    who = figure.identity
    launches = []
    for record in _records(view, who):
        cases = {case.case for case in _cases(record, who)}
        seen = [s.values[value] for s in record.samples if s.case in cases and value in s.values]
        if seen:
            launches.append([median(v[k] for v in seen) for k in range(3)])
    if not launches:
        return None
    low, middle, high = (median(v[k] for v in launches) for k in range(3))
    return low, middle, high
