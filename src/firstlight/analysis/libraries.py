"""MPI libraries by purpose: the one table from which the summary, the cards, the matrix and the findings come.

A workload declares the purpose of a row (`purpose` in workload.toml): small messages, large messages, collectives or
halo exchange. Such a row is a case of the table if at least two MPI libraries have a verified figure in it. Plain
variants decide: the calls that a user's code contains. All variants decide for a workload that declares none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from firstlight.analysis import Judgement, provenance, ranking
from firstlight.analysis.evidence import unfit
from firstlight.analysis.formatting import mpi_name
from firstlight.analysis.interval import quotient
from firstlight.analysis.states import ratio
from firstlight.analysis.verdict import Figure, Verified
from firstlight.core.confidence import LEVEL
from firstlight.core.units import binary, significant
from firstlight.model.catalogue import BY_SIZE, LARGE, PURPOSES, Purpose, Row, Workload
from firstlight.model.plan.selectors import in_row

NO_CHOICE = (ranking.ANY, ranking.UNCLEAR)


class Case(msgspec.Struct, frozen=True):
    """A row in which MPI libraries are compared. `figures`: those of the deciding variants, by library.

    `rivals`: the best figure of each library, the best one first. `choice`: the library that is better, or two of more
    than two; ranking.ANY or ranking.UNCLEAR. `second`: the best figure of the libraries that are worse, if any.
    """

    row: Row
    workload: str
    figures: dict[str, tuple[Figure, ...]]
    rivals: tuple[Verified, ...]
    choice: str
    second: Verified | None

    @property
    def best(self) -> Verified:
        return self.rivals[0]

    @property
    def few(self) -> bool:
        """Return whether a library was launched too few times for an interval."""
        return any(f.estimate.low is None for f in self.rivals)

    @property
    def factor(self) -> float:
        """Return how many times better the choice is than the next library; 1 if there is none to recommend."""
        return 1.0 if self.second is None else ranking.advantage(self.best, self.second)


def table(judgement: Judgement, workloads: Mapping[str, Workload]) -> list[Case]:
    """Return the cases by purpose, then in the order of the rows; none if the machine was not fit for measuring."""
    if unfit(judgement.run, judgement.records):
        return []
    rows = [(row, w) for w in workloads.values() for row in w.rows if row.purpose]
    rows.sort(key=lambda x: (PURPOSES.index(x[0].purpose), x[0].order, x[0].title))
    return [case for row, workload in rows if (case := _case(judgement, row, workload)) is not None]


def _case(judgement: Judgement, row: Row, workload: Workload) -> Case | None:
    run = judgement.run
    found = [f for f in judgement.figures if f.identity.mpi and in_row(f.identity, row, workload, run.machine)]
    plain = [f for f in found if f.identity.variant in workload.plain]
    figures: dict[str, list[Figure]] = {}
    for f in plain or found:
        figures.setdefault(mpi_name(run, f.identity.mpi or ""), []).append(f)
    best = [ranking.best(ranking.presentable(run, some)) for some in figures.values()]
    groups = ranking.rank(f for f in best if f is not None)
    rivals = tuple(f for group in groups for f in group.figures)
    if len(rivals) < 2:
        return None
    choice = ranking.recommended(rivals, lambda f: mpi_name(run, f.identity.mpi or ""))
    second = groups[1].best if len(groups) > 1 and choice not in NO_CHOICE else None
    return Case(row, workload.name, {name: tuple(some) for name, some in figures.items()}, rivals, choice, second)


def not_compared(judgement: Judgement, workloads: Mapping[str, Workload]) -> list[Purpose]:
    """Return the purposes of which this run has figures, but of fewer than two of its MPI libraries."""
    if len(judgement.run.toolbox.mpis) < 2:
        return []
    compared = {case.row.purpose for case in table(judgement, workloads) if not case.few}
    rows = [(row, w) for w in workloads.values() for row in w.rows if row.purpose and row.purpose not in compared]
    machine = judgement.run.machine
    found = {row.purpose for row, w in rows if any(in_row(f.identity, row, w, machine) for f in judgement.figures)}
    return [purpose for purpose in PURPOSES if purpose in found]


def headlines(cases: Iterable[Case]) -> list[Case]:
    """Return the cases for the front page: the headlines of each purpose, or all of its cases if none is a headline.

    Other cases follow with another choice than the headlines: the advice depends on the case.
    """
    found: list[Case] = []
    for mine in _by_purpose(cases).values():
        first = [c for c in mine if c.row.headline] or mine
        known = {c.choice for c in first}
        found += first + [c for c in mine if c.choice not in known]
    return found


def _by_purpose(cases: Iterable[Case]) -> dict[Purpose, list[Case]]:
    found: dict[Purpose, list[Case]] = {}
    for case in cases:
        found.setdefault(case.row.purpose, []).append(case)
    return found


# --- in words ---------------------------------------------------------------------------------------------------------


def named(purpose: Purpose) -> str:
    """Return `small messages (below 64 KiB)`: a purpose, with the boundary between small and large messages."""
    size = provenance.number(binary(LARGE), "large()", "B")
    known = (f"below {size}", f"{size} and more")
    return f"{purpose} ({known[BY_SIZE.index(purpose)]})" if purpose in BY_SIZE else purpose


def sentence(cases: Iterable[Case], between: str = "; ") -> str:
    """Return the choices: `collectives: MPICH (barrier: 1.80 x faster, 1.7 – 1.9); halo exchange: any (...)`.

    `between`: what separates the purposes.
    """
    parts = []
    for purpose, mine in _by_purpose(cases).items():
        choices = dict.fromkeys(case.choice for case in mine)
        several = len(choices.keys() - set(NO_CHOICE)) > 1
        alike = [f"{choice} ({'; '.join(_shown(c) for c in mine if c.choice == choice)})" for choice in choices]
        parts.append(f"{named(purpose)}{', depending on the case' if several else ''}: {', '.join(alike)}")
    return between.join(parts)


def _shown(case: Case) -> str:
    """Return the title of a case, with the factor and its interval if one library is better."""
    title = provenance.name(case.row.title)
    if case.second is None:
        return title
    than = "" if len(case.rivals) == 2 else " than the next"
    return f"{title}: {_times(case.best, case.second)}{than}"


def _times(better: Verified, worse: Verified) -> str:
    """Return `2.41 x faster, 1.80 – 2.60`: how many times better the first is, with the interval of the ratio.

    If a figure has two states, the factor is that of the nearer ones: `at least 1.26 x faster`.
    """
    under, over = (worse, better) if better.better == "higher" else (better, worse)
    times = provenance.advantage(f"{significant(ranking.advantage(better, worse))} x", better, worse)
    if bound := provenance.at_least(better, worse):
        return f"{bound}{times} faster"
    found = ratio(under, over, LEVEL)
    if found.low is None or found.high is None:
        return f"{times} faster"
    shown = quotient(over.estimate.median, under.estimate.median)
    ends = (min(found.low, shown), "ratio_low(a, b)"), (max(found.high, shown), "ratio_high(a, b)")
    span = " – ".join(provenance.number(significant(x), formula, of=(under, over)) for x, formula in ends)
    return f"{times} faster, {span}"
