"""MPI libraries that differ on the same program, summarised for small and for large messages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from firstlight.analysis import Finding, Judgement, provenance
from firstlight.analysis.findings._common import (
    SHOWN,
    apart,
    command,
    grouped,
    mpi_label,
    shown,
    target,
    verified,
    without_defaults,
)
from firstlight.analysis.formatting import values
from firstlight.analysis.verdict import Verified
from firstlight.core.units import binary
from firstlight.model.catalogue import Workload

THRESHOLD = 0.05
SMALL, LARGE = 4096, 32768  # bytes: up to which a message is small, from which on it is large


class Difference(NamedTuple):
    """Two MPI libraries on the same case. `message`: bytes of one message; None if no parameter sets them."""

    factor: float
    winner: Verified
    loser: Verified
    message: float | None


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    found = []
    for _, differences in grouped(_differences(judgement), lambda d: d.winner.identity.workload).items():
        chosen = _chosen(differences)
        i = chosen[0].winner.identity
        strongest = max(d.factor for d in chosen)
        pairs = [f for d in chosen for f in (d.winner, d.loser)]
        found.append(
            Finding(
                rule="mpi_differs",
                sentence=_sentence(judgement, chosen),
                evidence=tuple(shown(judgement, f) for f in pairs[:SHOWN]),
                command=command(*(target(d.winner.identity) for d in chosen), toolchains=[i.toolchain]),
                weight=60 + min(9.0, math.log(strongest)),
                about=tuple(f.identity for f in pairs),
            )
        )
    return found


def _differences(judgement: Judgement) -> Iterator[Difference]:
    """Yield the best and the worst MPI library for each case that several measured, if they clearly differ."""
    with_mpi = [f for f in verified(judgement) if f.identity.mpi]
    cases = grouped(
        with_mpi,
        lambda f: (
            target(f.identity),
            f.identity.toolchain,
            f.identity.placement,
            f.identity.parameters,
            f.identity.metric,
        ),
    )
    for figures in cases.values():
        if found := apart(figures, THRESHOLD):
            factor, winner, loser = found
            yield Difference(factor, winner, loser, _message(winner))


def _message(figure: Verified) -> float | None:
    """Return the bytes of one message: those of a step divided by its messages, if a parameter has that value.

    Otherwise the step has simultaneous messages: `messages` counts only those of a chain, one after the other.
    """
    total, messages = figure.cost.get("message_bytes"), figure.cost.get("messages")
    size = total / messages if total and messages else None
    return size if size in dict(figure.identity.parameters).values() else None


def _size(d: Difference) -> str:
    """Return the bytes of one message: the declared bytes of a step divided by its messages."""
    return provenance.number(
        binary(d.message or 0.0), "cost(a, 'message_bytes') / cost(a, 'messages')", "B", (d.winner,)
    )


def _chosen(differences: list[Difference]) -> list[Difference]:
    """Choose the strongest for large messages (a rate) and the smallest small one (a time); else the strongest."""
    large = [d for d in differences if d.message is not None and d.message >= LARGE and d.winner.better == "higher"]
    small = [d for d in differences if d.message is not None and d.message <= SMALL and d.winner.better == "lower"]
    chosen = [max(large, key=lambda d: d.factor)] if large else []
    chosen += [min(small, key=lambda d: (d.message or 0, -d.factor))] if small else []
    return chosen or [max(differences, key=lambda d: d.factor)]


def _sentence(judgement: Judgement, chosen: Iterable[Difference]) -> str:
    """Return `Open MPI's bandwidth is 1.6 x higher than MPICH's (1 MiB messages of pingpong.mpi_blocking); ...`."""
    parts, before = [], ("", "")
    for d in chosen:
        winner, loser = (mpi_label(judgement.run, f.identity.mpi) for f in (d.winner, d.loser))
        than = "" if before in ((winner, loser), (loser, winner)) else f" than {loser}"
        theirs = than and f"{than}'s"
        messages = "" if d.message is None else f"{_size(d)} messages of {target(d.winner.identity)}"
        by = provenance.times(d.winner, d.loser)
        if d.message is None:
            case = values(without_defaults(judgement, d.winner.identity).parameters)
            what = target(d.winner.identity) + (f" ({case})" if case else "")
            parts.append(f"{winner} makes {what} {by} faster{than}")
        elif d.winner.better == "higher":
            parts.append(f"{winner}'s bandwidth is {by} higher{theirs} ({messages})")
        elif d.message <= SMALL:
            parts.append(f"{winner}'s latency is {by} lower{theirs} ({messages})")
        else:
            parts.append(f"{winner} is {by} faster{than} ({messages})")
        before = (winner, loser)
    return "; ".join(parts)
