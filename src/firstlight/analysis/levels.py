"""Levels of the memory: each cache's effective capacity for one core in this run, by a staircase of accesses.

The system reports the sizes that the processor was made with. Neighbours on the same processor and a hypervisor that
allots shares of a cache leave less, so a cache's end is derived from the staircase itself. In a random chase through S
bytes a cache of C bytes can serve at most the share C / S, whatever it replaces. So at a point whose wait is the
share f of the way from its level's plateau to the next one, S (1 - f) bytes were served. A point that waits notably
longer than the plateau did not fit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec

from firstlight.analysis.roles import played, players
from firstlight.analysis.verdict import Figure
from firstlight.core.roles import MEMORY_ACCESS
from firstlight.core.units import binary
from firstlight.model.catalogue import Workload
from firstlight.system.machine import Machine, cores

MEMORY = "memory"
RISE = 1.3  # the next level waits at least so many times as long, or the two cannot be distinguished
OUTSIDE = 0.15  # of the way to the next plateau: beyond it the data did not fit
UNSURE = 0.5  # of the way: beyond it the bytes that were served cannot be separated from noise
ALMOST = 0.5  # the same where the data nearly fill the cache: pages that collide in it cost a part of it
LESS = 1.25  # data fill a cache nearly from size / LESS on
CLEAR = 2.0  # a plateau is looked for so far from the ends of its level


class Step(NamedTuple):
    """One point of a staircase: the time of an access, in any unit, with so many bytes in use."""

    bytes: float
    time: float


class Level(msgspec.Struct, frozen=True):
    """One level of caches. `size`: of each, as the system reports; `acts`: the effective capacity for one core in
    this run, where that is less; None where it is all of it or was not measured.
    """

    number: int
    size: int
    caches: int = 1
    cores: int = 1  # behind each of them
    acts: float | None = None

    @property
    def name(self) -> str:
        return f"L{self.number}"

    @property
    def nominal(self) -> str:
        """Return `L3 32 MiB`."""
        return f"{self.name} {binary(self.size)}"

    @property
    def label(self) -> str:
        """Return `L3 32 MiB, effective 12.6 MiB`: both sizes if they differ."""
        return self.nominal + ("" if self.acts is None else f", effective {binary(self.acts)}")

    @property
    def capacity(self) -> float:
        return self.size if self.acts is None else self.acts

    def reach(self, cores: int) -> int:
        """Return how many caches of this level `cores` cores fill at least."""
        return min(self.caches, -(-max(cores, 1) // self.cores))


class Hierarchy(msgspec.Struct, frozen=True):
    """The caches of a machine by level, the smallest first. `measured`: whether their ends were looked for."""

    levels: tuple[Level, ...] = ()
    measured: bool = False

    @property
    def names(self) -> list[str]:
        """Return the names of the machine's levels: L1, L2, ..., memory."""
        return [level.name for level in self.levels] + [MEMORY]

    def place(self, working_set: float, cores: int = 1) -> str:
        """Return the level that contains that many bytes if `cores` cores share them, each with an equal part."""
        return next((x.name for x in self.levels if working_set <= x.capacity * x.reach(cores)), MEMORY)

    def may_lie(self, working_set: float, cores: int = 1) -> str:
        """Return the fastest level that may have contained that many bytes in the best of launches."""
        return next((x.name for x in self.levels if working_set <= x.size * x.reach(cores)), MEMORY)

    def places(self, working_set: float, cores: int) -> str:
        """Return `L2`, or `L3 or memory` where a shared cache may have contained only a part; "" without levels."""
        if not self.levels:
            return ""
        return " or ".join(dict.fromkeys((self.may_lie(working_set, cores), self.place(working_set, cores))))

    def before(self, name: str, cores: int = 1) -> float:
        """Return the most bytes that `cores` cores can store in the level before that one."""
        k = self.names.index(name)
        return self.levels[k - 1].size * self.levels[k - 1].reach(cores) if k else 0.0


