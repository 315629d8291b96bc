"""A library's collective that loses at large messages: to another library's, or to the same sum written on top of it.

R1 saw the reduction of one MPI library move 1862 Mbit/s where the hypercube over the same library moved 9309.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from firstlight.catalogue import Workload
from firstlight.judge import Finding, Judgement
from firstlight.judge.findings._common import (
    SHOWN,
    clearly,
    command,
    gain,
    grouped,
    mpi_label,
    once,
    shown,
    target,
    verified,
)
from firstlight.judge.verdict import Verified
from firstlight.judge.words import listing, where
from firstlight.plan import Placement
from firstlight.record import Run
from firstlight.units import binary, factor

WORKLOAD, COLLECTIVE, METRIC = "vector_sum", "mpi_allreduce", "time"
WORD = 8  # bytes of an element
LARGE = 262144  # bytes of a vector from which on latency is no excuse
THRESHOLD = 0.15


class Defeat(NamedTuple):
    """The collective against the best that beats it clearly. `own`: over the same library."""

    factor: float
    loser: Verified
    winner: Verified
    own: bool


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    found = []
    for mpi, defeats in grouped(_defeats(judgement), lambda d: d.loser.identity.mpi).items():
        worst = max(defeats, key=lambda d: d.factor)
        chosen = [d for d in defeats if _case(d.loser) == _case(worst.loser)]
        pairs = once(f.identity for d in chosen for f in (d.loser, d.winner))
        by_identity = {f.identity: f for d in chosen for f in (d.loser, d.winner)}
        library = mpi if all(d.own for d in chosen) else None
        found.append(
            Finding(
                rule="poor_collective",
                sentence=f"{mpi_label(judgement.run, mpi)}'s MPI_Allreduce is poor at large messages: "
                + _sentence(judgement.run, chosen),
                evidence=tuple(shown(by_identity[i]) for i in pairs[:SHOWN]),
                command=command(*(target(by_identity[i].identity) for i in pairs), mpi=library),
                weight=65 + min(9.0, math.log(max(d.factor for d in chosen))),
                about=tuple(pairs),
            )
        )
    return found


def _defeats(judgement: Judgement) -> Iterator[Defeat]:
    """At each length, placement and toolchain: by the best route over the same library, by the best other library."""
    sums = [
        f
        for f in verified(judgement)
        if (f.identity.workload, f.identity.metric) == (WORKLOAD, METRIC) and f.identity.mpi and _bytes(f) >= LARGE
    ]
    cases = grouped(sums, _case)
    for figures in cases.values():
        for loser in (f for f in figures if f.identity.variant == COLLECTIVE):
            own = [f for f in figures if f.identity.mpi == loser.identity.mpi and f is not loser]
            others = [f for f in figures if f.identity.mpi != loser.identity.mpi and f.identity.variant == COLLECTIVE]
            for rivals, same in ((own, True), (others, False)):
                winner = min(rivals, key=lambda f: f.estimate.median, default=None)
                if winner is not None and clearly(lead := gain(winner, loser), THRESHOLD):
                    yield Defeat(lead.value, loser, winner, same)


def _case(figure: Verified) -> tuple[str, Placement, tuple[tuple[str, int | float | str], ...]]:
    i = figure.identity
    return i.toolchain, i.placement, i.parameters


def _bytes(figure: Verified) -> float:
    n = dict(figure.identity.parameters).get("n")
    return WORD * n if isinstance(n, int | float) else 0.0


def _sentence(run: Run, chosen: list[Defeat]) -> str:
    """`8 MiB over 2 ranks take 5.0 x as long as by cube over the same library and 1.9 x as long as MPICH's`"""
    loser, parts = chosen[0].loser, []
    for d in chosen:
        route = d.winner.identity.variant.removeprefix("mpi_")
        rival = f"by {route} over the same library" if d.own else f"{mpi_label(run, d.winner.identity.mpi)}'s"
        parts.append(f"{factor(d.factor)} x as long as {rival}")
    return f"{binary(_bytes(loser))} over {where(loser.identity.placement)} take {listing(parts)}"
