"""Ceilings: limits that workloads of the same run measured, and what they allow a figure.

A workload that `provides` a ceiling gives, for each number of cores (and each working set where that matters), the best
launch of the best verified figure over its variants and toolchains: a capacity is a maximum, and medians of a machine
that is not alone would put the best of many kernels above it. A step that moves cost c of a quantity bounded by a
ceiling of rate r takes at least c / r; with several bounds the longest time binds (the roofline of S. Williams,
A. Waterman and D. Patterson, CACM 52 (2009) 65).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from firstlight.catalogue import Bound, Workload
from firstlight.judge.select import selects
from firstlight.judge.verdict import Ceiling, Identity, Limit, Verified
from firstlight.machine import Machine
from firstlight.record import Metric
from firstlight.units import significant

NEAR = 2.0  # a limit measured at a working set within this factor may be used
ABOVE = 1.10  # an interval wholly above this many times the ceiling's is impossible
ABOVE_UNSURE = 1.5  # the same for a median, where one of the two has no interval

Choose = Callable[[Sequence[Limit], float], Limit]


def measured_limits(
    figures: Iterable[Verified],
    metrics: dict[str, tuple[Metric, ...]],
    workloads: dict[str, Workload],
    machine: Machine,
) -> tuple[Limit, ...]:
    """The best of each ceiling by cores and working set. `metrics` by "workload.variant"."""
    best: dict[tuple[str, int, float | None], Limit] = {}
    for figure in figures:
        if figure.oversubscribed:
            continue
        for limit in _provided(figure, metrics, workloads, machine):
            key = (limit.name, limit.cores, limit.working_set)
            if key not in best or limit.value > best[key].value:
                best[key] = limit
    return tuple(sorted(best.values(), key=lambda x: (x.name, x.cores, x.working_set or 0.0)))


def _provided(
    figure: Verified, metrics: dict[str, tuple[Metric, ...]], workloads: dict[str, Workload], machine: Machine
) -> Iterable[Limit]:
    identity = figure.identity
    workload = workloads.get(identity.workload)
    metric = _metric(identity, metrics)
    if workload is None or metric is None or figure.observed:
        return
    for p in workload.provides:
        if p.metric != identity.metric or not selects(identity, p, workload, machine):
            continue
        e = figure.estimate
        typical = [_per_second(metric, x) for x in (e.median, e.low or e.median, e.high or e.median)]
        best = max(_per_second(metric, x) for x in e.launches)
        yield Limit(
            name=p.ceiling,
            cores=cores(identity),
            working_set=figure.working_set if p.by_working_set else None,
            value=best,
            low=min(typical),
            high=best,
            sure=e.low is not None,
            source=identity,
        )


def provider(identity: Identity, workload: Workload, machine: Machine) -> bool:
    """True for a figure that is itself the source of a ceiling, and so has none."""
    return any(selects(identity, p, workload, machine) for p in workload.provides)


def ceiling(
    figure: Verified, metric: Metric, workload: Workload, limits: Sequence[Limit], machine: Machine
) -> Ceiling | None:
    """What the measured limits allow this figure: None without a bound whose limit was measured near enough."""
    if figure.oversubscribed or figure.observed or provider(figure.identity, workload, machine):
        return None
    return _ceiling(figure, metric, _bounds(figure, workload, machine), limits, _nearest)


def impossible(figure: Verified, metric: Metric, workload: Workload, limits: Sequence[Limit], machine: Machine) -> str:
    """The sentence for a figure above its ceiling; "" for a possible one.

    Near the edge of a cache a limit measured at a slightly smaller working set may be several times higher, and either
    may apply: only a figure above the highest of those within a factor of two is impossible.
    """
    if figure.ceiling is None:
        return ""
    loose = _ceiling(figure, metric, _bounds(figure, workload, machine), limits, _highest)
    if loose is None:
        return ""
    e = figure.estimate
    sure = loose.sure and e.low is not None and e.high is not None
    if figure.better == "higher":
        above = e.low > ABOVE * loose.high if sure and e.low is not None else e.median > ABOVE_UNSURE * loose.value
    else:
        above = e.high < loose.low / ABOVE if sure and e.high is not None else e.median < loose.value / ABOVE_UNSURE
    if not above:
        return ""
    return (
        f"above its measured ceiling: {significant(e.median)} {figure.unit}, but {loose.resource} allows "
        f"{significant(loose.value)} {figure.unit}"
    )


def more_than_processors(identity: Identity, machine: Machine) -> bool:
    """Whether ranks and threads had to share the processors of their nodes."""
    return cores(identity) > identity.placement.nodes * len(machine.cpus)


def cores(identity: Identity) -> int:
    return identity.placement.ranks * identity.placement.threads


def _metric(identity: Identity, metrics: dict[str, tuple[Metric, ...]]) -> Metric | None:
    known = metrics.get(f"{identity.workload}.{identity.variant}", ())
    return next((m for m in known if m.name == identity.metric), None)


def _per_second(metric: Metric, value: float) -> float:
    """The metric's quantity a second."""
    return metric.scale / value if metric.form == "time" else value / metric.scale


def _bounds(figure: Verified, workload: Workload, machine: Machine) -> list[Bound]:
    return [
        b
        for b in workload.bounded_by
        if figure.cost.get(b.quantity, 0.0) > 0 and selects(figure.identity, b, workload, machine)
    ]


def _ceiling(
    figure: Verified, metric: Metric, bounds: Iterable[Bound], limits: Sequence[Limit], choose: Choose
) -> Ceiling | None:
    """The metric at the longest of the bounds' times; its ends at the times of the limits' ends."""
    chosen: list[tuple[float, Limit]] = []
    for bound in bounds:
        near = _near(bound.ceiling, cores(figure.identity), figure.working_set, limits)
        if near:
            chosen.append((figure.cost[bound.quantity], choose(near, figure.working_set)))
    if not chosen:
        return None
    cost, binding = max(chosen, key=lambda c: c[0] / c[1].value)
    ends = [
        _at(figure, metric, seconds)
        for seconds in (max(c / limit.low for c, limit in chosen), max(c / limit.high for c, limit in chosen))
    ]
    value = _at(figure, metric, cost / binding.value)
    if not all(math.isfinite(x) and x > 0 for x in (value, *ends)):  # a foreign record may declare any work
        return None
    return Ceiling(value, min(ends), max(ends), binding.name, all(limit.sure for _, limit in chosen))


def _at(figure: Verified, metric: Metric, seconds: float) -> float:
    """The metric of a step that takes so many seconds."""
    work = figure.cost[metric.quantity]
    if seconds == 0:
        return math.nan
    return metric.scale * (seconds / work if metric.form == "time" else work / seconds)


def _near(name: str, n: int, working_set: float, limits: Sequence[Limit]) -> list[Limit]:
    return [
        limit
        for limit in limits
        if limit.name == name
        and limit.cores == n
        and (limit.working_set is None or _distance(limit.working_set, working_set) <= NEAR)
    ]


def _distance(a: float, b: float) -> float:
    return max(a / b, b / a) if a > 0 and b > 0 else float("inf")


def _nearest(limits: Sequence[Limit], working_set: float) -> Limit:
    """The limit of the nearest working set; of two as near, the higher."""
    return min(
        limits,
        key=lambda x: (1.0 if x.working_set is None else _distance(x.working_set, working_set), -x.value),
    )


def _highest(limits: Sequence[Limit], working_set: float) -> Limit:
    return max(limits, key=lambda x: x.value)
