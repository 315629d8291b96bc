"""Choosing: select what is worth trying from measured times, and what is kept from its trial."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from firstlight.analysis.compare import BETTER, SAME, THRESHOLD, UNCLEAR, WORSE, compare_figures
from firstlight.analysis.roles import Player, RoleFigure, played
from firstlight.analysis.verdict import Estimate, Figure, Verified
from firstlight.commands.tune.planning import PRELOAD, RULES, Target
from firstlight.commands.tune.setting import Setting
from firstlight.commands.tune.table import LIBRARY, Choices
from firstlight.system.machine import Machine


class Case(msgspec.Struct, frozen=True, order=True):
    """The case of a decision."""

    mpi: str
    target: Target
    collective: str
    ranks: int
    bytes: int


class Candidate(msgspec.Struct, frozen=True):
    """The fastest alternative at one point."""

    case: Case
    algorithm: str


class Choice(msgspec.Struct, frozen=True):
    """The result of a candidate's trial. `ratio`: time with the candidate / time without, with its 99 % interval."""

    case: Case
    algorithm: str
    kept: bool
    reason: str
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    unclear: bool = False  # its trial was inconclusive; more launches may decide


Point = tuple[str, str, str, int, int]
"""MPI library, algorithm, collective, ranks, bytes."""
Times = Mapping[Point, RoleFigure]
Begun = tuple[str, str, int]
"""MPI library, collective, ranks."""


def times(figures: Iterable[Figure], player: Player, machine: Machine) -> Times:
    """Return the verified times of a player of the role `collective`; oversubscribed figures are left out."""
    found: dict[Point, RoleFigure] = {}
    for p in played(figures, [player], machine):
        if p.identity.mpi is not None and p.size is not None and p.seconds() is not None:
            algorithm = LIBRARY if p.by_library else p.algorithm
            found[p.identity.mpi, algorithm, p.operation, p.identity.placement.ranks, int(p.size)] = p
    return found


def _microseconds(p: RoleFigure) -> float:
    return 1e6 * (p.seconds() or 0.0)


def candidates(measured: Times, settings: Mapping[str, tuple[str, Setting]]) -> list[Candidate]:
    """Return for each point and target the alternative with the least median, if it gains more than the threshold."""
    best: dict[Case, tuple[float, str]] = {}
    for (mpi, algorithm, collective, ranks, size), figure in measured.items():
        if mpi in settings:
            base, setting = settings[mpi]
            case, algorithm = Case(base, RULES, collective, ranks, size), setting.algorithm
        elif algorithm != LIBRARY:
            case = Case(mpi, PRELOAD, collective, ranks, size)
        else:
            continue
        value = (_microseconds(figure), algorithm)
        best[case] = min(value, best.get(case, value))
    found = []
    for case, (median, algorithm) in sorted(best.items()):
        library = measured.get((case.mpi, LIBRARY, case.collective, case.ranks, case.bytes))
        if library is not None and _microseconds(library) > (1 + THRESHOLD) * median:
            found.append(Candidate(case, algorithm))
    return found


def choices(some: Iterable[Candidate | Choice], points: Mapping[tuple[str, int], Sequence[int]]) -> Choices:
    """Return the content of a table: the algorithm at each measured size, the library's own without a candidate."""
    found: dict[tuple[str, int], dict[int, str]] = {k: dict.fromkeys(sizes, LIBRARY) for k, sizes in points.items()}
    for one in some:
        if isinstance(one, Candidate) or one.kept:
            found.setdefault((one.case.collective, one.case.ranks), {})[one.case.bytes] = one.algorithm
    return found


def judged(
    some: Sequence[Candidate], measured: Times, tuned: Mapping[tuple[str, Target], str], launched: Collection[Begun]
) -> list[Choice]:
    """Return the verdict of the trial on each candidate. `tuned`: the tuned library's name by (MPI library, target).

    `launched`: what had time for at least one launch.

    Both were launched alternately in one run. A drift of the machine affects both alike, so none is allowed for.
    """
    found = []
    for c in some:
        case = c.case
        point = (LIBRARY, case.collective, case.ranks, case.bytes)
        without = measured.get((case.mpi, *point))
        name = tuned.get((case.mpi, case.target))
        with_it = measured.get((name, *point)) if name else None
        if without is None or with_it is None:
            begun = (case.mpi, case.collective, case.ranks) in launched
            reason = "the trial was not verified" if begun else "not tried: the budget was used up"
            found.append(Choice(case, c.algorithm, False, reason, unclear=True))
            continue
        compared = compare_figures(_together(without.figure), _together(with_it.figure), drift=0.0)
        reason = {
            BETTER: "better",
            WORSE: "worse in the trial",
            SAME: "no difference in the trial",
        }.get(compared.outcome, f"the trial is inconclusive: {compared.reason}")
        kept = compared.outcome == BETTER
        unclear = compared.outcome == UNCLEAR
        ratio, low, high = compared.ratio, compared.low, compared.high
        found.append(Choice(case, c.algorithm, kept, reason, ratio, low, high, unclear))
    return found


def _together(figure: Verified) -> Verified:
    """Return the figure without pooling by moments, because alternating launches share every disturbance."""
    e = figure.estimate
    return replace(figure, estimate=Estimate(e.median, e.low, e.high, e.launches))
