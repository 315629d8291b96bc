"""Which figures a declaration in workload.toml speaks of: patterns of variants, values of parameters."""

from __future__ import annotations

from fnmatch import fnmatchcase

from firstlight.analysis.verdict import Identity
from firstlight.model.catalogue import Declaration, Row, Value, Workload, device_variant
from firstlight.model.plan import resolve_size, same_work
from firstlight.system.machine import Machine, cores


def selects(identity: Identity, declared: Declaration, workload: Workload, machine: Machine) -> bool:
    """True if the variant matches a pattern and every parameter in `where` has that value (L1 .. memory resolved)."""
    if identity.workload != workload.name or not any(fnmatchcase(identity.variant, p) for p in declared.variants):
        return False
    if device_variant(workload, identity.variant) != declared.device:
        return False
    parameters = dict(identity.parameters)
    return all(same_value(parameters.get(k), resolved(k, v, workload, machine)) for k, v in declared.where.items())


def in_row(identity: Identity, row: Row, workload: Workload, machine: Machine) -> bool:
    """Whether the figure is one of those that a line of the terminal page chooses from: all do the same work."""
    wanted = cores.amount(row.threads, machine), cores.ranks(row.ranks, machine)
    return (
        identity.metric == row.metric
        and (not row.placed or (identity.placement.threads, identity.placement.ranks) == wanted)
        and selects(identity, row, workload, machine)
        and same_work(identity.variant, row, workload)
    )


def resolved(name: str, value: Value, workload: Workload, machine: Machine) -> Value | None:
    """A symbolic size as the number that the plan made of it on that machine; anything else unchanged."""
    if workload.sizes is None or workload.sizes.parameter != name or not isinstance(value, str):
        return value
    return resolve_size(value, workload.sizes, machine)


def same_value(found: Value | None, wanted: Value | None) -> bool:
    """Equal as numbers or as text: programs may write a word for a number."""
    return found is not None and wanted is not None and (found == wanted or str(found) == str(wanted))
