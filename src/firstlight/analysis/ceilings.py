"""Ceilings: limits that workloads of the same run measured, and what they allow a figure.

A ceiling is the best launch of the best verified figure over the variants and toolchains of a workload that `provides`
it, for each number of cores (and each working set if that matters). A capacity is a maximum: on a shared machine the
best of many kernels would exceed a ceiling of medians. A step with cost c of a quantity bounded by a ceiling of rate r
lasts at least c / r. With several bounds the longest time binds (the roofline of S. Williams, A. Waterman and
D. Patterson, CACM 52 (2009) 65). If one of the bounds was not measured, there is no ceiling.

If a ceiling depends on the working set, it is that of the data's level of memory: the best measured at any working set
of that level (the roof in the drawing) or at the same working set. Data that a cache may have contained in part set no
roof for the level beyond it.

No verified figure is above its ceiling. A figure that is clearly above is impossible and fails. Slightly above, the
best launch of its own kind (the same work on as much data with as many cores) is a measured capacity and becomes its
ceiling. A ceiling that was disturbed while it was measured refutes nothing: a figure above it is
unverified, unless it is too far above for a disturbance. A figure that provides a ceiling is bounded only by physics:
if it exceeds what any processor reaches, it fails, and provides no ceiling for others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from firstlight.analysis.levels import Hierarchy, nominal
from firstlight.analysis.verdict import DISTURBED, Ceiling, Identity, Limit, Verified
from firstlight.core.units import count, percent, significant
from firstlight.model.catalogue import Bound, Workload
from firstlight.model.plan.selectors import selects
from firstlight.results.description import Metric
from firstlight.system.machine import Machine
from firstlight.system.machine.cores import crowded

NEAR = 2.0  # a limit measured at a working set within this factor speaks for it where levels are not known
CLEAR = 2.0  # so many times what the level before holds: a sweep through the data finds nothing left in it
SAME = 1.05  # working sets within this factor are the same
ABOVE = 1.20
"""An interval wholly above the ceiling's times this factor is impossible; correct kernels differ by up to 1 / 0.84."""
ABOVE_UNSURE = 1.5  # the same for a median, where one of the two has no interval
BEYOND = 20.0
"""A median this many times above a disturbed ceiling fails: no disturbance slows a ceiling that much."""

POSSIBLE = {"bytes": 256 * 8e9, "flops": 128 * 8e9}
"""No core moves or computes as much per second, at 8 GHz: more per cycle than two loads and a store of 64 bytes, and
twice the operations of two units for fused products of 16 numbers of 32 bits."""

Kind = tuple[str, str, int, int, float]  # workload, ceiling, cores, step of the working set, cost


def measured_limits(
    figures: Iterable[Verified],
    metrics: dict[str, tuple[Metric, ...]],
    workloads: dict[str, Workload],
    machine: Machine,
) -> tuple[Limit, ...]:
    """Return the best limit of each ceiling by cores and working set. The keys of `metrics` are "workload.variant"."""
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
        if not p.device and max(_per_second(metric, x) for x in figure.estimate.launches) > _possible(figure, metric):
            continue
        e = figure.estimate
        typical = [_per_second(metric, x) for x in (e.median, e.low or e.median, e.high or e.median)]
        best = max(_per_second(metric, x) for x in e.launches)
        yield Limit(
            name=p.ceiling,
            cores=cores(identity),
            working_set=total(figure) if p.by_working_set else None,
            value=best,
            low=min(typical),
            high=best,
            sure=e.low is not None,
            source=identity,
            diverged=0.0 if p.device else figure.diverged,  # a program that waits for its device is not disturbed
        )


class Impossible(NamedTuple):
    """Why a figure above its ceiling cannot be correct. If `sure`, the figure fails; otherwise it is unverified."""

    reason: str
    sure: bool


