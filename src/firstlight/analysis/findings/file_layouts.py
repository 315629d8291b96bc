"""One layout of files is much slower than another: a shared file, or a file for each process."""

from __future__ import annotations

from firstlight.analysis import Finding, Judgement
from firstlight.analysis.findings._storage import differences, finding
from firstlight.model.catalogue import Workload

THRESHOLD = 0.3


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    some = list(differences(judgement, workloads, lambda role: role.layout, THRESHOLD))
    words = "if your program can choose its file layout, use the faster one"
    return [finding(judgement, "file_layouts", some, words, 47)] if some else []
