"""Hardware counters: whether the kernel lets this process count its own instructions, tested by opening a counter."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

_CALL = {"x86_64": 298, "aarch64": 241, "riscv64": 241, "ppc64le": 319}
"""Number of the system call perf_event_open (man 2 perf_event_open; the C library has no wrapper)."""

_ATTRIBUTES = 64  # bytes of struct perf_event_attr, first published version
_USER_ONLY = (1 << 0) | (1 << 5) | (1 << 6)  # disabled, exclude_kernel, exclude_hv


def availability(paranoid: str | None) -> str:
    """Return one sentence. `paranoid`: the text of /proc/sys/kernel/perf_event_paranoid, quoted if it is the cause."""
    return sentence(_try_to_open(), (paranoid or "").strip() or None)


def sentence(outcome: int | None, paranoid: str | None) -> str:
    """Return the sentence for `outcome`: 0 for opened, an errno, or None if the system call's number is not known."""
    if outcome == 0:
        return "hardware counters are available"
    if outcome is None:
        return f"hardware counters are not tried on {platform.machine()}"
    if outcome in (errno.EACCES, errno.EPERM) and paranoid not in (None, "-1", "0", "1", "2"):
        return f"no hardware counters: perf_event_paranoid is {paranoid}, at most 2 is needed"
    if outcome in (errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP):
        return "no hardware counters: this processor or virtual machine offers none"
    if outcome in (errno.EACCES, errno.EPERM, errno.ENOSYS):
        return "no hardware counters: the system call is forbidden here (a container's filter?)"
    return f"no hardware counters: {os.strerror(outcome)}"


def _try_to_open() -> int | None:
    """Open an instruction counter on this process (user space only) and close it again. Return 0, an errno, or None."""
    number = _CALL.get(platform.machine())
    if number is None:
        return None
    # type = PERF_TYPE_HARDWARE, size, config = PERF_COUNT_HW_INSTRUCTIONS, periods and formats, flags
    attributes = struct.pack("=IIQQQQQ", 0, _ATTRIBUTES, 1, 0, 0, 0, _USER_ONLY).ljust(_ATTRIBUTES, b"\0")
    system = ctypes.CDLL(None, use_errno=True)
    system.syscall.restype = ctypes.c_long
    arguments = (ctypes.c_long(number), attributes, *(ctypes.c_long(v) for v in (0, -1, -1, 0)))
    descriptor = system.syscall(*arguments)
    if descriptor < 0:
        return ctypes.get_errno()
    os.close(descriptor)
    return 0
