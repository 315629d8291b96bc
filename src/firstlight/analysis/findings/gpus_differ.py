"""GPUs of one node that are not alike: the same program, alone on each of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from firstlight.analysis import Finding, Judgement, provenance
from firstlight.analysis.findings._common import (
    SHOWN,
    apart,
    command,
    grouped,
    shown,
    target,
    verified,
    without_defaults,
)
from firstlight.analysis.formatting import values
from firstlight.analysis.verdict import Verified
from firstlight.model.catalogue import Workload

THRESHOLD = 0.05


class Difference(NamedTuple):
    """The best of a node's GPUs against the worst in one case."""

    factor: float
    winner: Verified
    loser: Verified
    all: tuple[Verified, ...]


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    found = []
    for what, some in grouped(_differences(judgement), lambda d: target(d.winner.identity)).items():
        worst = max(some, key=lambda d: d.factor)
        quick, slow = worst.winner.identity, worst.loser.identity
        case = values(without_defaults(judgement, slow).parameters)
        found.append(
            Finding(
                rule="gpus_differ",
                sentence=(
                    f"the GPUs of a node differ: {what}{f', {case}' if case else ''}, is "
                    f"{provenance.times(worst.winner, worst.loser)} faster on GPU "
                    f"{quick.placement.gpu} than on GPU {slow.placement.gpu}"
                ),
                evidence=tuple(shown(judgement, f) for f in worst.all[:SHOWN]),
                command=command(what, toolchains=[slow.toolchain]),
                weight=60 + min(9.0, math.log(worst.factor)),
                about=tuple(f.identity for f in worst.all),
            )
        )
    return found


def _differences(judgement: Judgement) -> Iterator[Difference]:
    on_one = [f for f in verified(judgement) if f.identity.placement.gpu is not None]
    cases = grouped(
        on_one, lambda f: (target(f.identity), f.identity.toolchain, f.identity.parameters, f.identity.metric)
    )
    for figures in cases.values():
        if found := apart(figures, THRESHOLD):
            factor, winner, loser = found
            yield Difference(
                factor, winner, loser, (winner, loser, *(f for f in figures if f is not winner and f is not loser))
            )
