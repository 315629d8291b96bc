"""The figures of a run as plain rows, in JSON and in CSV. Only a verified or a reported figure has numbers."""

from __future__ import annotations

import csv
import io
import math
from datetime import UTC, datetime

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from firstlight.analysis import Judgement
from firstlight.analysis.verdict import Failed, Figure, Reported, States, Untimed, Verdict, Verified
from firstlight.core.shell import printable
from firstlight.execute.build.effort import Effort
from firstlight.model.plan import Placement
from firstlight.results.description import Better
from firstlight.results.record import Run

_FORMULA = ("=", "+", "-", "@", "\t")

OVERSUBSCRIBED = "more ranks or threads than CPUs, so the figure is never ranked or compared"


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One figure. Numbers are in `unit`. `of_ceiling` 1: at the ceiling. `launches`: the number of launches of the
    median.

    `date`: the start of the run, in UTC. If launches were requested: `values`, one per launch in chronological order,
    and `times`, their starts in seconds since the epoch (empty if unknown).
    """

    run: str = ""  # "": by a firstlight that did not write it
    machine: str = ""
    date: str = ""
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
    expected: str | None = None  # why its workload declares that it fails with these flags
    states: States | None = None  # where the launches fall into two: medians and launches of each
    effort: Effort | None = None  # what its files add to the serial variant's; null: not counted
    values: tuple[float, ...] | UnsetType = UNSET
    times: tuple[float, ...] | UnsetType = UNSET


def rows(judgement: Judgement, launches: bool = False) -> list[Row]:
    """Return one row per figure, in the given order; with `launches` also the value of every launch."""
    run = judgement.run
    date = datetime.fromtimestamp(run.started, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    table = [_row(figure, run, date) for figure in judgement.figures]
    return table if launches else without_launches(table)


def without_launches(table: list[Row]) -> list[Row]:
    return [replace(row, values=UNSET, times=UNSET) for row in table]


def _row(figure: Figure, run: Run, date: str) -> Row:
    who = figure.identity
    median = low = high = ceiling = of_ceiling = launches = reason = expected = states = None
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
        case Reported():
            median, low, high = figure.estimate.median, figure.estimate.low, figure.estimate.high
            launches, states = len(figure.estimate.launches), figure.states
            reason, verdict = figure.reason, "reported"
        case _:
            verdict = "failed" if isinstance(figure, Failed) else "unverified"
            verdict = "untimed" if isinstance(figure, Untimed) else verdict
            reason = figure.reason
            expected = figure.expected or None if isinstance(figure, Failed) else None
    estimate = figure.estimate if isinstance(figure, Verified | Reported) else None
    return Row(
        run=run.id,
        machine=run.machine.name,
        date=date,
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
        expected=expected,
        states=states,
        effort=run.efforts.get(f"{who.workload}.{who.variant}"),
        values=estimate.launches if estimate else (),
        times=estimate.times if estimate else (),
    )


def to_json(table: list[Row]) -> str:
    """Return the rows as a JSON array that follows the schema `figures`."""
    return msgspec.json.format(msgspec.json.encode(table), indent=1).decode()


def to_csv(table: list[Row]) -> str:
    """Return the rows as CSV: columns `placement.ranks`, `parameters.n` and so on; an absent value is an empty field.

    Rows with launches become one line per launch, with its number, its value and its start; a figure without launches
    keeps one line.
    """
    names = {name for row in table for name in row.parameters}
    each = any(row.values is not UNSET for row in table)
    columns: list[str] = []
    for field in Row.__struct_fields__:
        if field in ("values", "times"):
            continue
        inner = {
            "placement": Placement.__struct_fields__,
            "parameters": tuple(sorted(names)),
            "states": States.__struct_fields__,
            "effort": Effort.__struct_fields__,
        }.get(field)
        columns += [field] if inner is None else [f"{field}.{name}" for name in inner]
    columns += ["launch", "value", "time"] if each else []
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_cell, columns))
    for row in table:
        flat = _flatten(msgspec.to_builtins(row))
        for launch in _launches(row):
            line = flat | launch
            writer.writerow([_cell(line.get(column)) for column in columns])
    return text.getvalue()


def _cell(value: object) -> object:
    """Return a cell; text that a spreadsheet would read as a formula starts with an apostrophe, a number does not."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.startswith(_FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _launches(row: Row) -> list[dict[str, object]]:
    """Return the additional fields of each line of a row: one set per launch, or one empty set."""
    values = row.values or ()
    times = row.times or ()
    known = times if len(times) == len(values) else [None] * len(values)
    return [{"launch": k, "value": v, "time": t} for k, (v, t) in enumerate(zip(values, known, strict=True))] or [{}]


def _flatten(row: dict[str, object]) -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in row.items():
        if isinstance(value, dict):
            flat.update({f"{key}.{inner}": item for inner, item in value.items()})
        elif key not in ("states", "effort", "values", "times"):
            flat[key] = value
    return flat
