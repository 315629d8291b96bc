"""The machine, drawn: cores, caches, NUMA nodes, and which ranks were bound. Geometry only; a template renders it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from firstlight.analysis import Judgement
from firstlight.analysis.formatting import listing
from firstlight.core.units import binary, count
from firstlight.report import many
from firstlight.report.boxes import Box, Picture, spans
from firstlight.results.record import Binding, LaunchRecord
from firstlight.system.machine import Cache, Kind, Machine, cores

_GAP, _CPU, _BAR, _PAD, _MOST_WIDE = 6, 40, 24, 10, 700
_MOST_COLUMNS = 16
_MOST_KINDS = 4  # of caches of one level that are named
_MOST_ALONE = 8  # nodes without processors that are drawn


def picture(judgement: Judgement) -> Picture:
    """Draw the run's machine with the ranks of the launch that had the most."""
    machine = judgement.run.machine
    ranks = _ranks_by_cpu(machine, judgement.records)
    boxes, width, y = (many.nodes if len(machine.cpus) >= many.FROM else _nodes)(machine, ranks)
    width = max(width, 160.0)
    for text in _memories(machine):
        boxes.append(Box(0, y, width, _BAR + 4, "memory", text))
        y += _BAR + 4 + _GAP
    return Picture(width, y - _GAP, tuple(boxes), 1.5 if len(machine.cpus) <= 8 else 1.0, in_words(judgement))


def _memories(machine: Machine) -> list[str]:
    alone = [
        f"NUMA node {node.number}: {binary(node.size)} of memory without cores"
        for node in machine.memory_only[:_MOST_ALONE]
    ]
    more = len(machine.memory_only) - _MOST_ALONE
    return [
        f"memory {binary(machine.memory)}",
        *alone,
        *([f"and {more} more nodes of memory without cores"] if more > 0 else []),
    ]


def _nodes(machine: Machine, ranks: dict[int, str]) -> tuple[list[Box], float, float]:
    """Draw the NUMA nodes below each other: (`boxes`, `width`, `height`)."""
    boxes: list[Box] = []
    y, widest = 0.0, 0.0
    every, behind = machine.numa or (machine.cpus,), Behind(machine)
    numbers = machine.numa_numbers if len(machine.numa_numbers) == len(every) else range(len(every))
    for number, cpus in zip(numbers, every, strict=True):
        inner, width, height = _node(machine, tuple(cpus), ranks, behind, y + (_PAD + 16))
        label = f"NUMA node {number}"
        boxes.append(Box(0, y, width + 2 * _PAD, height + 16 + 2 * _PAD, "numa", label, top=True))
        boxes += inner
        y += height + 16 + 2 * _PAD + _GAP
        widest = max(widest, width + 2 * _PAD)
    return [replace(b, width=widest) if b.style == "numa" else b for b in boxes], widest, y


class Behind:
    """The caches of each CPU, one per level: looked up once, not for each of thousands of CPUs."""

    def __init__(self, machine: Machine) -> None:
        self.caches = machine.caches
        self.slower = frozenset(cpu for kind in machine.kinds[1:] for cpu in kind.cpus)
        self.levels = sorted({c.level for c in machine.caches})
        self._first = [min(c.shared_by, default=-1) for c in machine.caches]
        self._by_cpu: dict[int, dict[int, int]] = {}
        for number, cache in enumerate(machine.caches):
            for cpu in cache.shared_by:
                self._by_cpu.setdefault(cpu, {}).setdefault(cache.level, number)

    def order(self, cpu: int) -> tuple[int, ...]:
        """Return a sort key that places CPUs with a common cache side by side, the largest caches first."""
        mine = self._by_cpu.get(cpu, {})
        return (*(self._first[mine[level]] for level in reversed(self.levels) if level in mine), cpu)

    def along(self, level: int, cpus: Sequence[int]) -> list[tuple[int, int, Cache]]:
        """Return where along `cpus` each cache of the level is: (`first`, `how many`, `cache`)."""
        places: dict[int, list[int]] = {}
        for k, cpu in enumerate(cpus):
            number = self._by_cpu.get(cpu, {}).get(level)
            if number is not None:
                places.setdefault(number, []).append(k)
        return [(at[0], at[-1] - at[0] + 1, self.caches[number]) for number, at in sorted(places.items())]