class Allowed:
    """What the measured limits of a run allow its figures."""

    def __init__(self, limits: Sequence[Limit], machine: Machine, hierarchy: Hierarchy | None = None) -> None:
        """Store the limits. `hierarchy`: where the caches end; by default as the system reports."""
        self._machine = machine
        self._levels = nominal(machine) if hierarchy is None else hierarchy
        self._own: dict[Kind, Limit] = {}
        self._measured: dict[tuple[str, int], list[Limit]] = {}  # by name and cores, because every figure needs them
        for x in limits:
            self._measured.setdefault((x.name, x.cores), []).append(x)
        self._roofs: dict[tuple[str, int, str], Limit | None] = {}
        self._bounds: dict[int, tuple[Identity, list[Bound]]] = {}

    def ceiling(self, figure: Verified, metric: Metric, workload: Workload) -> Ceiling | None:
        """Return the ceiling; None if the figure is a source, or if a limit of one of its bounds was not measured."""
        found = self._of_figure(figure, workload)
        chosen = [(figure.cost[b.quantity], self._chosen(figure, b)) for b in found]
        ceiling = _ceiling(figure, metric, [(cost, limit) for cost, limit in chosen if limit], len(chosen))
        if ceiling is None or ceiling.source is None or ceiling.working_set is None or any(b.device for b in found):
            return ceiling
        return replace(ceiling, place=self._levels.places(ceiling.working_set, of_node(ceiling.source)))

    def considered(self, figure: Verified, workload: Workload) -> list[tuple[Bound, Limit | None]]:
        """Return every bound of the figure with the limit that applies; None if that limit was not measured."""
        return [(b, self._chosen(figure, b)) for b in self._of_figure(figure, workload)]

    def impossible(self, figure: Verified, metric: Metric, workload: Workload) -> Impossible | None:
        """Return why the figure cannot be correct; None for a possible one.

        One bound suffices: bounds that were not measured could only make a step longer. Near the
        end of a cache the previous level may have served most of the data, and in a better launch all of it.
        A figure is impossible only if it is above the highest limit that may apply.
        """
        if beyond := _beyond_physics(figure, metric, workload, self._machine):
            return Impossible(beyond, sure=True)
        found = self._of_figure(figure, workload)
        chosen = [(figure.cost[b.quantity], _best(self._loose(figure, b))) for b in found]
        measured = [(cost, limit) for cost, limit in chosen if limit]
        quiet = [(cost, limit) for cost, limit in measured if limit.diverged < DISTURBED]
        if reason := _above(figure, _ceiling(figure, metric, quiet)):
            return Impossible(reason, sure=True)
        every = _ceiling(figure, metric, measured)
        reason = _above(figure, every)
        if every is None or not reason:
            return None
        m, c = figure.estimate.median, every.value
        if (m / c if figure.better == "higher" else c / m) > BEYOND:
            return Impossible(reason, sure=True)
        share = max(limit.diverged for _, limit in measured)
        return Impossible(
            f"{reason}; other processes used the processors in {percent(share)} of the samples of that ceiling, so "
            "measure both again on a quiet machine",
            sure=False,
        )

    def raise_ceiling(self, figure: Verified, metric: Metric, workload: Workload) -> None:
        """Use the best launch of a figure as a limit of its kind if it exceeds the measured limit."""
        if figure.ceiling is None:
            return
        best = (max if figure.better == "higher" else min)(figure.estimate.launches)
        seconds = step_seconds(metric, figure, best)
        for bound in self._of_figure(figure, workload):
            limit, typical = self._chosen(figure, bound), step_seconds(metric, figure)
            if limit is None or min(seconds, typical) <= 0:
                continue
            rate, usual = (figure.cost[bound.quantity] / x for x in (seconds, typical))
            if not limit.value < rate < math.inf:
                continue
            size = None if limit.working_set is None else total(figure)
            kind = _kind(figure, bound, _step(size))
            known = self._own.get(kind)
            if known is None or rate > known.value:
                self._own[kind] = replace(
                    limit, working_set=size, value=rate, low=min(usual, rate), high=rate,
                    sure=figure.estimate.low is not None, source=figure.identity, diverged=figure.diverged,
                )  # fmt: skip

    def roof(self, name: str, n: int, place: str) -> Limit | None:
        """Return the best limit of this name that `n` cores reached in a level of memory.

        Data that a faster cache may have contained in part count for the level only if there are no others.
        """
        key = name, n, place
        if key not in self._roofs:
            mine = [
                x
                for x in self._of(name, n)
                if x.working_set and self._levels.may_lie(x.working_set, of_node(x.source)) == place
            ]
            clear = [x for x in mine if (x.working_set or 0.0) >= CLEAR * self._levels.before(place, of_node(x.source))]
            self._roofs[key] = _best(clear or mine)
        return self._roofs[key]

    def _of_figure(self, figure: Verified, workload: Workload) -> list[Bound]:
        """Return the bounds of a figure, cached because they are used four times.

        The key is the identity of the object, because hashing an Identity is as slow as computing the bounds.
        """
        identity, found = self._bounds.get(id(figure.identity), (None, []))
        if identity is not figure.identity:
            found = bounds(figure, workload, self._machine)
            self._bounds[id(figure.identity)] = figure.identity, found
        return found

    def _of(self, name: str, n: int) -> list[Limit]:
        return self._measured.get((name, n), [])

    def _chosen(self, figure: Verified, bound: Bound) -> Limit | None:
        """Return the highest limit that applies: of the memory level, of equal working set, or of the figure's kind."""
        n, size = cores(figure.identity), total(figure)
        some = self._of(bound.ceiling, n)
        fixed = [x for x in some if x.working_set is None]
        if fixed:
            found = fixed
        elif bound.device or not self._levels.levels:  # nothing is known of a device's levels
            near = min((_distance(x.working_set, size) for x in some), default=math.inf)
            found = [x for x in some if _distance(x.working_set, size) == near <= NEAR]
        else:
            place = self._levels.place(size, of_node(figure.identity))
            least = min((x.working_set or 0.0 for x in some), default=0.0)
            roof = self.roof(bound.ceiling, n, place) if NEAR * size >= least else None
            found = [x for x in some if _distance(x.working_set, size) <= SAME] + ([roof] if roof else [])
        if not found:
            return None
        step = _step(None if fixed else size)
        own = [self._own.get(_kind(figure, bound, s)) for s in (step - 1, step, step + 1)]
        return _best([*found, *(x for x in own if x and _distance(x.working_set, size) <= SAME)])

    def _loose(self, figure: Verified, bound: Bound) -> list[Limit]:
        """Return every limit that may apply."""
        chosen = self._chosen(figure, bound)
        if chosen is None:
            return []
        n, size = cores(figure.identity), total(figure)
        found = [x for x in self._of(bound.ceiling, n) if _distance(x.working_set, size) <= NEAR]
        if not bound.device:
            places = {self._levels.may_lie(x, of_node(figure.identity)) for x in (size, size / NEAR)}
            found += [x for place in sorted(places) if (x := self.roof(bound.ceiling, n, place))]
            found += self._mixed(figure, bound)
        return [*found, chosen]

    def _mixed(self, figure: Verified, bound: Bound) -> list[Limit]:
        """Return the limit of the data's own level with the previous level full, the most that a sweep can reuse."""
        n, size, here = cores(figure.identity), total(figure), of_node(figure.identity)
        place = self._levels.may_lie(size, here)
        k = self._levels.names.index(place)
        own = self.roof(bound.ceiling, n, place)
        before = self.roof(bound.ceiling, n, self._levels.names[k - 1]) if k else None
        if own is None or before is None or before.value <= own.value:
            return []
        share = self._levels.before(place, here) / size
        low, value, high = (
            1 / (share / a + (1 - share) / b)
            for a, b in ((before.low, own.low), (before.value, own.value), (before.high, own.high))
        )
        diverged = max(own.diverged, before.diverged)
        return [
            replace(own, value=value, low=low, high=high, sure=own.sure and before.sure, diverged=diverged, mixed=True)
        ]


