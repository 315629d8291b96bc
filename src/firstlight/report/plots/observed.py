"""Observed: the series that programs left behind a figure, launch by launch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from firstlight.judge.verdict import Figure, Identity, Verified
from firstlight.record import Case, LaunchRecord
from firstlight.report.plots.frame import View

LEAST, MOST = 1e-6, 1e12  # microseconds: what a length of time may be


class Window(NamedTuple):
    """The last sample of a case in one launch: how long it took, and by rank the points of each series."""

    seconds: float
    ranks: dict[int, dict[str, tuple[float, ...]]]


def windows(view: View, figure: Verified) -> list[Window]:
    """One for each complete launch that left series, in the order of time."""
    who = figure.identity
    cells = {
        c.id
        for c in view.judgement.run.cells
        if (c.program.workload, c.program.variant) == (who.workload, who.variant)
        and (c.program.toolchain, c.program.mpi) == (who.toolchain, who.mpi)
        and (c.placement.nodes, c.placement.ranks) == (who.placement.nodes, who.placement.ranks)
    }
    records = [r for r in view.judgement.records if r.start.cell in cells and r.complete]
    found = [_window(r, case.case) for r in sorted(records, key=lambda r: r.start.time) for case in _cases(r, who)]
    return [w for w in found if w.ranks and LEAST < 1e6 * w.seconds < MOST]


def other(view: View, figure: Figure, metric: str) -> Verified | None:
    """Another metric of the same case, where it was verified."""
    wanted = msgspec.structs.replace(figure.identity, metric=metric)
    return next((f for f in view.judgement.figures if f.identity == wanted and isinstance(f, Verified)), None)


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