def _node(
    machine: Machine, cpus: tuple[int, ...], ranks: dict[int, str], behind: Behind, top: float
) -> tuple[list[Box], float, float]:
    """Draw the groups of one NUMA node, flowing into rows: (`boxes`, `width`, `height`)."""
    groups = _groups(behind, cpus)
    wide = 84.0 if len(machine.cpus) <= 8 else 46.0 if len(machine.cpus) <= 32 else 30.0
    boxes: list[Box] = []
    x, y, right, row = float(_PAD), top, 0.0, 0.0
    for group in groups:
        columns = min(len(group), _MOST_COLUMNS)
        width = columns * (wide + _GAP) - _GAP
        if x > _PAD and x + width > _MOST_WIDE:
            x, y, row = float(_PAD), y + row + 2 * _GAP, 0.0
        inner, height = _group(behind, group, ranks, (x, y), wide)
        boxes += inner
        right, row = max(right, x + width - _PAD), max(row, height)
        x += width + 2 * _GAP
    return boxes, right, y + row - top


def _groups(behind: Behind, cpus: tuple[int, ...]) -> list[list[int]]:
    """Group CPUs that share a last cache, with neighbours in the smaller caches side by side."""
    groups: dict[int, list[int]] = {}
    for order, cpu in sorted((behind.order(cpu), cpu) for cpu in cpus):
        groups.setdefault(order[0] if len(order) > 1 else -1, []).append(cpu)
    if behind.caches and all(len(g) == 1 for g in groups.values()):
        return [[c for g in groups.values() for c in g]]  # nothing is shared: one row of cores
    return list(groups.values())


def _group(
    behind: Behind, group: Sequence[int], ranks: dict[int, str], corner: tuple[float, float], wide: float
) -> tuple[list[Box], float]:
    left, y = corner
    boxes: list[Box] = []
    for start in range(0, len(group), _MOST_COLUMNS):
        chunk = group[start : start + _MOST_COLUMNS]
        for k, cpu in enumerate(chunk):
            label = f"CPU {cpu}" if wide > 60 else str(cpu)
            style = "cpu bound" if cpu in ranks else "cpu"
            style += " slower" if cpu in behind.slower else ""
            boxes.append(Box(left + k * (wide + _GAP), y, wide, _CPU, style, label, ranks.get(cpu, "")))
        y += _CPU + _GAP
        for level in behind.levels:
            boxes += [
                Box(left + first * (wide + _GAP), y, span * (wide + _GAP) - _GAP, _BAR, f"cache l{level}",
                    f"L{level} {binary(cache.size)}" if span * wide > 60 else f"L{level}")
                for first, span, cache in behind.along(level, chunk)
            ]  # fmt: skip
            y += _BAR + _GAP
    return boxes, y - corner[1] - _GAP


def _ranks_by_cpu(machine: Machine, records: Iterable[LaunchRecord]) -> dict[int, str]:
    """Return `rank 0` by CPU, for the observed binding with the most ranks on cores of their own."""
    core = cores.of_core(machine)
    best: tuple[Binding, ...] = ()
    for record in records:
        binding = record.launch.binding if record.launch else ()
        if len(binding) > len(best) and all(len({core.get(c, c) for c in b.cpus}) == 1 for b in binding):
            best = binding
    here = [b for b in best if b.node == best[0].node]
    return {cpu: f"rank {b.rank}" for b in here for cpu in b.cpus} if len(best) > 1 else {}


def _kind(machine: Machine, kind: Kind) -> str:
    own = len({core for cpu, core in cores.of_core(machine).items() if cpu in kind.cpus})
    return f"{count(own, kind.name)} ({spans(kind.cpus)})"


def _caches(machine: Machine, level: int) -> str:
    """Return `L2 1 MiB` or `L3 32 MiB shared by 8 cores`; two kinds of cores may have two kinds of caches."""
    core = cores.of_core(machine)
    noun, every = ("cores", machine.cores) if machine.threads_per_core > 1 else ("CPUs", len(machine.cpus))
    found: dict[str, None] = {}
    for c in machine.caches:
        if c.level == level:
            n = len({core.get(cpu, cpu) for cpu in c.shared_by})
            found[binary(c.size) + ("" if n < 2 else f" shared by {'all' if n == every else n} {noun}")] = None
    return f"L{level} {listing(list(found)[:_MOST_KINDS])}"


def in_words(judgement: Judgement) -> str:
    machine, acts = judgement.run.machine, {x.number: x for x in judgement.hierarchy.levels}
    parts = [f"{count(machine.sockets, 'socket')}, {count(machine.cores, 'core')}"]
    if machine.threads_per_core > 1:
        parts.append(f"{'up to ' * bool(machine.kinds)}{machine.threads_per_core} hardware threads per core")
    parts += [_kind(machine, kind) for kind in machine.kinds]
    for level in sorted({c.level for c in machine.caches}):
        acted = acts[level].acts
        like = "" if acted is None else f" (effective {binary(acted)} for one core)"
        parts.append(_caches(machine, level) + like)
    return ", ".join([*parts, f"{count(len(machine.numa) or 1, 'NUMA node')}, memory {binary(machine.memory)}"])
