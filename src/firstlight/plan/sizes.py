"""Sizes: what L1, L2, L3 and memory are in elements on this machine."""

from __future__ import annotations

import math
import re

from firstlight.catalogue import Sizes
from firstlight.machine import Machine

MEMORY_SHARE = 0.6  # of the available memory, for one working set

Value = int | str
_SYMBOL = re.compile(r"L([1-9])")


def resolve_size(value: Value, sizes: Sizes | None, machine: Machine) -> Value | None:
    """A size in elements for one that may be symbolic (L1, L2, L3, memory); None where this machine has no such size.

    L1..L3 are half of that cache, `memory` four times all last-level caches together (as STREAM asks). A working set
    never takes more than MEMORY_SHARE of the memory, or of what is available where that is less: a symbolic size is
    capped there, a number above it is dropped.
    Words that are no size, and all values where no sizes are declared, pass unchanged.
    """
    if sizes is None:
        return value
    # A share of the whole memory where that much is free: what is available changes from run to run, and the size is
    # part of a figure's identity.
    share = MEMORY_SHARE * machine.memory
    free = share if machine.memory_available >= share else MEMORY_SHARE * machine.memory_available
    most = int(free / sizes.bytes_per_element)
    if isinstance(value, int):
        return value if value <= most else None
    if value == "memory":
        elements = 4 * machine.last_caches() / (sizes.memory_bytes_per_element or sizes.bytes_per_element)
    elif level := _SYMBOL.fullmatch(value):
        cache = machine.cache(int(level[1]))
        elements = cache.size / 2 / sizes.bytes_per_element if cache else 0
    else:
        return value
    return _fit(elements, most, sizes.power_of_two)


def _fit(elements: float, most: int, power_of_two: bool) -> int | None:
    if elements < 1 or most < 1:
        return None
    if not power_of_two:
        return min(int(elements), most)
    up = 1 << math.ceil(math.log2(elements))
    return up if up <= most else 1 << (most.bit_length() - 1)
