"""Cold reads are faster than the device delivers by itself: a cache below the operating system answers them."""

from __future__ import annotations

from collections.abc import Iterator

from firstlight.analysis import Finding, Judgement, provenance, ranking
from firstlight.analysis.findings._common import SHOWN, clearly, command, gain, grouped, once, shown, target
from firstlight.analysis.roles import RoleFigure, played, players
from firstlight.analysis.verdict import Verified
from firstlight.core.roles import DEVICE_TRANSFER, FILE_TRANSFER
from firstlight.model.catalogue import Workload

THRESHOLD = 0.5  # reading ahead keeps a device busier than one transfer after the other


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    pairs = sorted(_pairs(judgement, workloads), key=lambda pair: -gain(*pair).value)
    if not pairs:
        return []
    read, direct = pairs[0]
    host = ": on a virtual machine the host may also cache files" if judgement.run.machine.virtual else ""
    return [
        Finding(
            rule="reads_beyond_device",
            sentence=(
                f"cold reads by {target(read.identity)} are {provenance.times(read, direct)} faster than "
                f"{target(direct.identity)}, which does not use the page cache; a device cache or read-ahead may "
                f"supply the data{host}"
            ),
            evidence=tuple(shown(judgement, f) for pair in pairs[: SHOWN // 2] for f in pair),
            command=command(*once(target(f.identity) for pair in pairs[:SHOWN] for f in pair)),
            weight=40,
            about=tuple(f.identity for pair in pairs[:SHOWN] for f in pair),
        )
    ]


def _pairs(judgement: Judgement, workloads: dict[str, Workload]) -> Iterator[tuple[Verified, Verified]]:
    """Yield reads and the best transfer without the page cache of the same case, if the reads are clearly faster."""
    machine = judgement.run.machine

    def case(p: RoleFigure) -> tuple[object, ...]:
        return p.identity.workload, p.identity.mpi, p.identity.placement, p.identity.parameters, p.identity.metric

    direct = grouped(played(judgement.figures, players(workloads, DEVICE_TRANSFER), machine), case)
    for p in played(judgement.figures, players(workloads, FILE_TRANSFER), machine):
        best = ranking.best([other.figure for other in direct.get(case(p), [])]) if p.operation == "read" else None
        if best is not None and clearly(gain(p.figure, best), THRESHOLD):
            yield p.figure, best
