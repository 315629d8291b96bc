"""Flags that harm: a set of flags that should be better makes a variant slower than a lesser one of the same compiler.

`native` permits all that `base` permits and more, `fast` all that `native` permits and more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from firstlight.analysis import Finding, Judgement, provenance
from firstlight.analysis.findings._common import (
    SHOWN,
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
from firstlight.toolchain.flag_sets import FLAG_SETS

WORTH = 0.15  # a loss of less is in the table, not in the findings


class Harm(NamedTuple):
    """The figure of the better flags is `factor` times worse than that of the lesser flags."""

    factor: float
    lesser: Verified
    better: Verified


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    harms = [
        h
        for h in _harms(judgement)
        if (w := workloads.get(h.better.identity.workload)) is None or w.toolchain_sensitive
    ]
    found = []
    for what, some in grouped(harms, lambda h: target(h.better.identity)).items():
        some = sorted(some, key=lambda h: -h.factor)
        worst = some[0]
        found.append(
            Finding(
                rule="flags_harm",
                sentence=_sentence(judgement, worst),
                evidence=tuple(shown(judgement, f) for h in some[: SHOWN // 2] for f in (h.better, h.lesser)),
                command=command(what, toolchains=[f.identity.toolchain for f in (worst.better, worst.lesser)]),
                weight=50 + min(9.0, math.log(worst.factor)),
                about=tuple(f.identity for h in some for f in (h.better, h.lesser)),
            )
        )
    return found


def _sentence(judgement: Judgement, h: Harm) -> str:
    """Return `fast flags make dot.unrolled_8 5.8 x slower than native with clang: 3.20 against 18.4 Gflop/s`."""
    i, e, run = h.better.identity, (h.better, h.lesser), judgement.run
    slow, quick = (provenance.median(f) for f in e)
    at = values(without_defaults(judgement, i).parameters)
    return (
        f"{flag_set(run, i.toolchain)} flags make {target(i)} {provenance.times(h.lesser, h.better)} "
        f"slower than {flag_set(run, h.lesser.identity.toolchain)} with {compiler(run, i.toolchain)}: {slow} "
        f"against {quick}" + (f" ({at})" if at else "")
    )


def _harms(judgement: Judgement) -> Iterator[Harm]:
    """Yield every clear loss."""
    run, order = judgement.run, [str(name) for name in FLAG_SETS]
    for figures in by_flags(judgement):
        known = [f for f in figures if flag_set(run, f.identity.toolchain) in order]
        known.sort(key=lambda f: order.index(flag_set(run, f.identity.toolchain)))
        for lesser, better in combinations(known, 2):
            found = gain(lesser, better)
            if clearly(found, WORTH):
                yield Harm(found.value, lesser, better)
