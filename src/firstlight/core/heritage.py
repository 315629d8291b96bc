"""Heritage: published figures of earlier machines, read as data, each with its source."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

import msgspec

from firstlight import ROOT
from firstlight.core import reading
from firstlight.core.errors import UsageError

FOLDER = ROOT / "heritage"
_DESCRIBES = ("machine", "year", "workload", "variant", "mpi", "ranks", "metric", "unit", "better", "note")
_ABSENT = "-"


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The report that printed the figure."""

    id: str
    author: str
    title: str
    venue: str
    date: str
    year: int

    @property
    def citation(self) -> str:
        return f"{self.author}, {self.title}, {self.venue}, {self.date}"


class Entry(msgspec.Struct, frozen=True):
    """One published number. `place`: where in the report; `year`: the machine's where known."""

    source: Source
    place: str
    machine: str
    year: int
    workload: str
    metric: str
    unit: str
    better: Literal["higher", "lower", "none"]
    value: float
    variant: str = ""
    mpi: str = ""
    ranks: int = 1
    note: str = ""
    parameters: dict[str, int | float | str] = {}


class Observation(msgspec.Struct, frozen=True):
    """A published sentence without a number of its own: what a finding may recognise."""

    source: Source
    place: str
    sentence: str


class Heritage(msgspec.Struct, frozen=True):
    entries: tuple[Entry, ...] = ()
    observations: tuple[Observation, ...] = ()

    def matching(self, workload: str, metric: str) -> tuple[Entry, ...]:
        return tuple(e for e in self.entries if e.workload == workload and e.metric == metric)


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    place: str
    columns: list[str]
    values: list[dict[str, int | float | str]]
    rows: list[list[int | float | str]]
    workload: str = ""
    metric: str = ""
    unit: str = ""
    better: Literal["higher", "lower", "none", ""] = ""
    machine: str = ""
    note: str = ""


class _Observations(msgspec.Struct, forbid_unknown_fields=True):
    place: str
    sentences: list[str]


class _File(msgspec.Struct, forbid_unknown_fields=True):
    source: Source
    tables: list[_Table] = []
    observations: list[_Observations] = []


def load(folder: Path = FOLDER) -> Heritage:
    """Read every `*.toml` in `folder`. Raises UsageError naming the file and the defect."""
    entries: list[Entry] = []
    observations: list[Observation] = []
    for path in sorted(folder.glob("*.toml")):
        try:
            content = reading.toml(path.read_bytes(), _File)
            for table in content.tables:
                entries += _entries(content.source, table)
        except (ValueError, OSError, msgspec.ValidationError) as error:
            raise UsageError(f"{path}: {error}; correct the entry or remove the file") from error
        observations += [Observation(content.source, o.place, s) for o in content.observations for s in o.sentences]
    return Heritage(tuple(entries), tuple(observations))


def _entries(source: Source, table: _Table) -> list[Entry]:
    """Return one entry for each published number. Raises ValueError naming the place of a row that does not fit."""
    shared = {k: v for k in _DESCRIBES if (v := getattr(table, k, ""))}
    width = len(table.columns) + len(table.values)
    entries = []
    for row in table.rows:
        if len(row) != width:
            raise ValueError(f"{table.place}: a row has {len(row)} items instead of {width}: {row}")
        keys = dict(zip(table.columns, row, strict=False))
        for value, spec in zip(row[len(table.columns) :], table.values, strict=True):
            if value != _ABSENT:
                entries.append(_entry(source, table.place, shared | keys | spec, value))
    return entries


def _entry(source: Source, place: str, facts: dict[str, int | float | str], value: int | float | str) -> Entry:
    described = {k: facts[k] for k in _DESCRIBES if k in facts}
    parameters = {k: v for k, v in facts.items() if k not in _DESCRIBES and v != _ABSENT}
    fields = {"source": source, "place": place, "year": source.year, "value": value, "parameters": parameters}
    missing = [k for k in ("machine", "workload", "metric", "unit", "better") if not described.get(k)]
    if missing:
        raise ValueError(f"{place}: {', '.join(missing)} missing")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f'{place}: {value} is not a published number; write "-" for an unknown one')
    return msgspec.convert(fields | described, Entry)
