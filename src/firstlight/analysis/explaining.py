"""Explaining one figure: its samples, the shape of its launches, what limits it, and what would narrow its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import NormalDist, fmean
from typing import Literal, NamedTuple

import msgspec

from firstlight.analysis import Judgement, provenance
from firstlight.analysis.ceilings import Allowed, in_unit
from firstlight.analysis.evidence import (
    REPORTED,
    UNDISTURBED,
    Timing,
    launch_value,
    may_be_missing,
    replaced,
    subject_of,
    why_lost,
)
from firstlight.analysis.verdict import Identity, Limit, Verified
from firstlight.core.confidence import LAUNCHES
from firstlight.core.units import count, percent
from firstlight.model.catalogue import Workload
from firstlight.results.description import Metric
from firstlight.results.record import LaunchRecord

Shape = Literal["one state", "two states", "drifting", "too few launches"]
DRIFTING = 0.01  # one-sided: so seldom do launches in a random order look like a drift
FEWEST_TO_DRIFT = 10
DISTURBING = 0.05  # of its samples


class Launched(NamedTuple):
    """One launch: its start, the metric of each sample, which samples were disturbed, and its record."""

    time: float
    values: tuple[float, ...]
    diverged: tuple[bool, ...]
    record: LaunchRecord


class Considered(msgspec.Struct, frozen=True):
    """The value that a bound allows, in the figure's unit (None: the resource was not measured). `binds`: this bound is
    the lowest.

    `cost`: the use of the resource per step. `limit`: the measured limit and its source.
    """

    resource: str
    quantity: str
    cost: float
    limit: Limit | None
    value: float | None
    binds: bool


class Counted(msgspec.Struct, frozen=True):
    """Hardware counters per step, means over launches; None if the kernel provides no such counter."""

    instructions: float | None
    cycles: float | None
    flops: float | None


def metric_of(judgement: Judgement, identity: Identity) -> Metric:
    """Return the metric of a figure that the run judged."""
    described = judgement.run.descriptions[f"{identity.workload}.{identity.variant}"]
    return next(m for m in described.metrics if m.name == identity.metric)


def launches(judgement: Judgement, figure: Verified) -> list[Launched]:
    """Return every launch of the figure with all its samples, in the order of time."""
    cells = {cell.id: cell for cell in judgement.run.cells}
    metric, old = metric_of(judgement, figure.identity), replaced(judgement.records)
    found = []
    for record in judgement.records:
        cell = cells.get(record.start.cell)
        if cell is None or why_lost(cell, record) or (record.start.preview and cell.id in old):
            continue
        for case in record.cases:
            program, placement, parameters = subject_of(cell, case)
            i = figure.identity
            mine = (i.workload, i.variant, i.toolchain, i.mpi) == (
                program.workload, program.variant, program.toolchain, program.mpi,
            )  # fmt: skip
            if not mine or (placement, parameters) != (i.placement, i.parameters):
                continue
            samples = [s for s in record.samples if s.case == case.case]
            if may_be_missing(judgement.run, i.workload, metric):
                samples = [s for s in samples if metric.quantity in s.values]
            if not samples:
                continue
            values = (
                Timing(record.start.time, s.wall, case.steps, case.cost, {k: v[2] for k, v in s.values.items()})
                for s in samples
            )
            measured = tuple(launch_value(metric, timing) for timing in values)
            found.append(
                Launched(record.start.time, measured, tuple(not s.cpu >= UNDISTURBED for s in samples), record)
            )
    return sorted(found, key=lambda x: x.time)


def shape(figure: Verified) -> Shape:
    """Classify the launches: one state, two states, drifting (neighbours in time are more alike), or too few.

    Drift is detected by ranks: von Neumann's ratio (R. Bartels, J. Am. Stat. Assoc. 77 (1982) 40).
    """
    values = figure.estimate.launches
    if figure.states is not None:
        return "two states"
    if len(values) < LAUNCHES:
        return "too few launches"
    return "drifting" if drifting(values) else "one state"


def drifting(values: Sequence[float]) -> bool:
    """Return whether values in the order of time drift, by Bartels' test; False if too few or all are equal."""
    n = len(values)
    if n < FEWEST_TO_DRIFT or min(values) == max(values):
        return False
    ordered = sorted(values)
    first = {v: k for k, v in reversed(list(enumerate(ordered)))}
    last = {v: k for k, v in enumerate(ordered)}
    ranks = [(first[v] + last[v]) / 2 for v in values]
    mean = fmean(ranks)
    ratio = sum((b - a) ** 2 for a, b in pairwise(ranks)) / sum((r - mean) ** 2 for r in ranks)
    deviation = math.sqrt(4 * (n - 2) * (5 * n * n - 2 * n - 9) / (5 * n * (n + 1) * (n - 1) ** 2))
    return NormalDist(2, deviation).cdf(ratio) < DRIFTING


