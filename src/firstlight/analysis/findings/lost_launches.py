"""Launches that hung, aborted or left no complete record."""

from __future__ import annotations

from collections import Counter

from firstlight.analysis import Finding, Judgement
from firstlight.analysis.evidence import why_lost
from firstlight.analysis.findings._common import SHOWN, command, once
from firstlight.model.catalogue import Workload
from firstlight.model.plan import Cell

OF_RESULTS = True


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    if not judgement.lost:
        return []
    cells = {c.id: c for c in judgement.run.cells}
    lost = [(cells[r.start.cell], r) for r in judgement.records if r.start.cell in cells]
    reasons = [(cell, reason) for cell, r in lost if (reason := why_lost(cell, r))]
    n, total = len(judgement.lost), len(judgement.records)
    often = Counter(reason for _, reason in reasons).most_common(1)
    of = f"{n} of {total} launches {'was' if n == 1 else 'were'} lost"
    mostly = "mostly: " if len({reason for _, reason in reasons}) > 1 else ""
    return [
        Finding(
            rule="lost_launches",
            sentence=f"{of}: {mostly}{often[0][0]}" if often else of,
            evidence=judgement.lost[:SHOWN],
            command=_again([cell for cell, _ in reasons]),
            weight=70 + 9 * n / max(n, total),
        )
    ]


def _again(cells: list[Cell]) -> str:
    programs = [c.program for c in cells]
    mpis = once(p.mpi for p in programs)
    return command(
        *(p.target for p in programs),
        toolchains=[p.toolchain for p in programs],
        mpi=mpis[0] if len(mpis) == 1 else None,
    )
