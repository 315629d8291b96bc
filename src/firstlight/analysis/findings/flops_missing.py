"""The processor counted fewer floating-point operations than the workload declares: the rate would be too high.

More than declared is legitimate (compensation, masked lanes). Fewer mean that work was left out or that the cost
model is wrong. Counters see one process, so only launches with one rank and available counters are judged.
"""

from __future__ import annotations

from statistics import median

from firstlight.analysis import Finding, Judgement, provenance
from firstlight.analysis.findings._common import SHOWN, command
from firstlight.core.units import significant
from firstlight.model.catalogue import Workload

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
                f"{target} with {toolchain} executes {_share(target, toolchain, found)} of its declared "
                f"floating-point operations"
            ),
            evidence=tuple(_evidence(target, toolchain, found)),
            command=command(target, toolchains=[toolchain]),
            weight=70.0,
        )
        for (target, toolchain), found in sorted(shares.items())
        if median(found) < LEAST
    ]


def _share(target: str, toolchain: str, found: list[float]) -> str:
    return provenance.number(significant(median(found), 2), f"median(counted({target!r}, {toolchain!r}))")


def _evidence(target: str, toolchain: str, found: list[float]) -> list[str]:
    """Return the counted shares of the launches, smallest first, each number once."""
    of = f"counted({target!r}, {toolchain!r})"
    first = {significant(x, 3): k for k, x in reversed(list(enumerate(sorted(found))))}
    shares = [
        provenance.number(text, f"sorted({of})[{k}]") for text, k in sorted(first.items(), key=lambda one: one[1])
    ]
    return [f"a launch counted {share} of them" for share in shares[:SHOWN]]