def considered(judgement: Judgement, figure: Verified, workloads: Mapping[str, Workload]) -> list[Considered]:
    """Return every bound that the workload declares for the figure, with the one that binds first."""
    workload = workloads.get(figure.identity.workload)
    metric = metric_of(judgement, figure.identity)
    if workload is None or figure.observed or metric.form == REPORTED:
        return []
    allowed = Allowed(judgement.limits, judgement.run.machine, judgement.hierarchy)
    found = []
    for bound, limit in allowed.considered(figure, workload):
        cost = figure.cost[bound.quantity]
        value = in_unit(figure, metric, cost / limit.value) if limit is not None else None
        found.append(Considered(bound.ceiling, bound.quantity, cost, limit, value, False))
    known = [c for c in found if c.limit is not None]
    if not known or len(known) < len(found):
        return found
    longest = max(known, key=lambda c: c.cost / c.limit.value if c.limit else 0.0)
    rest = [c for c in found if c is not longest]
    return [msgspec.structs.replace(longest, binds=True), *rest]


def limited(figure: Verified, some: Sequence[Considered]) -> str:
    """Return what limits the figure and why, in a sentence."""
    if figure.oversubscribed:
        return "no limit is shown: ranks or threads shared processors"
    if figure.observed:
        return "no ceiling: the program observes this value"
    missing = [c.resource for c in some if c.limit is None]
    if missing:
        return (
            f"no ceiling: {', '.join(missing)} was not measured in this run for the same number of cores and the "
            f"same data size"
        )
    if not some or figure.ceiling is None:
        return "no ceiling: this figure is itself a ceiling, or its workload declares none"
    first = some[0]
    share = provenance.share(figure)
    text = (
        f"{first.resource} limits this figure: each step uses this resource longer than any other measured resource; "
        f"the figure reaches {share} of the ceiling"
    )
    if figure.ceiling.own:
        text = (
            f"{first.resource} would limit this figure, but the best launch of the same kind exceeded the measured "
            f"ceiling; the figure reaches {share} of that launch"
        )
    return text


def counted(some: Sequence[Launched], figure: Verified) -> Counted | str:
    """Return the hardware counters per step, or why there are none."""
    sums: dict[str, list[float]] = {name: [] for name in Counted.__struct_fields__}
    for launch in some:
        cases = [
            c.case for c in launch.record.cases if tuple(sorted(c.parameters.items())) == figure.identity.parameters
        ]
        for line in launch.record.counters:
            if line.case in cases and line.steps > 0:
                for name, values in sums.items():
                    value = getattr(line, name)
                    if value is not None:
                        values.append(value / line.steps)
    if any(sums.values()):
        return Counted(**{name: fmean(values) if values else None for name, values in sums.items()})
    reason = next((x.record.launch.counters for x in some if x.record.launch is not None), "")
    return f"not available: {reason or 'the program reported no counters'}"


def narrowing(judgement: Judgement, figure: Verified) -> list[str]:
    """Return hints on how to narrow the interval, the most useful first."""
    e, wanted, hints = figure.estimate, judgement.run.precision, []
    n = len(e.launches)
    if figure.states is not None:
        hints.append(
            "the figure is bimodal: more launches show how often each group occurs; a fixed placement "
            "(--placement, binding, huge pages) may remove one of the groups"
        )
    elif drifting(e.launches):
        hints.append(
            "something outside the program slowed some launches: a quiet machine and a fixed clock help more than "
            "further launches"
        )
    if figure.diverged >= DISTURBING:
        hints.append(
            f"other processes used the processor in {percent(figure.diverged)} of the samples: measure on a "
            f"quiet machine"
        )
    if e.low is None or e.high is None:
        hints.append(f"{count(LAUNCHES - n, 'more launch', 'more launches')}: an interval requires {LAUNCHES}")
    elif e.median > 0:
        half = (e.high - e.low) / 2 / e.median
        if half <= wanted:
            hints.append(
                f"no more launches are needed: ± {percent(half)} is within the ± {percent(wanted)} that the run "
                f"requested"
            )
        elif figure.states is None:
            needed = math.ceil(n * (half / wanted) ** 2)
            hints.append(
                f"± {percent(wanted)} requires about {needed} launches: {n} launches reached ± {percent(half)}, and "
                f"the interval narrows with the square root of the number of launches"
            )
    return hints
