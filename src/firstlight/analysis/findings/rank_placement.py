"""One placement, mapped to nodes and processors in different ways by different MPI libraries and launchers (R1).

Each rank reports its own binding. The processor numbers do not matter: sockets and caches are alike.
"""

from __future__ import annotations

from collections.abc import Iterator

from firstlight.analysis import Finding, Judgement
from firstlight.analysis.findings._common import SHOWN, command, grouped, mpi_label, once
from firstlight.analysis.formatting import listing, where
from firstlight.analysis.placing import SAME_CORE, SHARED, UNBOUND, Placed, placed
from firstlight.model.catalogue import Workload
from firstlight.model.plan import Placement

OF_RESULTS = True


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    ways = [p for p in placed(judgement) if p.mpi is not None and p.placement.ranks > 1]
    found = []
    for placement, some in grouped(ways, lambda p: p.placement).items():
        sentences = [*_too_few_nodes(judgement, placement, some), *_differences(judgement, some)]
        if not sentences:
            continue
        named = once(w for p in some for w in p.workloads)
        found.append(
            Finding(
                rule="rank_placement",
                sentence=f"{where(placement)}: {'; '.join(sentences)}",
                evidence=tuple(_evidence(judgement, p) for p in some[:SHOWN]),
                command=command(*named[:2]),
                weight=66,
            )
        )
    return found


def _too_few_nodes(judgement: Judgement, placement: Placement, some: list[Placed]) -> Iterator[str]:
    """Yield a sentence for each launcher that used fewer nodes than requested."""
    for p in some:
        if p.launch.nodes < placement.nodes:
            yield f"{mpi_label(judgement.run, p.mpi)} uses {p.launch.nodes} of {placement.nodes} nodes"


def _differences(judgement: Judgement, some: list[Placed]) -> Iterator[str]:
    """Yield how each library mostly places its ranks, if libraries differ: first over nodes, then on processors."""
    usual = {p.mpi: p for p in reversed(some)}  # the most frequent way comes first and stays
    for aspect in ("order", "binding"):
        by_way = grouped(reversed(usual.values()), lambda p: str(getattr(p.arrangement, aspect)))  # noqa: B023 (used at once)
        if len(by_way) > 1:
            yield listing([_does(judgement, aspect, way, of) for way, of in by_way.items()])


def _does(judgement: Judgement, aspect: str, way: str, of: list[Placed]) -> str:
    who = listing([mpi_label(judgement.run, p.mpi) for p in of])
    s = "s" if len(of) == 1 else ""
    if aspect == "order":
        return f"{who} place{s} ranks {way}"
    if way == UNBOUND:
        return f"{who} leave{s} ranks unbound"
    return f"{who} put{s} {way}" if way in (SHARED, SAME_CORE) else f"{who} bind{s} ranks to {way}"


def _evidence(judgement: Judgement, p: Placed) -> str:
    ranks = sorted(p.launch.binding, key=lambda b: b.rank)[:4]
    seen = ", ".join(f"rank {b.rank} on node {b.node}, CPUs {' '.join(map(str, b.cpus[:8]))}" for b in ranks)
    n = p.launches
    return f"{mpi_label(judgement.run, p.mpi)}, {n} launch{'' if n == 1 else 'es'} ({p.arrangement.binding}): {seen}"
