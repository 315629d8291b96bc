"""One file system is much slower than another one of the same machine."""

from __future__ import annotations

from firstlight.analysis import Finding, Judgement
from firstlight.analysis.findings._storage import IN_MEMORY, differences, finding
from firstlight.model.catalogue import Workload

THRESHOLD = 0.5


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    memory = {one.name for one in judgement.run.machine.storage if one.type in IN_MEMORY}
    some = list(differences(judgement, workloads, lambda role: role.target, THRESHOLD, without=memory))
    words = "write large files to the faster target"
    return [finding(judgement, "storage_targets", some, words, 52)] if some else []
