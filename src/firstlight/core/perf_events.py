"""Hardware counters of processes, through the system call perf_event_open; user space only, which needs no privileges.

The observer loads this file without the package (see execute/observer). Therefore it imports only the standard library.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

T = TypeVar("T")

EVENTS = {"instructions": (0, 1), "cycles": (0, 0), "cache_misses": (0, 3), "branch_misses": (0, 5)}
"""Type and number of each event (PERF_TYPE_HARDWARE, PERF_COUNT_HW_...)."""
CALL = {"x86_64": 298, "aarch64": 241, "riscv64": 241, "ppc64le": 319}
"""Number of the system call perf_event_open (man 2 perf_event_open; the C library has no wrapper)."""
MOST_A_NANOSECOND = 1024
"""No processor counts as much in a nanosecond. Some hypervisors return values that are too large by a power of two."""

_SIZE = 64  # bytes of struct perf_event_attr, first published version
_TIMES = 3  # the format of a reading: PERF_FORMAT_TOTAL_TIME_ENABLED and PERF_FORMAT_TOTAL_TIME_RUNNING
_CLOSE_ON_EXEC = 8
_OF_CHILDREN = (1 << 0) | (1 << 1) | (1 << 5) | (1 << 6) | (1 << 12)
"""disabled, inherit, exclude_kernel, exclude_hv, enable_on_exec: this process is not counted, programs that it starts
are.
"""


class Reading(NamedTuple):
    """The value of a counter, and the nanoseconds in which it was enabled and in which it counted."""

    value: int
    enabled: int
    running: int


def open_event(kind: int, number: int) -> tuple[int, int]:
    """Open a counter of all programs that this process starts from now on. Return its descriptor (or -1) and the errno.

    The errno is 0 if the system call is not known on this processor.
    """
    call = CALL.get(os.uname().machine)
    if call is None:
        return -1, 0
    # type, size, config, period, format of samples, format of readings, flags
    attributes = struct.pack("=IIQQQQQ", kind, _SIZE, number, 0, 0, _TIMES, _OF_CHILDREN).ljust(_SIZE, b"\0")
    system = ctypes.CDLL(None, use_errno=True)
    system.syscall.restype = ctypes.c_long
    process, cpu, group = 0, -1, -1
    words = (ctypes.c_long(value) for value in (process, cpu, group, _CLOSE_ON_EXEC))
    descriptor = system.syscall(ctypes.c_long(call), attributes, *words)
    return descriptor, 0 if descriptor >= 0 else ctypes.get_errno()


def counting(events: Mapping[str, tuple[int, int]], run: Callable[[], T]) -> tuple[T, dict[str, float]]:
    """Call `run`, and return its result and what the programs counted that it started, by the name of the event.

    An event that cannot be opened has no value. Counters are opened for each call: the kernel exchanges those of a
    process and of its child at a context switch, and the exchanged ones end with the child.
    """
    opened = {name: open_event(*event)[0] for name, event in events.items()}
    files = {name: file for name, file in opened.items() if file >= 0}
    try:
        result = run()
        readings = {name: Reading(*struct.unpack("=QQQ", os.read(file, 24))) for name, file in files.items()}
    finally:
        for file in files.values():
            os.close(file)
    return result, {name: value for name, one in readings.items() if (value := counted(one)) is not None}


def counted(reading: Reading) -> float | None:
    """Return the value of a counter, None if it did not run or shows an impossible value.

    Every program executes instructions and misses caches and branches, so 0 is impossible, too. A counter that shared
    its hardware with others is scaled up, as perf stat does.
    """
    possible = 0 < reading.value <= MOST_A_NANOSECOND * reading.running
    return reading.value * reading.enabled / reading.running if possible else None
