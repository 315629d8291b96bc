"""Node: extract what a run measured of one node: rates by cores and working set, and samples of applications."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

import msgspec

from firstlight.analysis import Judgement
from firstlight.analysis.ceilings import cores, step_seconds
from firstlight.analysis.roles import RoleFigure, played, players
from firstlight.analysis.verdict import Limit
from firstlight.core import formulas
from firstlight.core.roles import APPLICATION, Model
from firstlight.model.catalogue import Workload


class Rates(NamedTuple):
    """Ceilings of the node that the run measured. `times`: the factors by which another node is faster (`flops`,
    `bytes`).
    """

    limits: Sequence[Limit]
    times: Mapping[str, float] = {}

    def rate(self, ceiling: str, n: int, size: float) -> float | None:
        """Return the rate per second of n cores on `size` bytes in total; None if the run measured none.

        Between measured numbers of cores it interpolates, beyond them it scales; each core has its part of the bytes.
        """
        some = {x.cores for x in self.limits if x.name == ceiling}
        by = {k: value for k in some if (value := self._at(ceiling, k, size * k / n))}
        if not by:
            return None
        below = max((k for k in by if k <= n), default=None)
        above = min((k for k in by if k >= n), default=None)
        if below is None or above is None:
            near = below or above
            assert near is not None
            return by[near] * n / near
        share = 0.0 if below == above else (n - below) / (above - below)
        return by[below] + share * (by[above] - by[below])

    def _at(self, ceiling: str, n: int, size: float) -> float:
        """Return the rate of n cores on `size` bytes, 0 if not measured: a power law through the nearest two sizes.

        The best rate of a memory level is not used: data slightly larger than a cache are half in it, and the cache
        size that the system reports may be many times what a virtual machine can use.
        """
        best: dict[float, float] = {}
        for x in self.limits:
            if x.name == ceiling and x.cores == n and x.value > 0:
                at = max(x.working_set or 1.0, 1.0)
                best[at] = max(x.value, best.get(at, 0.0))
        below = max((at for at in best if at <= size), default=None)
        above = min((at for at in best if at >= size), default=None)
        if below is None or above is None or below == above:
            near = below or above
            return best[near] if near else 0.0
        share = math.log(size / below) / math.log(above / below)
        return float(best[below] ** (1 - share) * best[above] ** share)

    def ideal(self, model: Model, numbers: Mapping[str, float], n: int, nodes: float = 1) -> float:
        """Return the seconds of n cores per node at the ceilings of arithmetic and memory; 0 if none is known."""
        size = formulas.value(model.memory, numbers) / nodes
        taken = 0.0
        for what, text, ceiling in (("flops", model.flops, model.flops_of), ("bytes", model.bytes, model.bytes_of)):
            work, rate = formulas.value(text, numbers) / nodes, self.rate(ceiling, n, size)
            if work > 0 and rate:
                taken = max(taken, work / rate / self.times.get(what, 1.0))
        return taken


class Sample(msgspec.Struct, frozen=True):
    """An application as it was measured: seconds a step by launch, and what its formulas know of it."""

    workload: str
    variant: str
    toolchain: str
    mpi: str | None
    title: str
    ranks: int
    threads: int
    elements: float
    parameters: dict[str, float]
    launches: tuple[float, ...]
    seconds: float  # the median
    memory: float  # of the whole problem

    @property
    def cores(self) -> int:
        return self.ranks * self.threads


class Application(NamedTuple):
    """A workload's declaration and its samples, sorted by the numbers of cores and elements."""

    workload: Workload
    model: Model
    samples: Sequence[Sample]

    def numbers(self, sample: Sample, elements: float, processes: float) -> dict[str, float]:
        return self.model.numbers(sample.parameters, elements, processes)


def rates(judgement: Judgement) -> Rates:
    return Rates(judgement.limits)


def applications(judgement: Judgement, workloads: Mapping[str, Workload]) -> list[Application]:
    """Return the applications that the run measured on one node, in the order of names."""
    found = []
    for player in players(workloads, APPLICATION):
        assert player.role.model is not None
        some = played(judgement.figures, [player], judgement.run.machine)
        samples = sorted(
            (s for p in some if (s := _sample(judgement, p, player.role.model))),
            key=lambda s: (s.cores, s.elements, s.seconds),
        )
        if samples:
            found.append(Application(player.workload, player.role.model, samples))
    return found


def _sample(judgement: Judgement, p: RoleFigure, model: Model) -> Sample | None:
    """Return the sample; None if the time of a step is unknown, and for a figure of several nodes."""
    launches = _launches(judgement, p)
    i = p.identity
    if not launches or i.placement.nodes != 1:
        return None
    numbers = {name: float(value) for name, value in i.parameters if isinstance(value, int | float)}
    numbers |= {f"cost_{name}": value for name, value in p.figure.cost.items()}
    numbers["cost_working_set"] = p.figure.working_set  # of one process
    elements = formulas.value(model.elements, numbers)  # raises where a declaration does not fit its programs
    numbers |= {"E0": elements, "P0": float(i.placement.ranks)}
    return Sample(
        workload=i.workload,
        variant=i.variant,
        toolchain=i.toolchain,
        mpi=i.mpi,
        title=model.title,
        ranks=i.placement.ranks,
        threads=i.placement.threads,
        elements=elements,
        parameters=numbers,
        launches=tuple(launches),
        seconds=float(median(launches)),
        memory=formulas.value(model.memory, model.numbers(numbers, elements, cores(i))),
    )


def _launches(judgement: Judgement, p: RoleFigure) -> list[float]:
    """Return the seconds of a step by launch: as observed, or computed from the work of the metric."""
    figure = p.figure
    if figure.observed:
        return [s for s in p.launches() if s > 0]
    metric = judgement.run.metric(p.program, p.identity.metric)
    if metric is None or not figure.cost.get(metric.quantity):
        return []
    return [step_seconds(metric, figure, x) for x in figure.estimate.launches if x > 0]
