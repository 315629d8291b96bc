"""Ceilings: the limits that planned figures are compared with, and those of them that no cell measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from firstlight.model.catalogue import Workload
from firstlight.model.plan.selectors import applies, provides
from firstlight.model.plan.types import Cell
from firstlight.system.machine import Machine, cores


class Ceiling(NamedTuple):
    """A ceiling by its name, for a number of cores of one node."""

    name: str
    cores: int


def unmeasured(cells: Iterable[Cell], workloads: Mapping[str, Workload], machine: Machine) -> list[Ceiling]:
    """Return the ceilings that bound a figure of these cells and that none of them measures."""
    cells = list(cells)
    wanted = bounding(cells, workloads, machine)
    return sorted(c for c in wanted if not any(measures(cell, c, workloads, machine) for cell in cells))


def bounding(cells: Iterable[Cell], workloads: Mapping[str, Workload], machine: Machine) -> set[Ceiling]:
    """Return the ceilings of these cells; cells on several nodes, or with more threads than processors, have none."""
    held = (cell for cell in cells if cell.placement.nodes == 1 and not cores.crowded(_cores(cell), machine))
    return {found for cell in held for found in _bounding(cell, workloads[cell.program.workload], machine)}


def measures(cell: Cell, ceiling: Ceiling, workloads: Mapping[str, Workload], machine: Machine) -> bool:
    same = _cores(cell) == ceiling.cores
    return same and provides(cell, {ceiling.name}, workloads[cell.program.workload], machine)


def _bounding(cell: Cell, workload: Workload, machine: Machine) -> Iterable[Ceiling]:
    """Yield the ceilings of a cell; a cell that measures a ceiling has none."""
    if provides(cell, {p.ceiling for p in workload.provides}, workload, machine):
        return
    for bound in workload.bounded_by:
        if applies(bound, cell.program, cell.values, workload, machine):
            yield Ceiling(bound.ceiling, _cores(cell))


def _cores(cell: Cell) -> int:
    return cell.placement.ranks * cell.placement.threads
