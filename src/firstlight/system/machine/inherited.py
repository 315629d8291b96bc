"""Inherited: settings of the process that started firstlight which its programs inherit and which change a figure."""

from __future__ import annotations

import resource
from pathlib import Path

from firstlight.core.units import binary, quantity
from firstlight.system.machine import parse
from firstlight.system.machine.files import read

_POLICIES = {1: "fifo", 2: "rr", 3: "batch", 5: "idle", 6: "deadline", 7: "ext"}
_TIMER_SLACK = 50_000  # ns, Linux's default
_LIMITS = {"address space": resource.RLIMIT_AS, "data": resource.RLIMIT_DATA}


def discover(root: Path) -> tuple[str, ...]:
    """Return the settings that are not the system's defaults: `nice 19`, `memory policy interleave:0-1`."""
    found = []
    nice, policy = parse.scheduling(read(root / "proc/self/stat"))
    if nice:
        found.append(f"nice {nice}")
    if policy:
        found.append(f"scheduling policy {_POLICIES.get(policy, policy)}")
    if memory := parse.memory_policy(read(root / "proc/self/numa_maps")):
        found.append(f"memory policy {memory}")
    possible = parse.chosen(read(root / "sys/kernel/mm/transparent_hugepage/enabled")) is not None
    if possible and parse.huge_pages_off(read(root / "proc/self/status")):
        found.append("transparent huge pages disabled")
    slack = parse.number((read(root / "proc/self/timerslack_ns") or "").strip())
    if slack not in (None, 0, _TIMER_SLACK):  # 0: of a real-time policy
        found.append(f"timer slack {quantity(slack * 1e-9, 's')}")
    personality = (read(root / "proc/self/personality") or "").strip().lstrip("0")
    if personality:
        found.append(f"personality 0x{personality}")  # address layout, as setarch sets it
    soft = {name: resource.getrlimit(number)[0] for name, number in _LIMITS.items()}
    return (*found, *(f"{name} limited to {binary(x)}" for name, x in soft.items() if x != resource.RLIM_INFINITY))
