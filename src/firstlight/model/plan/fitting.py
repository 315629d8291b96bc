"""Fitting: the cells of a resumed run are compared with this machine before any of them is started.

A plan that was made here always fits. A resumed plan comes from a run directory, which others may have written. It may
use no more than this machine has, unless the suite, or the user now, requests that here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from firstlight.core.units import binary, count
from firstlight.model.catalogue import Workload
from firstlight.model.plan.arguments import number
from firstlight.model.plan.placements import expand
from firstlight.model.plan.planner import plan
from firstlight.model.plan.settings import NONE, Settings
from firstlight.model.plan.sizes import format_needed, needed
from firstlight.model.plan.types import Cell
from firstlight.system.machine import Machine, cores
from firstlight.toolchain import Absent, Toolbox


def unfit(
    cells: Sequence[Cell],
    suite: str,
    names: Sequence[str],
    workloads: dict[str, Workload],
    toolbox: Toolbox,
    machine: Machine,
    placements: Sequence[str] = (),
    settings: Settings = NONE,
) -> dict[str, Absent]:
    """Return the reason for each cell that is not started here, by its id; cells that fit are left out.

    `placements` are those that the user requests now. Raises UsageError for names and placements that `plan` refuses.
    """
    found = {cell.id: lacks for cell in cells if (lacks := _too_large(cell, workloads, machine))}
    crowded = {cell.id: cell for cell in cells if cores.crowded(_busy(cell), machine)}
    if crowded:
        asked = set(expand(placements, machine)[0])
        usual = plan(suite, workloads, names, toolbox, machine, settings=settings).cells
        shapes = {(c.program.workload, c.program.variant, c.placement, _busy(c)) for c in usual}
        for name, cell in crowded.items():
            here = (cell.program.workload, cell.program.variant, cell.placement, _busy(cell))
            if cell.placement not in asked and here not in shapes:
                found[name] = _too_many(cell, machine)
    return found


def _busy(cell: Cell) -> int:
    """Return the threads of all ranks of a node."""
    return int(cell.placement.per_node * max(cell.placement.threads, cell.option("threads", 1)))


def _too_many(cell: Cell, machine: Machine) -> Absent:
    placement = cell.placement
    shape = f"{placement.nodes}x{placement.per_node}x{placement.threads}"
    why = f"this placement starts {count(_busy(cell), 'thread')} on a node of {count(len(machine.cpus), 'CPU')}"
    return Absent(cell.id, why, f"to allow this: --resume with --placement {shape}")


def _too_large(cell: Cell, workloads: Mapping[str, Workload], machine: Machine) -> Absent | None:
    """Return why a case alone exceeds the memory, or None; entries of a suite may need fewer bytes per element."""
    workload = workloads.get(cell.program.workload)
    sizes = workload.sizes if workload is not None else None
    if workload is None or sizes is None:
        return None
    entries = (entry for suite in workload.suites.values() for entry in suite)
    each = min([sizes.bytes_per_element, *(e.bytes_per_element for e in entries if e.bytes_per_element)])
    for value in cell.values.get(sizes.parameter, ()):
        size = number(value)  # None: the program refuses it
        if size is not None and (bytes_ := needed(size, replace(sizes, bytes_per_element=each))) > machine.memory:
            memory = binary(machine.memory)
            why = f"{sizes.parameter}={value} requires {format_needed(bytes_)}, but this machine has {memory}"
            return Absent(cell.id, why, "resume the run on a machine with more memory")
    return None
