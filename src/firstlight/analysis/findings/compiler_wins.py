"""The gain from better flags: the largest verified gain of a flag set over base, one finding per workload."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from firstlight.analysis import Finding, Judgement, provenance
from firstlight.analysis.findings._common import (
    by_flags,
    clearly,
    command,
    compiler,
    flag_set,
    gain,
    grouped,
    shown,
    target,
    without_defaults,
)
from firstlight.analysis.formatting import values
from firstlight.analysis.verdict import Verified
from firstlight.model.catalogue import Workload

WORTH = 0.2  # a gain of less than 20 % is in the table, not in the findings


class Win(NamedTuple):
    factor: float
    best: Verified
    base: Verified


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    found = []
    for workload, wins in grouped(_wins(judgement), lambda w: w.best.identity.workload).items():
        if workload in workloads and not workloads[workload].toolchain_sensitive:
            continue
        win = max(wins, key=lambda w: w.factor)
        i, run = win.best.identity, judgement.run
        at = values(without_defaults(judgement, i).parameters)
        found.append(
            Finding(
                rule="compiler_wins",
                sentence=(
                    f"{flag_set(run, i.toolchain)} flags make {target(i)} "
                    f"{provenance.times(win.best, win.base)} faster than base with {compiler(run, i.toolchain)}"
                    + (f" ({at})" if at else "")
                ),
                evidence=(shown(judgement, win.best), shown(judgement, win.base)),
                command=command(target(i), toolchains=[i.toolchain, win.base.identity.toolchain]),
                weight=50 + min(9.0, math.log(win.factor)),
                about=(i, win.base.identity),
            )
        )
    return found


def _wins(judgement: Judgement) -> Iterator[Win]:
    """Yield every clear gain of a flag set over base."""
    run = judgement.run
    for figures in by_flags(judgement):
        base = next((f for f in figures if flag_set(run, f.identity.toolchain) == "base"), None)
        for f in figures:
            if base is not None and f is not base and clearly(found := gain(f, base), WORTH):
                yield Win(found.value, f, base)
