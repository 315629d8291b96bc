"""Model the time of a global sum by its route, from messages and additions measured in the same run.

A sum has m bytes on p processes, with d = log2 p. A message lasts alpha + beta m seconds (R. Hockney, Parallel
Computing 20 (1994) 389), an addition gamma seconds per byte of doubles. The hypercube lasts d (alpha + m beta +
m gamma), R. Rabenseifner's reduce-scatter and allgather (ICCS 2004, LNCS 3036) 2 d alpha + 2 (p-1)/p m beta +
(p-1)/p m gamma.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from firstlight.analysis import Judgement, hockney
from firstlight.analysis.hockney import Regime
from firstlight.analysis.roles import RoleFigure, advice, played, players
from firstlight.core.roles import PLAIN_MESSAGE, VECTOR_ADDITION
from firstlight.core.units import convert
from firstlight.model.catalogue import Workload
from firstlight.model.plan import Placement
from firstlight.report import wording

TRAFFIC = 3  # bytes that an addition c = a + b moves for each byte of its result
NEAR = math.log(4)  # working sets within this factor lie in the same cache, more or less


class Addition(NamedTuple):
    """`gamma`: seconds per byte of the result, if each of `cores` cores works on `working_set` bytes."""

    working_set: float
    gamma: float
    cores: int


class Link(NamedTuple):
    """The data of one MPI library on one placement that a model needs. `operation`: the name of the additions."""

    regimes: tuple[Regime, ...]
    additions: tuple[Addition, ...]
    operation: str

    def message(self, size: float) -> float:
        """Return the seconds of a message of `size` bytes, in the regime of its size."""
        if len(self.regimes) > 1 and size > math.sqrt(self.regimes[0].high * self.regimes[1].low):
            return self.regimes[1].time(size)
        return self.regimes[0].time(size)

    def gamma(self, vector: float) -> float:
        """Return the seconds per byte of an addition in a sum of `vector` bytes, from the nearest working set.

        Among those that are near enough, use the one with the most cores: all processes of a node add simultaneously.
        """

        def preference(a: Addition) -> tuple[float, int, float]:
            apart = abs(math.log(a.working_set / (TRAFFIC * vector)))
            return apart if apart > NEAR else 0.0, -a.cores, apart

        return min(self.additions, key=preference).gamma


Route = Callable[[Link, int, float], float | None]


def cube(link: Link, p: int, m: float) -> float | None:
    """Return the seconds of the hypercube, None if p is not a power of two."""
    d = p.bit_length() - 1
    return d * (link.message(m) + m * link.gamma(m)) if p == 1 << d else None


def rabenseifner(link: Link, p: int, m: float) -> float | None:
    """Return seconds of halving and doubling; processes beyond a power of two send m bytes first and receive m last."""
    d = p.bit_length() - 1
    time: float = sum(2 * link.message(m / 2**k) + m / 2**k * link.gamma(m) for k in range(1, d + 1))
    return time + (2 * link.message(m) + m * link.gamma(m) if p > 1 << d else 0.0)


def link(judgement: Judgement, workloads: Mapping[str, Workload], mpi: str, placement: Placement) -> Link | str:
    """Return the link of an MPI library between processes in that placement, or the reason why there is none."""
    some = played(judgement.figures, players(workloads, PLAIN_MESSAGE), judgement.run.machine)
    fits = _messages([p for p in some if p.identity.mpi == mpi], placement)
    if not fits:
        name = wording.mpi_name(judgement.run, mpi)
        hint = advice(workloads, [PLAIN_MESSAGE], mpi=mpi)
        return f"this run has no ping-pong of {name} in three sizes or more; {hint}"
    additions = list(played(judgement.figures, players(workloads, VECTOR_ADDITION), judgement.run.machine))
    for place in sorted({p.place[0] for p in additions}):
        alike = [p for p in additions if p.place[0] == place]
        cores = dict.fromkeys((placement.per_node, 1))
        if found := [a for n in cores for a in _additions(alike, n)]:
            what = " ".join(map(str, alike[0].role.where.values()))
            return Link(tuple(fits), tuple(found), f"{alike[0].identity.workload}'s {what}")
    return f"this run measured no addition; {advice(workloads, [VECTOR_ADDITION])}"


def _messages(some: Iterable[RoleFigure], placement: Placement) -> list[Regime]:
    """Return Hockney's fit of the plain messages, within a node or between nodes, as in the placement."""
    times: dict[float, float] = {}
    for p in some:
        size, seconds, place = p.size, p.seconds(), p.identity.placement
        if place.ranks == 2 and (place.nodes > 1) == (placement.nodes > 1) and seconds and size is not None:
            times[size] = min(seconds, times.get(size, math.inf))
    return hockney.regimes(sorted(times.items()))


def _additions(some: Iterable[RoleFigure], cores: int) -> list[Addition]:
    """Return the best addition of each working set, for one of `cores` cores that add simultaneously."""
    found: dict[float, float] = {}
    for p in some:
        rate = convert(p.figure.estimate.median, p.figure.unit, "B/s")
        if p.identity.placement.threads == cores and rate and p.figure.working_set > 0:
            each = p.figure.working_set / cores
            found[each] = min(TRAFFIC * cores / rate, found.get(each, math.inf))
    return [Addition(size, gamma, cores) for size, gamma in sorted(found.items())]
