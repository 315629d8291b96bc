"""Estimate the seconds of a launch before anything is launched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import islice, product
from math import ceil, prod, sqrt

from firstlight.model.catalogue import Value, Workload, device_variant
from firstlight.model.plan.types import Cell

START, MPI_START, RANK_START = 0.03, 0.1, 0.01
"""Seconds to start a program and to end it: of any, more with MPI, and for each rank of a node."""
BESIDE = 3
"""Samples' worth of time that a case takes beside its samples: the batches that grow to one, counting, checking."""
TOUCH = 1e-9
"""Seconds a byte of working set: filling, poisoning and checking it once."""
LOOKED_AT = 1000  # cases of a launch; those beyond are taken for their like


def launch_seconds(cell: Cell, workload: Workload) -> float:
    """From the arguments, and what the workload tells of steps that are longer than a sample."""
    ranks, nodes = cell.placement.ranks, cell.placement.nodes
    start = START + (MPI_START + RANK_START * ranks / nodes if cell.program.mpi else 0.0)
    values = parameters(cell)
    return start + _cases_seconds(cell, workload, values) + TOUCH * _touched(values, workload)


def step_seconds(variant: str, case: Mapping[str, str], workload: Workload) -> float:
    """What the workload tells of a step of the case, on one core; 0 where it tells nothing."""
    if not workload.durations or device_variant(workload, variant):
        return 0.0
    for duration in workload.durations:
        of_case = all(case.get(name) == str(value) for name, value in duration.where.items())
        of_variant = any(fnmatchcase(variant, pattern) for pattern in duration.variants)
        if of_case and of_variant and all(_number(case.get(name)) for name in duration.per):
            return duration.seconds * prod(float(case[name]) for name in duration.per)
    return 0.0


def _cases_seconds(cell: Cell, workload: Workload, values: Mapping[str, Sequence[str]]) -> float:
    """Return the seconds of all samples of a launch and the work around them; each case has at least two samples."""
    least, room = option(cell, "sample-seconds", 0.002), option(cell, "case-seconds", 10.0)
    most = int(option(cell, "samples", 5))

    gain = sqrt(cell.placement.ranks * cell.placement.threads)  # between none, where memory holds a core, and all

    def seconds(case: Mapping[str, str]) -> float:
        sample = max(least, step_seconds(cell.program.variant, case, workload) / gain)
        return (BESIDE + min(most, max(2, ceil(room / sample)))) * sample

    named = {name for duration in workload.durations for name in (*duration.where, *duration.per)}
    telling = {name: some for name, some in values.items() if name in named}
    some = [seconds(dict(zip(telling, case, strict=True))) for case in islice(product(*telling.values()), LOOKED_AT)]
    return sum(some) / len(some) * prod(map(len, values.values()))


def parameters(cell: Cell) -> dict[str, list[str]]:
    """Return the values of each parameter. A launch runs all combinations as cases; a guest's values are one case."""
    words = (word.partition("=") for word in cell.arguments if "=" in word)
    return {name: values.split(",") if cell.guest is None else [values] for name, _, values in words}


def cases(cell: Cell) -> int:
    return prod(map(len, parameters(cell).values()))


def option(cell: Cell, name: str, default: float) -> float:
    """What the command line of a cell gives as `--name`."""
    words = cell.arguments
    return float(words[words.index(f"--{name}") + 1]) if f"--{name}" in words else default


def _touched(values: Mapping[str, Sequence[Value]], workload: Workload) -> float:
    """Bytes of working set of all cases together, where a parameter tells sizes."""
    sizes = workload.sizes
    if sizes is None or sizes.parameter not in values:
        return 0.0
    found = [float(v) for v in values[sizes.parameter] if _number(v)]
    elements = sum(map(sizes.elements, found))
    per_element = sizes.bytes_with(values)
    others = prod(len(some) for name, some in values.items() if name != sizes.parameter)
    return elements * sum(per_element) / len(per_element) * others


def _number(value: Value | None) -> bool:
    try:
        float("" if value is None else value)
    except ValueError:
        return False
    return True
