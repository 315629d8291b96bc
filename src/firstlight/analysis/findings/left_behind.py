"""Processes that outlived their launcher: they would have disturbed every measurement after them (R1)."""

from __future__ import annotations

from firstlight.analysis import Finding, Judgement
from firstlight.analysis.findings._common import SHOWN, command, grouped, mpi_label, once
from firstlight.analysis.formatting import listing
from firstlight.model.catalogue import Workload

OF_RESULTS = True


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    cells = {c.id: c for c in judgement.run.cells}
    left = [(cells[r.start.cell], r) for r in judgement.records if r.exit.left > 0 and r.start.cell in cells]
    found = []
    for mpi, some in grouped(left, lambda x: x[0].program.mpi).items():
        programs = [cell.program for cell, _ in some]
        who = mpi_label(judgement.run, mpi) if mpi else "a launch without MPI"
        total, launches = sum(r.exit.left for _, r in some), len(some)
        when = " after an abort" if not any(r.exit.ok for _, r in some) else ""
        of = "a launch" if launches == 1 else f"{launches} launches"
        named = listing(once(p.target for p in programs)[:3])
        found.append(
            Finding(
                rule="left_behind",
                sentence=f"{who} leaves processes behind{when}: {total} in {of} of {named} had to be ended",
                evidence=tuple(
                    f"{cell.id}, launch {r.start.launch}: {r.exit.left} left ({r.exit.reason or 'ended well'})"
                    for cell, r in some[:SHOWN]
                ),
                command=command(
                    *once(p.target for p in programs), toolchains=once(p.toolchain for p in programs), mpi=mpi
                ),
                weight=65,
            )
        )
    return found
