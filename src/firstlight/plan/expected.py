"""Expected: about how many seconds a launch takes, told before anything was launched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from firstlight.catalogue import Value, Workload
from firstlight.plan.types import Cell

START, MPI_START, RANK_START = 0.03, 0.1, 0.01
"""Seconds to start a program and to end it: of any, more with MPI, and for each rank of a node."""
BESIDE = 3
"""Samples' worth of time that a case takes beside its samples: the batches that grow to one, counting, checking."""
TOUCH = 1e-9
"""Seconds a byte of working set: filling, poisoning and checking it once."""


def launch_seconds(cell: Cell, workload: Workload) -> float:
    """From the arguments alone: what the steps themselves take is not known, beyond what a sample shall last."""
    ranks, nodes = cell.placement.ranks, cell.placement.nodes
    start = START + (MPI_START + RANK_START * ranks / nodes if cell.program.mpi else 0.0)
    values = parameters(cell)
    count, seconds = int(option(cell, "samples", 5)), option(cell, "sample-seconds", 0.002)
    return start + prod(map(len, values.values())) * (count + BESIDE) * seconds + TOUCH * _touched(values, workload)


def parameters(cell: Cell) -> dict[str, list[str]]:
    """The values that a launch runs through: its cases are all combinations."""
    words = (word.partition("=") for word in cell.arguments if "=" in word)
    return {name: values.split(",") for name, _, values in words}


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
    elements = sum(sizes.growth**n if sizes.growth else n for n in found)
    per_element = sizes.bytes_with(values)
    others = prod(len(some) for name, some in values.items() if name != sizes.parameter)
    return elements * sum(per_element) / len(per_element) * others


def _number(value: Value) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
