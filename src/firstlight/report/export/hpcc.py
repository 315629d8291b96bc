"""HPC Challenge: its names and rules alongside the figures of a run, for a centre that used its summary so far.

hpcc.toml lists what HPC Challenge prints; the workload declares the corresponding row and the differences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from firstlight.analysis import Judgement, ranking
from firstlight.analysis.formatting import values, where
from firstlight.analysis.verdict import Verified
from firstlight.core import reading
from firstlight.core.units import convert, significant
from firstlight.model.catalogue import Elsewhere, Row, Workload
from firstlight.model.plan.selectors import in_row
from firstlight.report.ink import wrap

SUITE = "hpcc"
_WIDTH = 100


class Known(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A figure under HPC Challenge's name."""

    name: str
    unit: str
    rule: str


class _Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    figures: tuple[Known, ...]


class Line(msgspec.Struct, frozen=True):
    """One of its names, and what stands for it; `value` in its unit, None with a `reason`."""

    known: Known
    value: float | None = None
    figure: Verified | None = None
    declared: Elsewhere | None = None
    reason: str = ""


def known() -> tuple[Known, ...]:
    """Return all names of speeds in HPC Challenge's summary, in their order there."""
    return reading.toml((Path(__file__).parent / f"{SUITE}.toml").read_bytes(), _Document).figures


def lines(judgement: Judgement, workloads: Mapping[str, Workload]) -> list[Line]:
    """Return one line for each name in HPC Challenge."""
    declared = {e.name: (w, e) for w in workloads.values() for e in w.elsewhere if e.suite == SUITE}
    return [_line(judgement, one, *declared[one.name]) if one.name in declared else _none(one) for one in known()]


def _none(one: Known) -> Line:
    return Line(one, reason="no figure of firstlight corresponds to this name")


def _line(judgement: Judgement, one: Known, workload: Workload, declared: Elsewhere) -> Line:
    row = next(row for row in workload.rows if row.title == declared.row)
    machine = judgement.run.machine
    found = [f for f in judgement.figures if in_row(f.identity, row, workload, machine)]
    best = ranking.best(f for f in found if isinstance(f, Verified))
    if best is None:
        return Line(one, declared=declared, reason=_reason(row, workload, measured=bool(found)))
    value = convert(best.estimate.median, best.unit, one.unit)
    if value is None:
        return Line(one, declared=declared, reason=f"{best.unit} cannot be converted to {one.unit}")
    place = best.identity.placement
    cores = place.ranks * place.threads if declared.per_core else 1
    return Line(one, value * declared.scale / cores, best, declared)


def _reason(row: Row, workload: Workload, measured: bool) -> str:
    if measured:
        return f"{row.title}: no verified figure; `./fl figures --failed` shows why"
    return f"{row.title}: not measured; `./fl run {workload.name} --standard` measures it"


def to_summary(found: list[Line]) -> str:
    """Return the summary in the format of HPC Challenge; a name without a verified figure has no line."""
    lines = [f"{line.known.name}={line.value:.6g}" for line in found if line.value is not None]
    return "\n".join(["Begin of Summary section.", *lines, "End of Summary section.", ""])


def to_table(judgement: Judgement, found: list[Line]) -> str:
    """Return a table for people: each name with its rule, our figure, and the differences."""
    shown = sum(line.value is not None for line in found)
    run = judgement.run
    head = f"{shown} of {len(found)} figures of HPC Challenge, from run {run.id} on {run.machine.title}"
    text = [head, ""]
    for line in found:
        value = "none" if line.value is None else f"{significant(line.value)} {line.known.unit}"
        text += [f"{line.known.name}: {value}", *_folded("rule", line.known.rule), *_ours(line), ""]
    return "\n".join(text)


def _ours(line: Line) -> Iterator[str]:
    if line.reason:
        yield from _folded("firstlight", line.reason)
    if line.figure is not None and line.declared is not None:
        who = line.figure.identity
        tools = who.toolchain + (f", {who.mpi}" if who.mpi else "")
        what = ", ".join(x for x in (values(who.parameters), where(who.placement)) if x)
        scaled = f"; times {significant(line.declared.scale)}" if line.declared.scale != 1 else ""
        shared = "; divided by the number of cores" if line.declared.per_core else ""
        yield from _folded(
            "firstlight", f"{line.declared.row}: {who.workload}.{who.variant} ({tools}), {what}{scaled}{shared}"
        )
    if line.declared is not None:
        yield from _folded("differences", line.declared.differs or "none")


def _folded(head: str, text: str) -> list[str]:
    return wrap(f"{head}: {text}", _WIDTH, "    ", "      ")
