"""The machine, drawn: cores, caches, NUMA nodes, what was bound where. Geometry only; a template renders it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from firstlight.judge import Judgement
from firstlight.machine import Cache, Machine
from firstlight.record import Binding, LaunchRecord
from firstlight.units import binary, count

_GAP, _CPU, _BAR, _PAD, _MOST_WIDE = 6, 40, 24, 10, 700
_MOST_COLUMNS = 16


class Box(msgspec.Struct, frozen=True):
    """A rectangle in user units with its label in the middle; `style` is a CSS class."""

    x: float
    y: float
    width: float
    height: float
    style: str
    label: str = ""
    second: str = ""
    top: bool = False  # label at the top left instead


class Picture(msgspec.Struct, frozen=True):
    width: float
    height: float
    boxes: tuple[Box, ...]
    scale: float  # how large to draw it where there is room
    words: str  # the same for those who cannot see it


def picture(judgement: Judgement) -> Picture:
    """Draw the run's machine with the ranks of the launch that had the most."""
    machine = judgement.run.machine
    ranks, behind = _ranks_by_cpu(judgement.records), Behind(machine)
    nodes = machine.numa or (machine.cpus,)
    boxes: list[Box] = []
    y, widest = 0.0, 0.0
    for number, cpus in enumerate(nodes):
        inner, width, height = _node(machine, tuple(cpus), ranks, behind, y + (_PAD + 16))
        label = f"NUMA node {number}"
        boxes.append(Box(0, y, width + 2 * _PAD, height + 16 + 2 * _PAD, "numa", label, top=True))
        boxes += inner
        y += height + 16 + 2 * _PAD + _GAP
        widest = max(widest, width + 2 * _PAD)
    boxes = [msgspec.structs.replace(b, width=widest) if b.style == "numa" else b for b in boxes]
    boxes.append(Box(0, y, widest, _BAR + 4, "memory", f"memory {binary(machine.memory)}"))
    return Picture(widest, y + _BAR + 4, tuple(boxes), 1.5 if len(machine.cpus) <= 8 else 1.0, in_words(judgement))


class Behind:
    """Which caches each CPU is behind, one a level: looked up once, not for each of thousands of CPUs."""

    def __init__(self, machine: Machine) -> None:
        self.caches = machine.caches
        self.levels = sorted({c.level for c in machine.caches})
        self._first = [min(c.shared_by, default=-1) for c in machine.caches]
        self._by_cpu: dict[int, dict[int, int]] = {}
        for number, cache in enumerate(machine.caches):
            for cpu in cache.shared_by:
                self._by_cpu.setdefault(cpu, {}).setdefault(cache.level, number)

    def order(self, cpu: int) -> tuple[int, ...]:
        """Sorts CPUs that share a cache beside each other, the largest caches first."""
        mine = self._by_cpu.get(cpu, {})
        return (*(self._first[mine[level]] for level in reversed(self.levels) if level in mine), cpu)

    def along(self, level: int, cpus: Sequence[int]) -> list[tuple[int, int, Cache]]:
        """Where along `cpus` each cache of the level lies: (`first`, `how many`, `cache`)."""
        places: dict[int, list[int]] = {}
        for k, cpu in enumerate(cpus):
            number = self._by_cpu.get(cpu, {}).get(level)
            if number is not None:
                places.setdefault(number, []).append(k)
        return [(at[0], at[-1] - at[0] + 1, self.caches[number]) for number, at in sorted(places.items())]


def _node(
    machine: Machine, cpus: tuple[int, ...], ranks: dict[int, str], behind: Behind, top: float
) -> tuple[list[Box], float, float]:
    """The groups of one NUMA node, flowing into rows: (`boxes`, `width`, `height`)."""
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
    """CPUs that share a last cache, neighbours in the smaller caches beside each other."""
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


def _ranks_by_cpu(records: Iterable[LaunchRecord]) -> dict[int, str]:
    """`rank 0` by CPU, for the observed binding with the most ranks on CPUs of their own."""
    best: tuple[Binding, ...] = ()
    for record in records:
        binding = record.launch.binding if record.launch else ()
        if len(binding) > len(best) and all(len(b.cpus) == 1 for b in binding):
            best = binding
    return {b.cpus[0]: f"rank {b.rank}" for b in best if b.node == best[0].node} if len(best) > 1 else {}


def in_words(judgement: Judgement) -> str:
    machine, acts = judgement.run.machine, {x.number: x for x in judgement.hierarchy.levels}
    levels = sorted({c.level: c for c in machine.caches}.values(), key=lambda c: c.level)
    cpus = max(len(machine.cpus), 1)
    parts = [f"{count(machine.sockets, 'socket')}, {count(machine.cores, 'core')}"]
    if machine.threads_per_core > 1:
        parts.append(f"{machine.threads_per_core} hardware threads a core")
    for c in levels:
        shared = (
            "" if len(c.shared_by) < 2 else f" shared by {'all' if len(c.shared_by) == cpus else len(c.shared_by)} CPUs"
        )
        acted = acts[c.level].acts
        like = "" if acted is None else f" (acts like {binary(acted)} for one core)"
        parts.append(f"L{c.level} {binary(c.size)}{shared}{like}")
    return ", ".join([*parts, f"{count(len(machine.numa) or 1, 'NUMA node')}, memory {binary(machine.memory)}"])
