"""Selectors decide which programs, cells and figures a declaration of a workload.toml applies to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Protocol

from firstlight.model.catalogue import Declaration, Row, Selection, Value, Variant, Workload, device_variant, of_library
from firstlight.model.plan.sizes import resolve_size
from firstlight.model.plan.types import Cell, Placement, Program
from firstlight.system.machine import Machine, cores

NOT = "!"


class Subject(Protocol):
    """A program, or the identity of a figure."""

    @property
    def workload(self) -> str: ...
    @property
    def variant(self) -> str: ...


class Measured(Subject, Protocol):
    """The identity of a figure: all parameters of its case are known."""

    @property
    def metric(self) -> str: ...
    @property
    def placement(self) -> Placement: ...
    @property
    def parameters(self) -> tuple[tuple[str, Value], ...]: ...


# --- by name ---------------------------------------------------------------------------------------------------------


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Return whether a name matches a pattern and none that begins with `!`; without other patterns any name does."""
    unwanted = [pattern.removeprefix(NOT) for pattern in patterns if pattern.startswith(NOT)]
    wanted = [pattern for pattern in patterns if not pattern.startswith(NOT)] or ["*"] * bool(unwanted)
    return any(fnmatchcase(name, p) for p in wanted) and not any(fnmatchcase(name, p) for p in unwanted)


def planned_by(entry: Selection, name: str, variant: Variant) -> bool:
    """Return whether a suite's entry selects a variant, `name` with its library.

    If no library is installed, `blas_openblas` and `blas_*` still select the source `blas`.
    """
    missing = bool(of_library(variant.needs)) and name == variant.name
    return matches(name, entry.variants) or (missing and any(p.startswith(f"{name}_") for p in entry.variants))


def of_variant(subject: Subject, declared: Declaration, workload: Workload) -> bool:
    """Return whether a program, or what a figure was measured with, is one of the variants of the entry."""
    return (
        subject.workload == workload.name
        and any(fnmatchcase(subject.variant, pattern) for pattern in declared.variants)
        and device_variant(workload, subject.variant) == declared.device
    )


def same_work(variant: str, declared: Declaration, workload: Workload) -> bool:
    """Return whether a variant does the work of the entry: that of no class, unless all it selects are of one."""
    chosen = {
        workload.work(v.name)
        for v in workload.variants
        if not v.broken and any(fnmatchcase(v.name, p) for p in declared.variants)
    }
    only = chosen.pop() if len(chosen) == 1 else ""
    return workload.work(variant) == only


def placed(placement: Placement, row: Row, machine: Machine) -> bool:
    """Return whether a row applies to programs that are placed so."""
    wanted = cores.amount(row.threads, machine), cores.ranks(row.ranks, machine)
    return not row.placed or (placement.threads, placement.ranks) == wanted


# --- by parameters ---------------------------------------------------------------------------------------------------


def resolved(name: str, value: Value, workload: Workload, machine: Machine) -> Value | None:
    """Return the number that the plan makes of a symbolic size on that machine; anything else unchanged."""
    if workload.sizes is None or workload.sizes.parameter != name or not isinstance(value, str):
        return value
    return resolve_size(value, workload.sizes, machine)


def same_value(found: Value | None, wanted: Value | None) -> bool:
    """Return whether two values are equal as numbers or as text: programs may write a word for a number."""
    return found is not None and wanted is not None and (found == wanted or str(found) == str(wanted))


def part(
    values: Mapping[str, Sequence[Value]], declared: Declaration, workload: Workload, machine: Machine
) -> dict[str, list[Value]] | None:
    """Return the values to which the declaration applies, or None. A planned value may be a pattern of words.

    A parameter without values is left to the program's default, which is assumed to be one that fits.
    """
    left = {name: list(some) for name, some in values.items()}
    for name in declared.where.keys() & left.keys():
        wanted = resolved(name, declared.where[name], workload, machine)
        left[name] = [v for v in left[name] if same_value(v, wanted) or _matching(v, wanted)]
        if not left[name]:
            return None
    return left


def _matching(value: Value, wanted: Value | None) -> bool:
    return wanted is not None and "*" in str(value) and fnmatchcase(str(wanted), str(value))


# --- figures ---------------------------------------------------------------------------------------------------------


def selects(identity: Measured, declared: Declaration, workload: Workload, machine: Machine) -> bool:
    """Return whether a figure's variant matches a pattern, and every parameter in `where` has that value."""
    known = dict(identity.parameters)
    return of_variant(identity, declared, workload) and all(
        same_value(known.get(k), resolved(k, v, workload, machine)) for k, v in declared.where.items()
    )


def in_row(identity: Measured, row: Row, workload: Workload, machine: Machine) -> bool:
    """Return whether a row of the terminal page chooses from this figure; all its figures do the same work."""
    return (
        identity.metric == row.metric
        and placed(identity.placement, row, machine)
        and selects(identity, row, workload, machine)
        and same_work(identity.variant, row, workload)
    )


# --- cells -----------------------------------------------------------------------------------------------------------


def serves(cell: Cell, row: Row, workload: Workload, machine: Machine) -> bool:
    """Return whether a row chooses from a case of the cell."""
    able = can_serve(cell.program, cell.placement, row, workload, machine)
    return able and part(cell.values, row, workload, machine) is not None


def can_serve(program: Program, placement: Placement, row: Row, workload: Workload, machine: Machine) -> bool:
    """Return whether the row applies to this program, placed so."""
    able = placed(placement, row, machine) and of_variant(program, row, workload)
    return able and same_work(program.variant, row, workload)


def provides(cell: Cell, ceilings: Collection[str], workload: Workload, machine: Machine) -> bool:
    """Return whether the cell measures one of these ceilings."""
    entries = (entry for entry in workload.provides if entry.ceiling in ceilings)
    return any(applies(entry, cell.program, cell.values, workload, machine) for entry in entries)


def applies(
    declared: Declaration,
    program: Program,
    values: Mapping[str, Sequence[Value]],
    workload: Workload,
    machine: Machine,
) -> bool:
    """Return whether the entry applies to a case of this program with these values."""
    return of_variant(program, declared, workload) and part(values, declared, workload, machine) is not None
