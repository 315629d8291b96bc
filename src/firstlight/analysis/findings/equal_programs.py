"""Builds of an external command that made the same program, byte for byte, with different compilers or flags."""

from __future__ import annotations

from firstlight.analysis import Finding, Judgement
from firstlight.analysis.findings._common import SHOWN, grouped, once
from firstlight.analysis.formatting import listing
from firstlight.core import shell
from firstlight.model.catalogue import Workload
from firstlight.model.plan import AS_IT_IS

OF_RESULTS = True


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    run = judgement.run
    built = once(c.program for c in run.cells if c.external is not None and c.program.toolchain != AS_IT_IS)
    hashes = {b.program: b.sha256 for b in run.builds if b.ok and b.sha256}
    found = []
    for (_, variant, _, sha256), programs in grouped(
        (p for p in built if p in hashes), lambda p: (p.workload, p.variant, p.mpi, hashes[p])
    ).items():
        if len(programs) < 2:
            continue
        names = listing([p.toolchain for p in programs])
        found.append(
            Finding(
                rule="equal_programs",
                sentence=(
                    f"{names} built identical programs of {variant}: their figures differ by noise only. Either the "
                    "flags do not affect this code, or --build ignores {cc}, {cxx} and {flags}"
                ),
                evidence=tuple(f"{p.key}: sha256 {sha256[:16]}" for p in programs[:SHOWN]),
                command=shell.command("figures", run.id, "--launches"),
                weight=90,
            )
        )
    return found
