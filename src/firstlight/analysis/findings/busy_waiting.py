"""MPI processes that burn CPU time while they wait: harmless with a processor each, costly with fewer (R1)."""

from __future__ import annotations

from firstlight.analysis import Finding, Judgement, provenance
from firstlight.analysis.findings._common import SHOWN, command, grouped, mpi_label, once, shown, target
from firstlight.analysis.formatting import listing
from firstlight.analysis.roles import played, players
from firstlight.analysis.verdict import Verified
from firstlight.core.roles import BUSY_WAITING
from firstlight.core.units import significant
from firstlight.model.catalogue import Workload

BUSY = 50.0  # percent of the waiting time


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    some = played(judgement.figures, players(workloads, BUSY_WAITING), judgement.run.machine)
    shares = [p.figure for p in some if p.figure.unit == "%" and p.identity.mpi]
    most = {mpi: max(some, key=_share) for mpi, some in grouped(shares, lambda f: f.identity.mpi).items()}
    busy = {mpi: f for mpi, f in most.items() if _share(f) >= BUSY}
    if not busy:
        return []
    quiet = [mpi_label(judgement.run, mpi) for mpi in most if mpi not in busy]
    named = [f"{mpi_label(judgement.run, mpi)} ({_share_text(f)})" for mpi, f in busy.items()]
    keep = "keeps" if len(busy) == 1 else "keep"
    calm = f"; {listing(quiet)} {'does' if len(quiet) == 1 else 'do'} not" if quiet else ""
    return [
        Finding(
            rule="busy_waiting",
            sentence=(
                f"{listing(named)} {keep} a processor busy while a process waits{calm}: with more ranks than "
                "processors, waiting ranks slow down the others"
            ),
            evidence=tuple(shown(judgement, f) for f in list(most.values())[:SHOWN]),
            command=command(
                *once(target(f.identity) for f in busy.values()),
                mpi=next(iter(busy)) if len(busy) == 1 else None,
            ),
            weight=42,
            about=tuple(f.identity for f in busy.values()),
        )
    ]


def _share(figure: Verified) -> float:
    return figure.estimate.median


def _share_text(figure: Verified) -> str:
    return provenance.number(f"{significant(_share(figure), 2)} %", "a", "%", (figure,))
