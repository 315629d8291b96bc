"""Hardware counters: whether the kernel lets this process count instructions, tested by opening a counter."""

from __future__ import annotations

import errno
import os
import platform

from firstlight.core import perf_events

AVAILABLE = "hardware counters are available"
NONE = "no hardware counters: "
REMEDY = "sysctl kernel.perf_event_paranoid=2, on hardware or in a virtual machine that exposes counters"


def availability(paranoid: str | None) -> str:
    """Return one sentence. `paranoid`: the text of /proc/sys/kernel/perf_event_paranoid, quoted if it is the cause."""
    return sentence(_try_to_open("instructions"), (paranoid or "").strip() or None)


def sentence(outcome: int | None, paranoid: str | None) -> str:
    """Return the sentence for `outcome`: 0 for opened, an errno, or None if the system call's number is not known."""
    if outcome == 0:
        return AVAILABLE
    if outcome is None:
        return f"hardware counters are not supported on {platform.machine()}"
    if outcome in (errno.EACCES, errno.EPERM) and paranoid not in (None, "-1", "0", "1", "2"):
        return f"{NONE}perf_event_paranoid is {paranoid}, but at most 2 is required"
    if outcome in (errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP):
        return f"{NONE}this processor or virtual machine provides none"
    if outcome in (errno.EACCES, errno.EPERM, errno.ENOSYS):
        return f"{NONE}the system call is forbidden, perhaps by a container's filter"
    return f"{NONE}{os.strerror(outcome)}"


def missing(sentence: str) -> str:
    """Return the reason and the remedy where a machine's sentence reports no counters, else ""."""
    return "" if sentence == AVAILABLE else f"not available: {sentence.removeprefix(NONE)}; {REMEDY}"


def events() -> dict[str, tuple[int, int]]:
    """Return the events that can be counted here: type and number by name."""
    return {name: event for name, event in perf_events.EVENTS.items() if _try_to_open(name) == 0}


def _try_to_open(name: str) -> int | None:
    """Open a counter and close it again. Return 0, an errno, or None."""
    descriptor, why = perf_events.open_event(*perf_events.EVENTS[name])
    if descriptor < 0:
        return why or None
    os.close(descriptor)
    return 0
