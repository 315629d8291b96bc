"""A small write is durable in no time, on a file system with a device: fsync may have no effect."""

from __future__ import annotations

from firstlight.analysis import Finding, Judgement, provenance
from firstlight.analysis.findings._common import SHOWN, command, once, shown, target
from firstlight.analysis.findings._storage import IN_MEMORY
from firstlight.analysis.roles import played, players
from firstlight.core.roles import SMALL_SYNC
from firstlight.model.catalogue import Workload

LEAST = 10e-6  # seconds: fast devices with protected caches need more


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    machine = judgement.run.machine
    kinds = {one.name: one.type for one in machine.storage}
    found = []
    for p in played(judgement.figures, players(workloads, SMALL_SYNC), machine):
        name, seconds = str(dict(p.identity.parameters).get(p.role.target, "")), p.seconds()
        if kinds.get(name, "") not in ("", *IN_MEMORY) and seconds is not None and seconds < LEAST:
            found.append((name, p.figure))
    if not found:
        return []
    name, figure = found[0]
    return [
        Finding(
            rule="sync_without_effect",
            sentence=(
                f"fsync after a small write on target {name} ({kinds[name]}) lasts {provenance.median(figure)}, "
                "faster than any device: fsync may have no effect, and a power failure may lose data"
            ),
            evidence=tuple(shown(judgement, f) for _, f in found[:SHOWN]),
            command=command(*once(target(f.identity) for _, f in found)),
            weight=58,
            about=tuple(f.identity for _, f in found),
        )
    ]
