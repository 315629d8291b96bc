"""A collective that is slow for large messages: compared with another library's, or with a sum on top of its own.

In R1, the reduction of one MPI library reached 1862 Mbit/s, and a hypercube over the same library 9309 Mbit/s.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from firstlight.analysis import Finding, Judgement, provenance
from firstlight.analysis.findings._common import SHOWN, clearly, command, gain, grouped, mpi_label, shown
from firstlight.analysis.formatting import listing, where
from firstlight.analysis.roles import RoleFigure, played, players
from firstlight.core.roles import LIBRARY_SUM
from firstlight.core.shell import command as hint
from firstlight.core.units import binary
from firstlight.model.catalogue import LARGE, Workload
from firstlight.model.plan import Placement
from firstlight.results.record import Run

THRESHOLD = 0.15


class Defeat(NamedTuple):
    """A collective and the best alternative that clearly beats it. `own`: the alternative uses the same library."""

    factor: float
    loser: RoleFigure
    winner: RoleFigure
    own: bool


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    found = []
    sums = _sums(judgement, workloads)
    for mpi, defeats in grouped(_defeats(sums), lambda d: d.loser.identity.mpi).items():
        worst = max(defeats, key=lambda d: d.factor)
        chosen = [d for d in defeats if _case(d.loser) == _case(worst.loser)]
        pairs = {p.identity: p for d in chosen for p in (d.loser, d.winner)}
        library = mpi if all(d.own for d in chosen) else None
        beaten = sorted({_bytes(d.loser) for d in defeats if _series(d.loser) == _series(worst.loser)})
        alike = {_bytes(p): p for p in sums if p.by_library and _series(p) == _series(worst.loser)}
        where_poor = at(beaten, sorted(alike), lambda size: _size(alike[size]))  # noqa: B023 (used at once)
        found.append(
            Finding(
                rule="poor_collective",
                sentence=f"{mpi_label(judgement.run, mpi)}'s {worst.loser.role.call} is slow {where_poor}: "
                + _sentence(judgement.run, chosen),
                evidence=tuple(shown(judgement, p.figure) for p in pairs.values())[:SHOWN],
                command=command(*(p.program for p in pairs.values()), mpi=library),
                weight=65 + min(9.0, math.log(max(d.factor for d in chosen))),
                about=tuple(pairs),
            )
        )
    return found


def at(beaten: Sequence[float], measured: Sequence[float], form: Callable[[float], str] = binary) -> str:
    """Return the sizes with and without the defeat, among those measured: `at 512 KiB and 1 MiB, not at 8 MiB`."""
    spared = [x for x in measured if x not in beaten]
    where, free = _sizes(beaten, measured, form), _sizes(spared, measured, form)
    return where + (f", not {free}" if free else "")


def _sizes(some: Sequence[float], measured: Sequence[float], form: Callable[[float], str]) -> str:
    """Return `from 256 KiB to 2 MiB` if no measured size in between is missing, else each size."""
    between = [x for x in measured if some and some[0] <= x <= some[-1]]
    if len(some) > 2 and len(between) == len(some):
        return f"from {form(some[0])} to {form(some[-1])}"
    return f"at {listing([form(x) for x in some])}" if some else ""


def _sums(judgement: Judgement, workloads: Mapping[str, Workload]) -> list[RoleFigure]:
    """Return the sums of vectors that are large enough to exclude latency."""
    known = players(workloads, LIBRARY_SUM)
    return [p for p in played(judgement.figures, known, judgement.run.machine) if p.identity.mpi and _bytes(p) >= LARGE]


def _defeats(sums: Sequence[RoleFigure]) -> Iterator[Defeat]:
    """Yield defeats for each case: by the best route over the same library, and by the best other library."""
    for some in grouped(sums, _case).values():
        for loser in (p for p in some if p.by_library):
            own = [p for p in some if p.identity.mpi == loser.identity.mpi and p is not loser]
            others = [p for p in some if p.identity.mpi != loser.identity.mpi and p.by_library]
            for rivals, same in ((own, True), (others, False)):
                winner = min(rivals, key=lambda p: p.figure.estimate.median, default=None)
                if winner is not None and clearly(lead := gain(winner.figure, loser.figure), THRESHOLD):
                    yield Defeat(lead.value, loser, winner, same)


def _case(p: RoleFigure) -> tuple[str, str, Placement, tuple[tuple[str, int | float | str], ...]]:
    i = p.identity
    return i.workload, i.toolchain, i.placement, i.parameters


def _series(p: RoleFigure) -> tuple[object, ...]:
    """Return the key of all sizes of one program on one placement."""
    i = p.identity
    others = tuple(x for x in i.parameters if x[0] != p.role.size)
    return i.workload, i.variant, i.toolchain, i.mpi, i.placement, others


def _bytes(p: RoleFigure) -> float:
    return p.size or 0.0


def _sentence(run: Run, chosen: list[Defeat]) -> str:
    """Return `with 8 MiB over 2 ranks, it lasts 5.0 x as long as ring with messages of the same library`."""
    loser, parts = chosen[0].loser, []
    for d in chosen:
        library = mpi_label(run, d.winner.identity.mpi)
        rival = f"{d.winner.title} with messages of the same library" if d.own else f"{library}'s"
        by = provenance.times(d.winner.figure, d.loser.figure)
        parts.append(f"{by} as long as {rival}")
    advice = f"; {hint('tune', 'collectives')} may find faster settings" if any(d.own for d in chosen) else ""
    return f"with {_size(loser)} over {where(loser.identity.placement)}, it lasts {listing(parts)}{advice}"


def _size(p: RoleFigure) -> str:
    formula = f"{p.role.bytes_per_element:g} * a[{p.role.size!r}]"
    return provenance.parameter(binary(_bytes(p)), p.figure, formula, "B")
