"""Estimate the seconds of a launch before anything is launched."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from itertools import islice, product
from math import ceil, prod, sqrt

from firstlight.model.catalogue import Value, Workload, device_variant
from firstlight.model.plan.arguments import number
from firstlight.model.plan.selectors import same_value
from firstlight.model.plan.types import Cell

START, MPI_START, RANK_START = 0.03, 0.1, 0.01
"""Seconds to start and end a program: any program, more with MPI, and for each rank of a node."""
BESIDE = 3
"""Duration in samples of the other work of a case: the batches that grow to a sample, counting, checking."""
TOUCH = 1e-9
"""Seconds per byte of working set to fill, poison and check it once."""
LOOKED_AT = 1000  # cases of a launch; those beyond are taken for their like


def launch_seconds(cell: Cell, workload: Workload) -> float:
    """Estimate the seconds of a launch from its arguments and the workload's declared durations of long steps."""
    ranks, nodes = cell.placement.ranks, cell.placement.nodes
    start = START + (MPI_START + RANK_START * ranks / nodes if cell.program.mpi else 0.0)
    return start + _cases_seconds(cell, workload) + TOUCH * _touched(cell, workload)


def step_seconds(variant: str, case: Mapping[str, Value], workload: Workload) -> float:
    """Return the declared seconds of a step of the case on one core; 0 if none are declared."""
    if not workload.durations or device_variant(workload, variant):
        return 0.0
    for duration in workload.durations:
        of_case = all(same_value(case.get(name), value) for name, value in duration.where.items())
        of_variant = any(fnmatchcase(variant, pattern) for pattern in duration.variants)
        factors = [factor for name in duration.per if (factor := number(case.get(name))) is not None]
        if of_case and of_variant and len(factors) == len(duration.per):
            return duration.seconds * prod(factors)
    return 0.0


def _cases_seconds(cell: Cell, workload: Workload) -> float:
    """Return the seconds of all samples of a launch and the work around them; each case has at least two samples."""
    least, room = cell.option("sample-seconds", 0.002), cell.option("case-seconds", 10.0)
    most = int(cell.option("samples", 5))
    gain = sqrt(cell.placement.ranks * cell.placement.threads)  # between none, where memory holds a core, and all

    def seconds(case: Mapping[str, Value]) -> float:
        sample = max(least, step_seconds(cell.program.variant, case, workload) / gain)
        return (BESIDE + min(most, max(2, ceil(room / sample)))) * sample

    named = {name for duration in workload.durations for name in (*duration.where, *duration.per)}
    telling = {name: some for name, some in cell.values.items() if name in named}
    some = [seconds(dict(zip(telling, case, strict=True))) for case in islice(product(*telling.values()), LOOKED_AT)]
    return sum(some) / len(some) * cell.cases


def _touched(cell: Cell, workload: Workload) -> float:
    """Return the bytes of the working sets of all cases together; 0 if no parameter is a size."""
    sizes, values = workload.sizes, cell.values
    if sizes is None or sizes.parameter not in values:
        return 0.0
    elements = sum(sizes.elements(n) for v in values[sizes.parameter] if (n := number(v)) is not None)
    per_element = sizes.bytes_with(values)
    others = prod(len(some) for name, some in values.items() if name != sizes.parameter)
    return elements * sum(per_element) / len(per_element) * others
