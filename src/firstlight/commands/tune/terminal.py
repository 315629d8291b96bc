"""The terminal page of a tuning."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.commands.tune.choosing import Choice
from firstlight.commands.tune.tuner import Tuned
from firstlight.core import shell
from firstlight.core.units import binary, count, significant
from firstlight.report.ink import hanging

_TARGETS = {"rules": "its own algorithms", "preload": "schedules of the preloaded library"}


def summary(tuned: Tuned, width: int = 80) -> str:
    """Return the page: what is kept, what is not and why, and how to use the written files."""
    kept = tuned.kept
    lines = [f"firstlight · tuned collectives · {count(len(tuned.choices), 'candidate')}, {len(kept)} kept"]
    if not tuned.choices:
        lines += ["", "  no algorithm is faster than the library's own choice by more than 5 %: no file is written"]
    elif not kept:
        lines += ["", "  no file is written: in the trials, no algorithm is faster than the library's own choice"]
    if kept:
        lines += ["", "  written: in the trial, this choice makes the library faster", *_table(kept)]
    lost = [c for c in tuned.choices if not c.kept]
    if lost:
        lines += ["", "  not kept", *_table(lost)]
    if unclear := sum(c.unclear for c in lost):
        lines += ["", f"  {count(unclear, 'trial')} inconclusive: too few launches, or launches that differ too much;"]
        lines.append("  use a larger --budget, fewer collectives or sizes, or an idle machine")
    for written in tuned.files:
        lines += ["", f"  to use {written.file} with {written.mpi}:"]
        lines += [f"    {shell.export(*line.split('=', 1))}" for line in written.lines]
    for absent in tuned.absent:
        lines += hanging(f"- {absent.what}: {absent.why}; {absent.fix}", width)
    lines += ["", f"  measured in run {tuned.measured}" + (f", tried in run {tuned.tried}" if tuned.tried else "")]
    return "\n".join(line.rstrip() for line in lines)


def _table(some: Sequence[Choice]) -> list[str]:
    rows: list[str] = []
    for mpi, target in dict.fromkeys((c.case.mpi, c.case.target) for c in some):
        rows.append(f"  {mpi}, {_TARGETS[target]}:")
        rows += [line for c in some if (c.case.mpi, c.case.target) == (mpi, target) for line in _row(c)]
    return rows


def _row(c: Choice) -> list[str]:
    case = c.case
    gain = "" if c.ratio is None or c.low is None else f"{significant(1 / c.ratio)} x"
    between = "" if c.low is None or c.high is None else f"({significant(1 / c.high)} - {significant(1 / c.low)})"
    where = f"{case.collective:<15}{case.ranks:>3} ranks{'' if case.collective == 'barrier' else binary(case.bytes):>8}"
    line = f"   {where} {c.algorithm[:20]:<21}{gain:>6} {between}"
    return [line] if c.kept else [line, f"      {c.reason}"]
