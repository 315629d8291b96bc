"""A node on which all processors are slower than all but one: the system needs one for itself (R3: 3 of 4 beat 4).

Two comparisons: the rate of a whole job on one processor less per node; and the same work with as many ranks
that have fewer threads each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from firstlight.analysis import Finding, Judgement, provenance
from firstlight.analysis.ceilings import cores
from firstlight.analysis.findings._common import (
    SHOWN,
    clearly,
    gain,
    grouped,
    shown,
    target,
    verified,
    without_defaults,
)
from firstlight.analysis.formatting import values, where
from firstlight.analysis.roles import measuring
from firstlight.analysis.verdict import Verified
from firstlight.core.roles import OS_NOISE
from firstlight.model.catalogue import Workload
from firstlight.results.description import Metric

THRESHOLD = 0.05
FEWEST = 3  # processors of a node: with two, all but one is not a parallel program
LEAST_STEP = 1e-4  # seconds: a shorter step of a whole job is ruled by starting its threads


class Loss(NamedTuple):
    """The factor by which `spare`, which leaves a processor of each node free, is better than `full`."""

    factor: float
    spare: Verified
    full: Verified


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    n = judgement.run.machine.cores
    if n < FEWEST:
        return []
    losses = sorted(_losses(judgement, n), key=lambda loss: -loss.factor)
    found = []
    for what, some in grouped(losses, lambda loss: target(loss.full.identity)).items():
        worst = some[0]
        i, left = worst.full.identity, worst.spare.identity
        at = values(without_defaults(judgement, i).parameters)
        case = f", {at}" if at else ""
        found.append(
            Finding(
                rule="all_processors_lose",
                sentence=(
                    f"all {n} cores of a node are slower than {busy(worst.spare)}: {what}{case} is "
                    f"{provenance.times(worst.spare, worst.full)} better with {where(left.placement)} than with "
                    f"{where(i.placement)}; leave one core to the system"
                ),
                evidence=tuple(shown(judgement, f) for loss in some[: SHOWN // 2] for f in (loss.spare, loss.full)),
                command=measuring(workloads, [OS_NOISE], mpi=i.mpi, beside=[what]),
                weight=55,
                about=tuple(f.identity for loss in some[:SHOWN] for f in (loss.full, loss.spare)),
            )
        )
    return found


def _losses(judgement: Judgement, n: int) -> Iterator[Loss]:
    """Yield pairs of the same program and case on all processors of each node and on fewer, if fewer are better."""
    cases = grouped(
        verified(judgement),
        lambda f: (
            target(f.identity),
            f.identity.toolchain,
            f.identity.mpi,
            f.identity.placement.nodes,
            f.identity.parameters,
            f.identity.metric,
        ),
    )
    for figures in cases.values():
        nodes = figures[0].identity.placement.nodes
        metric = judgement.run.metric(target(figures[0].identity), figures[0].identity.metric)
        if metric is None:
            continue
        for full in (f for f in figures if cores(f.identity) == nodes * n):
            for spare in _sparing(metric, full, figures, n):
                found = gain(spare, full)
                if clearly(found, THRESHOLD):
                    yield Loss(found.value, spare, full)


def busy(figure: Verified) -> int:
    """Return the number of processors of each node with a thread on them."""
    return cores(figure.identity) // figure.identity.placement.nodes


def _sparing(metric: Metric, full: Verified, figures: list[Verified], n: int) -> Iterator[Verified]:
    """Yield the figures of the same case that leave processors free and whose better value is a real gain."""
    fewer = [f for f in figures if busy(f) < n]
    here = full.identity.placement
    if metric.form == "rate" and metric.quantity in ("flops", "bytes"):
        one_less = [f for f in fewer if busy(f) == n - 1]
        yield from (f for f in one_less if min(_step(metric, f), _step(metric, full)) >= LEAST_STEP)
    elif here.ranks > 1 and here.threads > 1:
        # With one thread a rank no thread waits at the end of a parallel region: that is another program.
        alike = [f for f in fewer if f.identity.placement.ranks == here.ranks and f.cost == full.cost]
        threaded = [f for f in alike if f.identity.placement.threads > 1]
        yield from sorted(threaded, key=busy)[-1:]


def _step(metric: Metric, figure: Verified) -> float:
    """Return the seconds per step of a figure that is a rate."""
    return metric.scale * figure.cost.get(metric.quantity, 0.0) / figure.estimate.median