def _possible(figure: Verified, metric: Metric) -> float:
    """Return a rate of the metric's quantity per second that the figure's cores cannot exceed; infinite if unknown."""
    return POSSIBLE.get(metric.quantity, math.inf) * cores(figure.identity)


def _beyond_physics(figure: Verified, metric: Metric, workload: Workload, machine: Machine) -> str:
    """Return the reason if a figure provides a ceiling of cores and exceeds what any core reaches; "" for others."""
    possible, host = _possible(figure, metric), [p for p in workload.provides if not p.device]
    if figure.observed or not any(
        p.metric == metric.name and selects(figure.identity, p, workload, machine) for p in host
    ):
        return ""
    if _per_second(metric, figure.estimate.median) <= possible:
        return ""
    most = possible * metric.scale if metric.form == "rate" else metric.scale / possible
    return (
        f"faster than any processor: {significant(figure.estimate.median)} {figure.unit}, but "
        f"{count(cores(figure.identity), 'core')} at 8 GHz would reach at most {significant(most)} {figure.unit}"
    )


def bounds(figure: Verified, workload: Workload, machine: Machine) -> list[Bound]:
    """Return the bounds of a figure; none if it is oversubscribed, observed or itself a source."""
    if figure.oversubscribed or figure.observed or provider(figure.identity, workload, machine):
        return []
    some = (b for b in workload.bounded_by if figure.cost.get(b.quantity, 0.0) > 0)
    return [b for b in some if selects(figure.identity, b, workload, machine)]


