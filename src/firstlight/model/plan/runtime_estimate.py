"""Estimate the seconds of a launch before anything is launched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import islice, product
from math import ceil, prod, sqrt
from types import MappingProxyType

from firstlight.model.catalogue import Value, Workload, device_variant
from firstlight.model.plan.arguments import Options, is_pattern, matching, number
from firstlight.model.plan.selectors import same_value
from firstlight.model.plan.types import Cell

START, MPI_START, RANK_START = 0.03, 0.1, 0.01
"""Seconds to start and end a program: any program, more with MPI, and for each rank of a node."""
BESIDE = 3
"""Duration in samples of the other work of a case: the batches that grow to a sample, counting, checking."""
TOUCH = 1e-9
"""Seconds per byte of working set to fill, poison and check it once."""
LOOKED_AT = 1000  # cases of a launch; those beyond are taken for their like
NO_OPTIONS: Options = MappingProxyType({})
MATCHES = 16
"""Options that a pattern is assumed to match as long as no program has printed its options."""


def launch_seconds(cell: Cell, workload: Workload, options: Options = NO_OPTIONS) -> float:
    """Estimate the seconds of a launch from its arguments and the workload's declared durations of long steps.

    `options`: those of the workload's parameters, which patterns match; without them a pattern matches MATCHES.
    """
    ranks, nodes = cell.placement.ranks, cell.placement.nodes
    start = START + (MPI_START + RANK_START * ranks / nodes if cell.program.mpi else 0.0)
    return start + _cases_seconds(cell, workload, options) + TOUCH * _touched(cell, workload, options)


def cases(cell: Cell, options: Options = NO_OPTIONS) -> int:
    """Return the number of cases of a launch: all combinations of the values of its parameters."""
    return prod(_counts(cell, options).values())


def _expanded(values: Sequence[Value], options: Sequence[str]) -> list[Value]:
    """Return the values with the options that each pattern matches instead of it, as far as they are known."""
    return [one for value in values for one in (*matching(value, options),) or (value,)]


def _counts(cell: Cell, options: Options) -> dict[str, int]:
    """Return the number of values of each parameter; a pattern counts as the options that it matches."""
    if cell.external is not None:
        return dict.fromkeys(cell.values, 1)

    def count(name: str) -> int:
        return sum(MATCHES if is_pattern(v) else 1 for v in _expanded(cell.values[name], options.get(name, ())))

    return {name: count(name) for name in cell.values}


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


def _cases_seconds(cell: Cell, workload: Workload, options: Options) -> float:
    """Return the seconds of all samples of a launch and the work around them; each case has at least two samples."""
    least, room = cell.option("sample-seconds", 0.002), cell.option("case-seconds", 10.0)
    most = int(cell.option("samples", 5))
    gain = sqrt(cell.placement.ranks * cell.placement.threads)  # between none, where memory holds a core, and all

    def seconds(case: Mapping[str, Value]) -> float:
        sample = max(least, step_seconds(cell.program.variant, case, workload) / gain)
        return (BESIDE + min(most, max(2, ceil(room / sample)))) * sample

    named = {name for duration in workload.durations for name in (*duration.where, *duration.per)}
    telling = {n: _expanded(some, options.get(n, ())) for n, some in cell.values.items() if n in named}
    some = [seconds(dict(zip(telling, case, strict=True))) for case in islice(product(*telling.values()), LOOKED_AT)]
    return sum(some) / len(some) * cases(cell, options)


def _touched(cell: Cell, workload: Workload, options: Options) -> float:
    """Return the bytes of the working sets of all cases together; 0 if no parameter is a size."""
    sizes, values = workload.sizes, cell.values
    if sizes is None or sizes.parameter not in values:
        return 0.0
    elements = sum(sizes.elements(n) for v in values[sizes.parameter] if (n := number(v)) is not None)
    per_element = sizes.bytes_with(values)
    others = prod(n for name, n in _counts(cell, options).items() if name != sizes.parameter)
    return elements * sum(per_element) / len(per_element) * others
