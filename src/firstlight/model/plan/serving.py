"""Serving: which cells measure what a row of the report chooses from, and the ceilings that it is held against."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase

from firstlight.model.catalogue import Declaration, Row, Value, Workload, device_variant
from firstlight.model.plan.runtime_estimate import parameters
from firstlight.model.plan.sizes import resolve_size
from firstlight.model.plan.types import Cell, Placement, Program
from firstlight.system.machine import Machine, cores


def serves(cell: Cell, row: Row, workload: Workload, machine: Machine) -> bool:
    """Whether a case of the cell is one that the row chooses from. A parameter that the cell leaves to the program's
    default is taken for one that fits."""
    able = can_serve(cell.program, cell.placement, row, workload, machine)
    return able and part(parameters(cell), row, workload, machine) is not None


def can_serve(program: Program, placement: Placement, row: Row, workload: Workload, machine: Machine) -> bool:
    """Whether the row speaks of this program, placed so."""
    wanted = cores.amount(row.threads, machine), cores.ranks(row.ranks, machine)
    placed = not row.placed or (placement.threads, placement.ranks) == wanted
    return placed and _of_variant(program, row, workload) and same_work(program.variant, row, workload)


def provides(cell: Cell, ceilings: Collection[str], workload: Workload, machine: Machine) -> bool:
    """Whether the cell measures one of these ceilings."""
    entries = (entry for entry in workload.provides if entry.ceiling in ceilings)
    return any(speaks_of(entry, cell.program, parameters(cell), workload, machine) for entry in entries)


def speaks_of(
    declared: Declaration,
    program: Program,
    values: Mapping[str, Sequence[Value]],
    workload: Workload,
    machine: Machine,
) -> bool:
    """Whether the entry speaks of a case of this program with these values."""
    return _of_variant(program, declared, workload) and part(values, declared, workload, machine) is not None


def part(
    values: Mapping[str, Sequence[Value]], declared: Declaration, workload: Workload, machine: Machine
) -> dict[str, list[Value]] | None:
    """What of these values the declaration speaks of, or None."""
    left = {name: list(some) for name, some in values.items()}
    for name, value in declared.where.items():
        if name in left:
            wanted = _resolved(name, value, workload, machine)
            left[name] = [v for v in left[name] if wanted is not None and _same(v, wanted)]
            if not left[name]:
                return None
    return left


def same_work(variant: str, declared: Declaration, workload: Workload) -> bool:
    """Whether a variant does the work that the entry speaks of: that of no class, unless all it selects are of one."""
    chosen = {
        workload.work(v.name)
        for v in workload.variants
        if not v.broken and any(fnmatchcase(v.name, p) for p in declared.variants)
    }
    only = chosen.pop() if len(chosen) == 1 else ""
    return workload.work(variant) == only


def _of_variant(program: Program, declared: Declaration, workload: Workload) -> bool:
    return (
        program.workload == workload.name
        and any(fnmatchcase(program.variant, pattern) for pattern in declared.variants)
        and device_variant(workload, program.variant) == declared.device
    )


def _resolved(name: str, value: Value, workload: Workload, machine: Machine) -> Value | None:
    sizes = workload.sizes if workload.sizes and workload.sizes.parameter == name else None
    return resolve_size(value, sizes, machine)


def _same(value: Value, wanted: Value) -> bool:
    return str(value) == str(wanted) or ("*" in str(value) and fnmatchcase(str(wanted), str(value)))
