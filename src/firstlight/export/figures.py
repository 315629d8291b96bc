"""The figures of a run as plain rows, in JSON and in CSV. Only a verified figure has numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

import msgspec

from firstlight.judge.verdict import Failed, Figure, States, Verdict, Verified
from firstlight.plan import Placement
from firstlight.record import Better

OVERSUBSCRIBED = "more ranks or threads than CPUs: shown, never ranked or compared"


class Row(msgspec.Struct, frozen=True):
    """One figure. Numbers in `unit`; `of_ceiling` 1 = at the ceiling; `launches` counts those behind the median."""

    workload: str
    variant: str
    toolchain: str
    mpi: str | None
    placement: Placement
    parameters: dict[str, int | float | str]
    metric: str
    unit: str
    better: Better
    median: float | None
    low: float | None
    high: float | None
    launches: int | None
    ceiling: float | None
    of_ceiling: float | None
    verdict: Verdict
    reason: str | None
    states: States | None = None  # where the launches fall into two: medians and launches of each


def rows(figures: Iterable[Figure]) -> list[Row]:
    """One row a figure, in the given order."""
    return [_row(figure) for figure in figures]


def _row(figure: Figure) -> Row:
    who = figure.identity
    median = low = high = ceiling = of_ceiling = launches = reason = states = None
    verdict: Verdict
    match figure:
        case Verified():
            median, low, high = figure.estimate.median, figure.estimate.low, figure.estimate.high
            launches = len(figure.estimate.launches)
            ceiling = figure.ceiling.value if figure.ceiling else None
            of_ceiling = figure.of_ceiling
            states = figure.states
            reason = OVERSUBSCRIBED if figure.oversubscribed else None
            verdict = "verified"
        case _:
            verdict = "failed" if isinstance(figure, Failed) else "unverified"
            reason = figure.reason
    return Row(
        workload=who.workload,
        variant=who.variant,
        toolchain=who.toolchain,
        mpi=who.mpi,
        placement=who.placement,
        parameters=dict(who.parameters),
        metric=who.metric,
        unit=figure.unit,
        better=figure.better,
        median=median,
        low=low,
        high=high,
        launches=launches,
        ceiling=ceiling,
        of_ceiling=of_ceiling,
        verdict=verdict,
        reason=reason,
        states=states,
    )


def to_json(table: list[Row]) -> str:
    """A JSON array of rows, as the schema `figures` says."""
    return msgspec.json.format(msgspec.json.encode(table), indent=1).decode()


def to_csv(table: list[Row]) -> str:
    """The same flattened: columns `placement.ranks`, `parameters.n` and so on; an absent value is an empty field."""
    flat = [_flatten(msgspec.to_builtins(row)) for row in table]
    names = {name for row in table for name in row.parameters}
    columns: list[str] = []
    for field in Row.__struct_fields__:
        inner = {
            "placement": Placement.__struct_fields__,
            "parameters": tuple(sorted(names)),
            "states": States.__struct_fields__,
        }.get(field)
        columns += [field] if inner is None else [f"{field}.{name}" for name in inner]
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)
    return text.getvalue()


def _flatten(row: dict[str, object]) -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in row.items():
        if isinstance(value, dict):
            flat.update({f"{key}.{inner}": item for inner, item in value.items()})
        elif key != "states":
            flat[key] = value
    return flat