def nominal(machine: Machine) -> Hierarchy:
    """Return the caches as the system reports them."""
    found: dict[int, list[int]] = {}
    core = cores.of_core(machine)
    for cache in machine.caches:
        found.setdefault(cache.level, []).append(len({core[cpu] for cpu in cache.shared_by if cpu in core}))
    levels = []
    for number, shared in sorted(found.items()):
        first = machine.cache(number)
        if first is not None:
            levels.append(Level(number, first.size, len(shared), max(1, *shared)))
    return Hierarchy(tuple(levels))


def observed(figures: Iterable[Figure], workloads: Mapping[str, Workload], machine: Machine) -> Hierarchy:
    """Return the caches as measured by one core in this run; as the system reports them if accesses are too few."""
    nominal_levels = nominal(machine)
    best: dict[float, float] = {}
    for p in played(figures, players(workloads, MEMORY_ACCESS), machine):
        seconds, place = p.seconds(), p.identity.placement
        if place.ranks * place.threads == 1 and seconds is not None and p.figure.working_set > 0:
            size = p.figure.working_set
            best[size] = min(seconds, best.get(size, math.inf))
    ends = capacities([level.size for level in nominal_levels.levels], [Step(*x) for x in best.items()])
    acts = (
        c if c is not None and c != level.size else None for c, level in zip(ends, nominal_levels.levels, strict=True)
    )
    levels = (msgspec.structs.replace(x, acts=a) for x, a in zip(nominal_levels.levels, acts, strict=True))
    return Hierarchy(tuple(levels), any(c is not None for c in ends))


def capacities(sizes: Sequence[float], steps: Iterable[Step]) -> list[float | None]:
    """Return the effective capacity of each cache of these sizes (ascending); None if the points are too few.

    The result is the size itself if the points permit it, else the most bytes served at the level's speed. It never
    exceeds the size: further bytes that were served came from elsewhere (prefetched lines).
    """
    stairs = ascending(steps)
    edges = [0.0, *sizes, math.inf]
    plateaus = [_plateau(stairs, low, high) for low, high in pairwise(edges)]
    found: list[float | None] = []
    below = 0.0
    for size, here, after in zip(sizes, plateaus[:-1], plateaus[1:], strict=True):
        end = None if here is None or after is None else _end(size, here, after, stairs)
        if end is not None and end <= below:
            end = None
        below = max(below, size if end is None else end)
        found.append(end)
    return found


def ascending(steps: Iterable[Step]) -> list[Step]:
    """Return the points by size with times that never fall, by isotonic regression of logarithms (pooled violators)."""
    pools: list[tuple[float, list[float]]] = []  # mean logarithm, sizes
    for step in sorted(s for s in steps if 0 < s.bytes < math.inf and 0 < s.time < math.inf):
        mean, mine = math.log(step.time), [step.bytes]
        while pools and pools[-1][0] > mean:
            other, theirs = pools.pop()
            mean = (other * len(theirs) + mean * len(mine)) / (len(theirs) + len(mine))
            mine = theirs + mine
        pools.append((mean, mine))
    return [Step(size, math.exp(mean)) for mean, mine in pools for size in mine]


def _plateau(stairs: Sequence[Step], low: float, high: float) -> Step | None:
    """Return the point that represents the level between two capacities: well within it, near its middle."""
    inside = [s for s in stairs if CLEAR * low <= s.bytes <= high / CLEAR] or [
        s for s in stairs if low < s.bytes <= high
    ]
    if not inside or high == math.inf:
        return inside[-1] if inside and inside[-1].bytes >= CLEAR * low else None
    middle = math.log(math.sqrt(low * high) if low else high / CLEAR)
    return min(inside, key=lambda s: (round(abs(math.log(s.bytes) - middle), 3), -s.bytes))


def _end(size: float, here: Step, after: Step, stairs: Sequence[Step]) -> float | None:
    """Return the end of the level of plateau `here`, whose cache has `size` bytes according to the system."""
    if after.time < RISE * here.time:
        return None
    between = [
        (s, min(1.0, max(0.0, (s.time - here.time) / (after.time - here.time))))
        for s in stairs
        if here.bytes <= s.bytes <= after.bytes
    ]
    served = max(s.bytes * (1 - f) for s, f in between if f <= UNSURE)
    fits = all(f <= (ALMOST if LESS * s.bytes >= size else OUTSIDE) for s, f in between if s.bytes <= size)
    return size if fits else min(size, served)
