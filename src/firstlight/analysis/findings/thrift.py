"""Thrift: the fastest choice of flags, ranks or threads needs more energy for the same work than another."""

from __future__ import annotations

import math

from firstlight.analysis import Finding, Judgement, provenance
from firstlight.analysis.findings._common import command, shown, target, without_defaults
from firstlight.analysis.formatting import values
from firstlight.analysis.thrift import Conflict, conflicts
from firstlight.model.catalogue import Workload

MOST = 3
"""Maximum number of findings; the drawing shows the first of them."""


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    return [_finding(judgement, one) for one in conflicts(judgement)[:MOST]]


def _finding(judgement: Judgement, one: Conflict) -> Finding:
    fastest, thriftiest = one.fastest, one.thriftiest
    identity = without_defaults(judgement, fastest.speed.identity)
    case = f" ({values(identity.parameters)})" if identity.parameters else ""
    sentence = (
        f"{target(identity)}{case} is fastest with {fastest.label}; {thriftiest.label} needs "
        f"{provenance.times(thriftiest.thrift, fastest.thrift)} less energy and "
        f"{provenance.times(fastest.speed, thriftiest.speed)} more time"
    )
    chains = [pair.speed.identity.toolchain for pair in (fastest, thriftiest)]
    return Finding(
        rule="thrift",
        sentence=sentence,
        evidence=tuple(shown(judgement, f) for pair in (thriftiest, fastest) for f in (pair.thrift, pair.speed)),
        command=command(target(identity), toolchains=chains, mpi=fastest.speed.identity.mpi),
        weight=40 + min(9.0, math.log(one.saved)),
        about=tuple(f.identity for pair in (thriftiest, fastest) for f in (pair.thrift, pair.speed)),
    )
