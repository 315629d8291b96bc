"""The processor counted fewer floating-point operations than the workload declares: the rate would be too high.

More than declared is the variant's own affair (compensation, masked lanes); less means that work was left out or that
the cost model is wrong. Counters see one process, so only one rank is judged, and only where the kernel counts.
"""

from __future__ import annotations

from statistics import median

from firstlight.catalogue import Workload
from firstlight.judge import Finding, Judgement
from firstlight.judge.findings._common import SHOWN, command, once
from firstlight.units import significant

LEAST = 0.9
Key = tuple[str, str]


def find(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    cells = {cell.id: cell for cell in judgement.run.cells}
    shares: dict[Key, list[float]] = {}
    for record in judgement.records:
        cell = cells.get(record.start.cell)
        if cell is None or cell.placement.ranks != 1:
            continue
        declared = {case.case: case.cost.get("flops", 0.0) for case in record.cases}
        for counted in record.counters:
            work = declared.get(counted.case, 0.0) * counted.steps
            if counted.flops is not None and work > 0:
                shares.setdefault((cell.program.target, cell.program.toolchain), []).append(counted.flops / work)
    return [
        Finding(
            rule="flops_missing",
            sentence=(
                f"{target} with {toolchain} does {significant(median(found), 2)} of the operations that it declares"
            ),
            evidence=tuple(once(f"a launch counted {significant(x, 3)} of them" for x in sorted(found)))[:SHOWN],
            command=command(target, toolchains=[toolchain]),
            weight=70.0,
        )
        for (target, toolchain), found in sorted(shares.items())
        if median(found) < LEAST
    ]
