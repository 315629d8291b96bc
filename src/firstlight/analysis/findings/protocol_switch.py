"""A message that lasts much longer than a slightly smaller one: the MPI library changes its protocol between them.

Most libraries copy small messages through buffers of their own. Larger ones wait until the receiver is ready.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from firstlight.analysis import Finding, Judgement, provenance
from firstlight.analysis.findings._common import clearly, command, gain, grouped, shown, target
from firstlight.analysis.formatting import mpi_name
from firstlight.analysis.roles import RoleFigure, played, players
from firstlight.analysis.verdict import Verified
from firstlight.core.roles import PLAIN_MESSAGE
from firstlight.model.catalogue import Workload
from firstlight.results.record import Run
from firstlight.system import mpi_families

JUMP = 1.3
"""How many times longer a message lasts than its size explains, at least."""
NEAR = 2.1  # sizes are neighbours up to this ratio
LARGEST = 262144  # bytes: beyond it every library has changed its protocol


class Jump(NamedTuple):
    """The time grows by `factor` from `before` to `after`; `excess`: how many times more than the size does."""

    excess: float
    factor: float
    before: RoleFigure
    after: RoleFigure


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    messages = played(judgement.figures, players(workloads, PLAIN_MESSAGE), judgement.run.machine)
    with_mpi = (p for p in messages if p.identity.mpi and 0 < (p.size or 0) <= LARGEST)
    lines = grouped(with_mpi, lambda p: (p.program, p.identity.mpi, p.identity.toolchain, p.identity.placement))
    strongest: dict[str, Jump] = {}
    for line in lines.values():
        for jump in _jumps(sorted(line, key=lambda p: p.size or 0.0)):
            mpi = jump.after.identity.mpi or ""
            if mpi not in strongest or jump.excess > strongest[mpi].excess:
                strongest[mpi] = jump
    return [_finding(judgement, jump) for jump in strongest.values()]


def _jumps(line: list[RoleFigure]) -> Iterator[Jump]:
    for a, b in pairwise(line):
        if a.size is None or b.size is None or b.size > NEAR * a.size:
            continue
        found = gain(a.figure, b.figure)
        excess = found.value / (b.size / a.size)
        if excess >= JUMP and clearly(found, b.size / a.size - 1):
            yield Jump(excess, found.value, a, b)


def _finding(judgement: Judgement, jump: Jump) -> Finding:
    before, after = jump.before, jump.after
    i, name = after.identity, mpi_name(judgement.run, after.identity.mpi or "")
    return Finding(
        rule="protocol_switch",
        sentence=(
            f"with {name} a message of {_bytes(after)} lasts {provenance.times(before.figure, after.figure)} as long "
            f"as one of {_bytes(before)} ({_medians(before.figure, after.figure)}): the library probably changes "
            f"its protocol between these sizes. Keep frequent messages below {_bytes(after)}, or send many of them as "
            f"one{_limit(judgement.run, i.mpi)}"
        ),
        evidence=(shown(judgement, before.figure), shown(judgement, after.figure)),
        command=command(target(i), toolchains=[i.toolchain], mpi=i.mpi),
        weight=45 + min(9.0, math.log(jump.factor)),
        about=(before.identity, i),
    )


def _medians(before: Verified, after: Verified) -> str:
    return f"{provenance.median(after)} instead of {provenance.median(before)}"


def _bytes(p: RoleFigure) -> str:
    """Return `4096 B`: exact, because neighbours differ by few bytes."""
    formula = f"{p.role.bytes_per_element} * a[{p.role.size!r}]"
    return provenance.parameter(f"{p.size or 0.0:.0f} B", p.figure, formula, "B")


def _limit(run: Run, mpi: str | None) -> str:
    """Return `. OMPI_MCA_... raises the limit, for more memory per peer`; "" if no variable of the family is known."""
    library = run.toolbox.mpi(mpi)
    variable = mpi_families.of(library.family).eager_limit(library.version) if library else ""
    return f". {variable} sets the limit within a node; a higher one needs more memory per process" if variable else ""
