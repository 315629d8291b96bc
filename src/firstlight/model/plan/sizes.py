"""Sizes: the number of elements that L1, L2, L3 and memory mean on this machine."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from firstlight.core import formulas
from firstlight.core.units import binary
from firstlight.model.catalogue import Sizes, Value
from firstlight.system.machine import Machine

MEMORY_SHARE = 0.6  # of the available memory, for one working set

AMPLE = 1 << 30
"""Bytes of memory that a launch for a ceiling may always use; filling and checking more lasts seconds."""

_SYMBOL = re.compile(r"L([1-9])")


def resolve_size(value: Value, sizes: Sizes | None, machine: Machine) -> Value | None:
    """Return a size in elements for one that may be symbolic (L1, L2, L3, memory, largest); None if there is none.

    L1..L3 are half of that cache, `memory` four times all last-level caches together (as STREAM requires), `largest`
    all that fits, or what the sizes' formula allows if that is less. A working set never exceeds MEMORY_SHARE of the
    memory, or of the available memory if less than that is free: a symbolic size is capped there, a number above it is
    dropped. If the sizes have a growth, all of these are numbers of refinements.

    Words that are not sizes, and all values if no sizes are declared, pass unchanged.
    """
    if sizes is None:
        return value
    most = _most(_room(machine) / sizes.bytes_per_element, sizes)
    if isinstance(value, int | float):
        return value if value <= most else None
    if value == "memory":
        elements = 4 * machine.last_caches() / (sizes.memory_bytes_per_element or sizes.bytes_per_element)
    elif value == "largest":
        elements = math.inf
        if sizes.largest is not None:
            most = min(most, int(formulas.value(sizes.largest, {"cores": machine.cores})))
    elif level := _SYMBOL.fullmatch(value):
        cache = machine.cache(int(level[1]))
        elements = cache.size / 2 / sizes.bytes_per_element if cache else 0
    else:
        return value
    return _fit(elements if elements == math.inf else elements ** (1 / sizes.power), most, sizes, up=value == "memory")


def lacking(value: Value, sizes: Sizes | None, machine: Machine) -> tuple[str, str]:
    """Return why `resolve_size` finds no such size here, and what the user can do."""
    if sizes is None or not isinstance(value, int | float):
        return "this machine has no such cache, or too little memory for this size", "use another machine"
    if sizes.most is not None and value > sizes.most:
        return f"the program accepts at most {sizes.most}", "use a smaller size"
    why = (
        f"this size requires {format_needed(needed(value, sizes))}, but a launch can use only "
        f"{binary(int(_room(machine)))} here"
    )
    return why, "use a machine with more memory"


def needed(value: float, sizes: Sizes) -> float:
    """Return the bytes of working set for a value of the parameter; infinity if they exceed any number."""
    try:
        return sizes.bytes_per_element * sizes.elements(float(value))  # a whole number of so many digits has no end
    except OverflowError:
        return math.inf


def format_needed(size: float) -> str:
    """Format a result of `needed`."""
    return binary(int(size)) if size < 1e18 else "more than any machine has"


def _room(machine: Machine) -> float:
    """Return the bytes that a working set may use: a share of all memory if that is free, else of the free memory.

    The available memory changes from run to run, and the size is part of a figure's identity.
    """
    share = MEMORY_SHARE * machine.memory
    return share if machine.memory_available >= share else MEMORY_SHARE * machine.memory_available


def with_less_memory(values: Mapping[str, list[Value]], sizes: Sizes, machine: Machine) -> dict[str, list[Value]]:
    """Return the values with a smaller size instead of `memory` if that needs more than AMPLE bytes.

    All arrays of a case together then have four times the bytes of all last-level caches, but no less than AMPLE. A
    cache of a quarter of a stream with random replacement serves 2 % of it (the share h for which h = exp(-4 (1 - h)));
    a cache that replaces the least recently used line serves nothing.
    """
    if sizes.parameter not in values:
        return dict(values)
    far, each = resolve_size("memory", sizes, machine), min(sizes.bytes_with(values))
    if (
        not isinstance(far, int | float)
        or sizes.growth
        or sizes.power > 1
        or far * max(sizes.bytes_with(values)) <= AMPLE
    ):
        return dict(values)
    near = min(far, math.ceil(max(4 * machine.last_caches(), AMPLE) / each))
    less: list[Value] = [near if value == far else value for value in values[sizes.parameter]]
    return {**values, sizes.parameter: less}


def _most(fitting: float, sizes: Sizes) -> int:
    """Return the largest value with at most `fitting` elements; below the smallest value if none fits."""
    most = int(fitting ** (1 / sizes.power)) if sizes.growth is None else _refinements(fitting, sizes.growth)
    return most if sizes.most is None else min(most, sizes.most)


def _refinements(fitting: float, growth: int) -> int:
    count = -1
    while growth ** (count + 1) <= fitting:
        count += 1
    return count


def _fit(wanted: float, most: int, sizes: Sizes, up: bool) -> int | None:
    """Return the value for the wanted size, at most `most`, or None. `up`: rather more elements than fewer."""
    least = 0 if sizes.growth else 1
    if wanted < 1 or most < least:
        return None
    if wanted == math.inf:
        return most if not sizes.power_of_two or sizes.growth else 1 << (most.bit_length() - 1)
    if sizes.growth:
        below = _refinements(wanted, sizes.growth)
        return min(most, below + (up and sizes.growth**below < wanted))
    if not sizes.power_of_two:
        return min(int(wanted), most)
    power = 1 << math.ceil(math.log2(wanted))
    return power if power <= most else 1 << (most.bit_length() - 1)
