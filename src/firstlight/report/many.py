"""A machine of many processors, drawn: a box per core, grouped by shared cache, NUMA nodes side by side.

Caches of one core are left out; the text next to the drawing describes them. Geometry only; a template renders it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from firstlight.core.units import binary
from firstlight.report.boxes import Box
from firstlight.system.machine import Cache, Machine, cores

FROM = 33
"""The number of CPUs from which on a machine is drawn this way."""
_MOST_WIDE, _CORE, _GAP, _PAD, _BAR, _HEAD = 880, 30, 4, 8, 18, 16
_COLUMNS, _MANY_COLUMNS = 8, 14  # of cores behind one cache: few, and where there are many of them

Drawn = tuple[list[Box], float, float]  # boxes, width, height


def nodes(machine: Machine, ranks: Mapping[int, str]) -> Drawn:
    """Draw all NUMA nodes, from left to right and down."""
    every = machine.numa or (machine.cpus,)
    numbers = machine.numa_numbers if len(machine.numa_numbers) == len(every) else tuple(range(len(every)))
    look = _Look(machine, ranks)
    drawn = [(number, *_node(machine, cpus, look)) for number, cpus in zip(numbers, every, strict=True)]
    cell = max(width for _, _, width, _ in drawn)
    columns = max(1, int((_MOST_WIDE + _GAP) // (cell + _GAP)))
    boxes: list[Box] = []
    y = 0.0
    for start in range(0, len(drawn), columns):
        row = drawn[start : start + columns]
        high = max(height for *_, height in row)
        for k, (number, inner, _, _) in enumerate(row):
            x = k * (cell + _GAP)
            boxes.append(Box(x, y, cell, high, "numa", f"NUMA node {number}", top=True))
            boxes += [_moved(b, x, y) for b in inner]
        y += high + _GAP
    return boxes, min(columns, len(drawn)) * (cell + _GAP) - _GAP, y


class _Look:
    """The properties that are looked up for each core."""

    def __init__(self, machine: Machine, ranks: Mapping[int, str]) -> None:
        level = max((c.level for c in machine.caches), default=0)
        self.last = {cpu: c for c in machine.caches if c.level == level for cpu in c.shared_by}
        self.slower = frozenset(cpu for kind in machine.kinds[1:] for cpu in kind.cpus)
        self.ranks, self.tall = ranks, 32 if machine.threads_per_core > 1 else 22

    def style(self, core: Sequence[int]) -> str:
        bound = " bound" if any(cpu in self.ranks for cpu in core) else ""
        return f"cpu{bound}{' slower' if core[0] in self.slower else ''}"


def _node(machine: Machine, cpus: Sequence[int], look: _Look) -> Drawn:
    """Draw one node at the origin: its groups side by side as long as there is room."""
    boxes: list[Box] = []
    x, y, wide, high = float(_PAD), float(_PAD + _HEAD), 0.0, 0.0
    for cache, some in _groups(sorted(cores.among(machine, cpus)), look):
        inner, width, height = _group(cache, some, look)
        if x > _PAD and x + width + _PAD > _MOST_WIDE / 2:
            x, y, high = float(_PAD), y + high + 2 * _GAP, 0.0
        boxes += [_moved(b, x, y) for b in inner]
        wide, high = max(wide, x + width + _PAD), max(high, height)
        x += width + 2 * _GAP
    return boxes, wide, y + high + _PAD


def _groups(mine: Sequence[tuple[int, ...]], look: _Look) -> list[tuple[Cache | None, list[tuple[int, ...]]]]:
    """Group the cores of a node by the last cache that they share with others; None for those that share none."""
    found: dict[int, tuple[Cache | None, list[tuple[int, ...]]]] = {}
    for core in mine:
        cache = look.last.get(core[0])
        shared = cache is not None and len(cache.shared_by) > len(core)
        key = min(cache.shared_by) if cache is not None and shared else -1
        found.setdefault(key, (cache if shared else None, []))[1].append(core)
    return list(found.values())


def _group(cache: Cache | None, some: Sequence[tuple[int, ...]], look: _Look) -> Drawn:
    columns = min(len(some), _COLUMNS if len(some) <= 2 * _COLUMNS else _MANY_COLUMNS)
    tall = look.tall
    boxes = []
    for k, core in enumerate(some):
        x, y = (k % columns) * (_CORE + _GAP), (k // columns) * (tall + _GAP)
        boxes.append(Box(x, y, _CORE, tall, look.style(core), str(core[0]), _others(core)))
    width = columns * (_CORE + _GAP) - _GAP
    height = -(-len(some) // columns) * (tall + _GAP) - _GAP
    if cache is not None:
        label = f"L{cache.level} {binary(cache.size)}" if width > 60 else f"L{cache.level}"
        boxes.append(Box(0, height + _GAP, width, _BAR, f"cache l{cache.level}", label))
        height += _GAP + _BAR
    return boxes, width, height


def _others(core: Sequence[int]) -> str:
    """Return the other hardware threads of a core: `129`, `-7` for 4 to 7, `+3`."""
    if len(core) < 3:
        return str(core[1]) if len(core) == 2 else ""
    return f"-{core[-1]}" if core[-1] - core[0] == len(core) - 1 else f"+{len(core) - 1}"


def _moved(box: Box, x: float, y: float) -> Box:
    return Box(box.x + x, box.y + y, box.width, box.height, box.style, box.label, box.second, box.top)
