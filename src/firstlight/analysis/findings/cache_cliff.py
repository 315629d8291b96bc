"""A rate that falls when the working set leaves a cache, at most two falls per workload, on its fastest line.

Only a size makes a working set larger and nothing else: the parameter of `[sizes]` in workload.toml, or the one along
which a `staircase` is drawn. More bits per number also fill a cache, but the same rate cannot be expected of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from firstlight.analysis import Finding, Judgement, provenance
from firstlight.analysis.ceilings import of_node
from firstlight.analysis.findings._common import command, gain, grouped, shown, target, verified
from firstlight.analysis.formatting import value
from firstlight.analysis.levels import Hierarchy, Level
from firstlight.analysis.verdict import Verified
from firstlight.core.units import binary, significant
from firstlight.model.catalogue import Workload, device_variant

FALL = 1.5
SHARP = 8.0  # the working sets before and after lie within this factor of the capacity, or the fall is another's
MOST = 2
_HUGE = 2**63  # no size of anything


class Cliff(NamedTuple):
    """The rate falls by `factor` from `before` to `after`: parameter `axis` passes `edge`, which fills the cache."""

    factor: float
    before: Verified
    after: Verified
    axis: str
    edge: float
    cache: Level
    capacity: float  # of all caches of this level that the line uses


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    found = []
    rates = [f for f in verified(judgement) if f.better == "higher" and f.working_set > 0]
    for name, figures in grouped(rates, lambda f: f.identity.workload).items():
        workload = workloads.get(name)
        if workload is None:
            continue
        on_host = [f for f in figures if not device_variant(workload, f.identity.variant)]
        lines = [line for line in _lines(on_host, sizes(workload)) if len(line[1]) > 1]
        if not lines:
            continue
        axis, points = max(lines, key=lambda line: max(f.estimate.median for f in line[1]))
        cliffs = sorted(_cliffs(axis, points, judgement.hierarchy), key=lambda c: -c.factor)[:MOST]
        found += [_finding(judgement, name, c) for c in cliffs]
    return found


def sizes(workload: Workload) -> list[str]:
    """Return the parameters that a workload declares as sizes of its problem."""
    if workload.sizes is not None:
        return [workload.sizes.parameter]
    return sorted({p.x for p in workload.plots if p.kind == "staircase"})


def _lines(figures: list[Verified], declared: list[str]) -> Iterator[tuple[str, list[Verified]]]:
    """Yield a size's name and figures that differ only in it, by size; their working sets grow with it."""
    for axis in declared:
        groups = grouped(
            (f for f in figures if _on(axis, f)),
            lambda f: (
                target(f.identity),
                f.identity.toolchain,
                f.identity.mpi,
                f.identity.placement,
                f.identity.metric,
                tuple(p for p in f.identity.parameters if p[0] != axis),  # noqa: B023 (used before the next turn)
            ),
        )
        for line in groups.values():
            ordered = sorted(line, key=lambda f: float(dict(f.identity.parameters)[axis]))
            if all(a.working_set < b.working_set for a, b in pairwise(ordered)):
                yield axis, ordered


def _on(axis: str, figure: Verified) -> bool:
    at = dict(figure.identity.parameters).get(axis)
    return at is not None and not isinstance(at, str) and 0 < at < _HUGE


def _cliffs(axis: str, points: list[Verified], levels: Hierarchy) -> Iterator[Cliff]:
    """Yield a cliff for each cache if the rate falls from the best point inside it to the lowest point outside."""
    used = of_node(points[0].identity)
    capacities = [(level.capacity * level.reach(used), level) for level in levels.levels]
    for k, (capacity, cache) in enumerate(capacities):
        top = capacities[k + 1][0] if k + 1 < len(capacities) else math.inf
        inside = [f for f in points if capacity / SHARP <= f.working_set <= capacity]
        outside = [f for f in points if capacity < f.working_set <= min(top, capacity * SHARP)]
        if not inside or not outside:
            continue
        before = max(inside, key=lambda f: f.estimate.median)
        after = min(outside, key=lambda f: f.estimate.median)
        fall = gain(before, after)
        if fall.value >= FALL and (fall.low is None or fall.low > 1):
            at = float(dict(before.identity.parameters)[axis])
            yield Cliff(fall.value, before, after, axis, at * capacity / before.working_set, cache, capacity)


def _finding(judgement: Judgement, workload: str, c: Cliff) -> Finding:
    i = c.before.identity
    first, last = (
        provenance.parameter(value(c.axis, dict(f.identity.parameters)[c.axis]), f, f"a[{c.axis!r}]")
        for f in (c.before, c.after)
    )
    size = provenance.number(binary(c.cache.size), f"cache({c.cache.number})", "B")
    if c.cache.acts is not None:
        size += f", effective {provenance.fitted(binary(c.cache.acts))}"
    edge = provenance.parameter(
        binary(float(f"{c.edge:.2g}"), 2) if c.axis == "bytes" else significant(c.edge, 2),
        c.before,
        f"a[{c.axis!r}] * {c.capacity:.6g} / working_set(a)",
    )
    return Finding(
        rule="cache_cliff",
        sentence=(
            f"{workload} becomes {provenance.times(c.before, c.after)} slower between {c.axis} = {first} and {last}: "
            f"its data exceed the {c.cache.name} cache ({size}) at {c.axis} = {edge}"
        ),
        evidence=(shown(judgement, c.before), shown(judgement, c.after)),
        command=command(target(i), toolchains=[i.toolchain], mpi=i.mpi),
        weight=40 + min(9.0, math.log(c.factor)),
        about=(i, c.after.identity),
    )
