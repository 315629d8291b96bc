"""Collectives: find those that a run measured with our schedules, and predict the time of the same schedules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from firstlight.analysis import Judgement, loggops
from firstlight.analysis.loggops import Fitted
from firstlight.analysis.roles import RoleFigure, played, players
from firstlight.commands.simulate.steps import Asks
from firstlight.core.naming import COLLECTIVES
from firstlight.core.roles import COLLECTIVE
from firstlight.execute.network.program import Question
from firstlight.model.catalogue import Workload

BLOCKWISE = ("allgather", "reduce_scatter", "alltoall")
"""Collectives whose size is that of one block; each rank has as many blocks as there are ranks."""


class Case(msgspec.Struct, frozen=True):
    """What one question to the program requests."""

    mpi: str
    collective: str
    ranks: int
    nodes: int


class Predicted(msgspec.Struct, frozen=True):
    """One algorithm of a case at one size in bytes: `seconds`; from the fastest launches of messages `quick`; from the
    launches at the percentiles of an interval `low` and `high`.
    """

    figure: RoleFigure
    size: int
    seconds: float
    quick: float | None
    low: float | None
    high: float | None


def measured(
    judgement: Judgement, workloads: Mapping[str, Workload], mpi: str | None
) -> dict[Case, dict[tuple[str, int], RoleFigure]]:
    """Return the measured times by case and by (algorithm, bytes); of several toolchains the faster one counts."""
    found: dict[Case, dict[tuple[str, int], RoleFigure]] = {}
    for p in played(judgement.figures, players(workloads, COLLECTIVE), judgement.run.machine):
        place, size, seconds = p.identity.placement, p.size, p.seconds()
        if p.by_library or p.identity.mpi is None or place.ranks < 2 or seconds is None:
            continue
        if mpi not in (None, p.identity.mpi) or p.operation not in COLLECTIVES or size is None:
            continue
        some = found.setdefault(Case(p.identity.mpi, p.operation, place.ranks, place.nodes), {})
        key = (p.algorithm, int(size))
        if key not in some or seconds < (some[key].seconds() or 0.0):
            some[key] = p
    return found


def predicted(
    case: Case,
    some: Mapping[tuple[str, int], RoleFigure],
    fitted: Fitted,
    best: Fitted,
    tails: Sequence[Fitted],
    asks: Asks,
) -> tuple[list[Predicted], list[str]]:
    """Predict what `measured` returns for a case; return the predictions, and the reason for each missing one.

    `fitted`, `best` and `tails`: the parameters of all launches of messages, of the fastest ones and of those at the
    percentiles of an interval. Each size is one query. All ranks are equally far from each other, because a ping-pong
    between two ranks shows no more.
    """
    found: list[Predicted] = []
    missing: list[str] = []
    for size in sorted({size for _, size in some}):
        names = tuple(sorted({name for name, s in some if s == size}))
        quick, *others = (_times(case, names, size, fit, asks) for fit in (best, *tails))
        for p in asks.collective(_question(case, names, size, fitted)):
            figure = some.get((p.algorithm, int(p.bytes)))
            if figure is not None and p.usable and p.seconds:
                seconds = p.seconds + executed_copy(case, size, fitted)
                low, high = loggops.ends(seconds, [times[p.algorithm] for times in others if p.algorithm in times])
                found.append(Predicted(figure, size, seconds, quick.get(p.algorithm), low, high))
            elif figure is not None:
                why = p.refused or "no time"
                missing.append(f"{p.algorithm} for {case.collective} on {case.ranks} ranks: {why}")
    return found, missing


def _times(case: Case, names: tuple[str, ...], size: int, fitted: Fitted, asks: Asks) -> dict[str, float]:
    """Return the predicted seconds of each algorithm."""
    return {
        p.algorithm: p.seconds + executed_copy(case, size, fitted)
        for p in asks.collective(_question(case, names, size, fitted))
        if p.usable and p.seconds
    }


def _question(case: Case, names: tuple[str, ...], size: int, fitted: Fitted) -> Question:
    shape = "x".join(map(str, executed_shape(case.ranks)))
    segments = str(executed_segments(case.collective, size, case.ranks))
    machine = fitted.at(size * (case.ranks if case.collective in BLOCKWISE else 1))
    return Question(case.collective, names, f"flat:{shape}", (size,), segments=segments, machine=machine)


def executed_copy(case: Case, size: int, fitted: Fitted) -> float:
    """Return the seconds of the executor's copies outside the schedule: a rank's own block in an allgather."""
    return size * fitted.copied(size * case.ranks) if case.collective == "allgather" else 0.0


def executed_segments(collective: str, size: int, ranks: int) -> int:
    """Return the executor's number of segments (automatic_segments in native/collectives/mpi/channel.cpp)."""
    return 1 if ranks <= 2 and collective == "broadcast" else min(64, max(1, round(size / 65536)))


def executed_shape(ranks: int) -> list[int]:
    """Return the executor's torus for so many ranks (balanced_shape in native/collectives/mpi/channel.cpp)."""
    factors, left, factor = [], ranks, 2
    while left > 1:
        while left % factor == 0:
            factors.append(factor)
            left //= factor
        factor += 1
    shape = [1, 1, 1]
    for f in reversed(factors):
        shape[shape.index(min(shape))] *= f
    return sorted(shape, reverse=True)
