"""Overrides: rows and drawings of a workload use the values that a user set instead of the declared ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice, product

from msgspec.structs import replace

from firstlight.analysis import formatting
from firstlight.core.units import count
from firstlight.model.catalogue import BY_SIZE, Plot, Row, Value, Workload, by_size
from firstlight.model.catalogue.brought import together
from firstlight.model.plan.settings import NONE, Settings
from firstlight.results.description import Description
from firstlight.results.record import Run
from firstlight.results.store import documents
from firstlight.system.machine import cores

MOST = 8
"""The most rows or drawings that one becomes: a sweep of many values has drawings of its own."""


def of_run(workloads: Mapping[str, Workload], run: Run) -> dict[str, Workload]:
    """Return the workloads of a run: those of the catalogue with its settings, and those that it includes."""
    return apply_settings(
        together(workloads, run.brought), run.settings, replaced(run.settings, run.descriptions.values())
    )


Replaced = Mapping[str, Collection[str]]
"""For each workload, the parameters without meaning in a run, because the user set files that replace them."""


def replaced(settings: Settings, descriptions: Iterable[Description]) -> dict[str, set[str]]:
    """Return the parameters that files replace in all cases of a run with these settings, according to its programs."""
    found: dict[str, set[str]] = {}
    for described in descriptions:
        given = settings.get(described.workload, {})
        for p in described.parameters:
            values = given.get(p.replaced_by, ())
            if values and all(map(documents.is_document, values)):
                found.setdefault(described.workload, set()).add(p.name)
    return found


def apply_settings(
    workloads: Mapping[str, Workload], settings: Settings, without: Replaced = NONE
) -> dict[str, Workload]:
    """Return the workloads of a run with these settings, `without` the parameters that files replace."""
    return {
        name: _apply(w, settings[name], without.get(name, ())) if name in settings else w
        for name, w in workloads.items()
    }


def _apply(workload: Workload, given: Mapping[str, Sequence[Value]], without: Collection[str]) -> Workload:
    def instead(where: Mapping[str, Value]) -> list[dict[str, Value]]:
        return _instead({name: v for name, v in where.items() if name not in without}, given)

    rows: list[Row] = []
    for row in sorted(workload.rows, key=lambda row: instead(row.where) != [row.where]):
        for where in instead(row.where):
            new = row if where == row.where else _renamed(workload, row, where)
            same = next((k for k, known in enumerate(rows) if _same_question(known, new)), None)
            if same is None:
                rows.append(new)
            elif new.headline:
                rows[same] = replace(rows[same], headline=True)
    plots: list[Plot] = []
    for plot in workload.plots:
        new_ones = (replace(plot, where=where) for where in instead(plot.where))
        plots += [new for new in new_ones if new not in plots]
    return replace(workload, rows=tuple(rows), plots=tuple(plots))


def _renamed(workload: Workload, row: Row, where: dict[str, Value]) -> Row:
    """Return the row with the user's values, which may make small messages large."""
    purpose = by_size(workload.roles, where) if row.purpose in BY_SIZE else row.purpose
    return replace(row, where=where, title=_title(workload, row, where), purpose=purpose)


def _same_question(row: Row, new: Row) -> bool:
    return row.title == new.title or row == replace(new, title=row.title, order=row.order, headline=row.headline)


def _instead(where: Mapping[str, Value], given: Mapping[str, Sequence[Value]]) -> list[dict[str, Value]]:
    """Return the conditions with the measured values instead of the declared ones."""
    changed = {name: given[name] for name in where if name in given and where[name] not in given[name]}
    choices = islice(product(*changed.values()), MOST)
    return [{**where, **dict(zip(changed, choice, strict=True))} for choice in choices]


def _title(workload: Workload, row: Row, where: Mapping[str, Value]) -> str:
    values = [formatting.value(k, v) if isinstance(v, str) else formatting.values([(k, v)]) for k, v in where.items()]
    if not isinstance(row.ranks, int):
        on = "all GPUs"
    else:
        on = "GPU" if row.device else count(row.ranks, "rank") if row.ranks > 1 else _cores(row.threads)
    several = len({row.metric for row in workload.rows}) > 1
    return f"{workload.title}{f', {row.metric}' if several else ''}: {', '.join([*values, on])}"


def _cores(threads: int | str) -> str:
    named = {cores.ALL: "all cores", cores.ALL_THREADS: "all hardware threads"}
    return named.get(str(threads)) or count(int(threads), "core")
