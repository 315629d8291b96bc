"""Small transfers reach a small part of the bandwidth of large ones."""

from __future__ import annotations

from firstlight.analysis import Finding, Judgement
from firstlight.analysis.findings._storage import differences, finding
from firstlight.model.catalogue import Workload

THRESHOLD = 2.0


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    some = list(differences(judgement, workloads, lambda role: role.size, THRESHOLD))
    words = "collect small records in a buffer before writing or reading them"
    return [finding(judgement, "small_transfers", some, words, 44)] if some else []