def provider(identity: Identity, workload: Workload, machine: Machine) -> bool:
    """Return whether a figure is itself the source of a ceiling, and so has none."""
    return any(selects(identity, p, workload, machine) for p in workload.provides)


def more_than_processors(identity: Identity, machine: Machine) -> bool:
    """Return whether ranks and threads had to share the processors of their nodes."""
    return crowded(cores(identity), machine, identity.placement.nodes)


def cores(identity: Identity) -> int:
    return identity.placement.ranks * identity.placement.threads


def of_node(identity: Identity) -> int:
    """Return the number of cores used on the fullest node."""
    return identity.placement.per_node * identity.placement.threads


def total(figure: Verified) -> float:
    """Return the sum of the working sets of all processes on the fullest node."""
    return figure.working_set * figure.identity.placement.per_node


def _metric(identity: Identity, metrics: dict[str, tuple[Metric, ...]]) -> Metric | None:
    known = metrics.get(f"{identity.workload}.{identity.variant}", ())
    return next((m for m in known if m.name == identity.metric), None)


def _per_second(metric: Metric, value: float) -> float:
    """Return the metric's quantity per second."""
    return metric.scale / value if metric.form == "time" else value / metric.scale


def _ceiling(
    figure: Verified, metric: Metric, chosen: Sequence[tuple[float, Limit]], wanted: int = 1
) -> Ceiling | None:
    """Return the metric at the longest of the bounds' times; its ends are at the times of the limits' ends."""
    if not chosen or len(chosen) < wanted:
        return None
    cost, binding = max(chosen, key=lambda c: c[0] / c[1].value)
    ends = [
        in_unit(figure, metric, seconds)
        for seconds in (max(c / limit.low for c, limit in chosen), max(c / limit.high for c, limit in chosen))
    ]
    value = in_unit(figure, metric, cost / binding.value)
    if not all(math.isfinite(x) and x > 0 for x in (value, *ends)):  # a foreign record may declare any work
        return None
    own = binding.source.workload == figure.identity.workload
    sure = all(limit.sure for _, limit in chosen)
    rate = None if binding.mixed else binding.value
    return Ceiling(value, min(ends), max(ends), binding.name, sure, own, "", binding.working_set, binding.source, rate)


def _above(figure: Verified, ceiling: Ceiling | None) -> str:
    """Return the reason if the figure is above this ceiling; "" if it is not."""
    if ceiling is None:
        return ""
    e = figure.estimate
    sure = ceiling.sure and e.low is not None and e.high is not None
    if figure.better == "higher":
        above = e.low > ABOVE * ceiling.high if sure and e.low is not None else e.median > ABOVE_UNSURE * ceiling.value
    else:
        above = e.high < ceiling.low / ABOVE if sure and e.high is not None else e.median < ceiling.value / ABOVE_UNSURE
    if not above:
        return ""
    return (
        f"above its measured ceiling: {significant(e.median)} {figure.unit}, but {ceiling.resource} allows "
        f"{significant(ceiling.value)} {figure.unit}"
    )


def in_unit(figure: Verified, metric: Metric, seconds: float) -> float:
    """Return the metric of a step that lasts `seconds`."""
    work = figure.cost[metric.quantity]
    if seconds == 0:
        return math.nan
    return metric.scale * (seconds / work if metric.form == "time" else work / seconds)


def step_seconds(metric: Metric, figure: Verified, value: float | None = None) -> float:
    """Return the duration of a step in seconds by the metric's median, or by another value of it."""
    x, work = figure.estimate.median if value is None else value, figure.cost[metric.quantity]
    return x * work / metric.scale if metric.form == "time" else metric.scale * work / x


def _kind(figure: Verified, bound: Bound, step: int) -> Kind:
    """Return the kind of a figure: figures of one kind do the same work on as much data with as many cores."""
    i = figure.identity
    return i.workload, bound.ceiling, cores(i), step, figure.cost[bound.quantity]


def _step(size: float | None) -> int:
    """Return the logarithmic step of a working set; working sets of equal or adjacent steps may be the same."""
    return 0 if not size or not math.isfinite(size) else round(math.log(size) / math.log(SAME))


def _distance(a: float | None, b: float) -> float:
    """Return the factor between two working sets; 1 if the limit applies to any working set."""
    if a is None:
        return 1.0
    return max(a / b, b / a) if a > 0 and b > 0 else math.inf


def _best(limits: Iterable[Limit | None]) -> Limit | None:
    return max((x for x in limits if x), key=lambda x: x.value, default=None)
