"""MPI libraries that differ: by purpose, from the one table, and on other programs."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator

from firstlight.analysis import Finding, Judgement, libraries, provenance
from firstlight.analysis.findings._common import (
    SHOWN,
    apart,
    command,
    grouped,
    shown,
    target,
    verified,
    without_defaults,
)
from firstlight.analysis.formatting import mpi_name, values
from firstlight.analysis.verdict import Verified
from firstlight.model.catalogue import Workload

THRESHOLD = 0.05
WEIGHT = 60.0

Difference = tuple[float, Verified, Verified]
"""How many times better the best library is than the worst one, and both figures."""


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    cases = libraries.table(judgement, workloads)
    known = {case.workload for case in cases}
    others = grouped(_differences(judgement, known), lambda d: d[1].identity.workload).values()
    strongest = [max(some, key=lambda d: d[0]) for some in others]
    return _by_purpose(judgement, libraries.headlines(c for c in cases if not c.few)) + [
        _of_program(judgement, d) for d in strongest
    ]


def _by_purpose(judgement: Judgement, cases: list[libraries.Case]) -> list[Finding]:
    """Return one finding about all cases of the table in which a library is notably better."""
    notable = [c for c in cases if c.second is not None and c.factor >= 1 + THRESHOLD]
    if not notable:
        return []
    pairs = [(c.best, c.second) for c in notable if c.second is not None]
    figures = [f for pair in pairs for f in pair]
    by_purpose, strongest = libraries.sentence(notable), max(notable, key=lambda c: c.factor)
    return [
        Finding(
            rule="mpi_differs",
            sentence=f"MPI libraries differ in plain calls. {by_purpose[:1].upper()}{by_purpose[1:]}",
            evidence=tuple(shown(judgement, f) for f in figures[:SHOWN]),
            command=command(target(strongest.best.identity), toolchains=[strongest.best.identity.toolchain]),
            weight=WEIGHT + min(9.0, math.log(strongest.factor)),
            about=tuple(f.identity for f in figures),
        )
    ]


def _differences(judgement: Judgement, without: Container[str]) -> Iterator[Difference]:
    """Yield the best and the worst MPI library for each case that several measured, if they clearly differ.

    Workloads in `without` are left out.
    """
    measured = [f for f in verified(judgement) if f.identity.mpi is not None and f.identity.workload not in without]
    cases = grouped(
        measured,
        lambda f: (
            target(f.identity),
            f.identity.toolchain,
            f.identity.placement,
            f.identity.parameters,
            f.identity.metric,
        ),
    )
    for figures in cases.values():
        if found := apart(figures, THRESHOLD):
            yield found


def _of_program(judgement: Judgement, difference: Difference) -> Finding:
    """Return `Open MPI makes himeno.mpi_simd (size = M) 1.6 x faster than MPICH`."""
    factor, winner, loser = difference
    first, second = (mpi_name(judgement.run, f.identity.mpi or "") for f in (winner, loser))
    case = values(without_defaults(judgement, winner.identity).parameters)
    what = target(winner.identity) + (f" ({case})" if case else "")
    return Finding(
        rule="mpi_differs",
        sentence=f"{first} makes {what} {provenance.times(winner, loser)} faster than {second}",
        evidence=(shown(judgement, winner), shown(judgement, loser)),
        command=command(target(winner.identity), toolchains=[winner.identity.toolchain]),
        weight=WEIGHT + min(9.0, math.log(factor)),
        about=(winner.identity, loser.identity),
    )
