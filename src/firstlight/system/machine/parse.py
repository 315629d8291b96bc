"""Parsers of Linux's descriptions of a machine. They never raise: text without a value yields None or nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

MOST_CPUS = 1 << 16
"""No list may name more CPUs than this: a longer one is damaged text, not a machine."""

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


_PADDING = " \t\n\0"
"""Characters around the text of a file in /sys: some kernels return the rest of a buffer, too."""


def number(text: str | None) -> int | None:
    """Return a non-negative decimal integer, or None."""
    stripped = (text or "").strip(_PADDING)
    return int(stripped) if re.fullmatch(r"[0-9]{1,20}", stripped) else None


def cpu_list(text: str | None) -> tuple[int, ...]:
    """Parse `0-3,8,10-11` to sorted numbers. Damaged parts are left out."""
    found: set[int] = set()
    for part in (text or "").strip(_PADDING).split(","):
        match = re.fullmatch(r"\s*([0-9]{1,6})(?:-([0-9]{1,6}))?\s*", part)
        if match is None:
            continue
        first, last = int(match[1]), int(match[2] or match[1])
        if first <= last < MOST_CPUS:
            found.update(range(first, last + 1))
    return tuple(sorted(found))


def cpu_map(text: str | None) -> tuple[int, ...]:
    """Parse `00000003,ffffffff`, words of 32 bits with the highest first, to sorted numbers; empty if it is damaged."""
    words = (text or "").strip(_PADDING).split(",")
    if len(words) > MOST_CPUS // 32 or not all(re.fullmatch(r"[0-9a-fA-F]{1,8}", word) for word in words):
        return ()
    bits = int("".join(word.rjust(8, "0") for word in words), 16)
    return tuple(k for k in range(bits.bit_length()) if bits >> k & 1)


def size(text: str | None) -> int | None:
    """Return `48K`, `307200K`, `32 MB` or `4096` in bytes."""
    match = re.fullmatch(r"\s*([0-9]{1,15})\s*([KMGT]?)i?B?\s*", text or "", re.ASCII)
    return int(match[1]) * _UNITS[match[2]] if match else None


def fields(text: str | None) -> list[dict[str, str]]:
    """Parse the blocks of /proc/cpuinfo: one dictionary per block of `key : value` lines."""
    blocks: list[dict[str, str]] = [{}]
    for line in (text or "").split("\n"):
        key, colon, value = line.partition(":")
        if colon and key.strip():
            blocks[-1].setdefault(key.strip(), value.strip())
        elif not line.strip() and blocks[-1]:
            blocks.append({})
    return [block for block in blocks if block]


def processor(cpuinfo: str | None) -> str | None:
    """Return the processor's commercial name, if the architecture's kernel reports it (Arm's mostly does not)."""
    blocks = fields(cpuinfo)
    for key in ("model name", "cpu", "Processor", "Hardware", "uarch"):
        for block in blocks:
            if block.get(key):
                return " ".join(block[key].replace("(R)", "").replace("(TM)", "").replace("(tm)", "").split())
    return None


def instructions(cpuinfo: str | None) -> str:
    """Return what decides the instructions of `-march=native`: model and flags of the first listed processor."""
    keys = ("vendor_id", "cpu family", "model", "flags", "CPU implementer", "CPU part", "Features", "isa", "cpu")
    first = next((block for block in fields(cpuinfo) if block), {})
    return "; ".join(f"{key}: {first[key]}" for key in keys if key in first)


def has_hypervisor(cpuinfo: str | None) -> bool:
    """Return whether the processor reports that it runs under a hypervisor (x86 only)."""
    return any("hypervisor" in block.get("flags", "").split() for block in fields(cpuinfo))


def chosen(text: str | None) -> str | None:
    """Return the bracketed word of `always [madvise] never`."""
    match = re.search(r"\[([\w-]+)\]", text or "")
    return match[1] if match else None


def quota(cpu_max: str | None, quota_us: str | None = None, period_us: str | None = None) -> float | None:
    """Return the CPUs of a control group: from version 2's `cpu.max` ("150000 100000"), else version 1's two files."""
    words = (cpu_max or "").split()
    if not words:
        words = [(quota_us or "").strip(), (period_us or "").strip()]
    if len(words) != 2:
        return None
    allowed, period = number(words[0]), number(words[1])
    return allowed / period if allowed and period else None


def os_release(text: str | None) -> str | None:
    """Return PRETTY_NAME of /etc/os-release."""
    match = re.search(r"^PRETTY_NAME=(.*)$", text or "", re.MULTILINE)
    return match[1].strip().strip("\"'") or None if match else None


def control_groups(text: str | None) -> dict[str, str]:
    """Return the path of each controller ("" for version 2), from /proc/self/cgroup."""
    groups: dict[str, str] = {}
    for line in (text or "").split("\n"):
        parts = line.strip().split(":", 2)
        if len(parts) == 3 and parts[2].startswith("/"):
            for controller in parts[1].split(","):
                groups.setdefault(controller, parts[2])
    return groups


def turbo(no_turbo: str | None, boost: str | None) -> bool | None:
    """Return whether the clock may exceed its nominal value: intel_pstate/no_turbo, else cpufreq/boost, else None."""
    off, on = number(no_turbo), number(boost)
    if off is not None:
        return off == 0
    return None if on is None else on != 0


def virtualisation(hypervisor: bool, hints: Iterable[str], container: str | None) -> str | None:
    """Return the virtual machine and container around this program, None if none is known. `hints`: names in /sys."""
    known: Mapping[str, str] = {
        "kvm": "KVM",
        "qemu": "KVM",
        "vmware": "VMware",
        "virtualbox": "VirtualBox",
        "innotek": "VirtualBox",
        "hyperv": "Hyper-V",
        "microsoft corporation": "Hyper-V",
        "xen": "Xen",
        "amazon ec2": "Amazon EC2",
        "google compute engine": "Google Compute Engine",
        "bochs": "QEMU",
    }
    text = " ".join(hints).lower()
    kind = next((label for word, label in known.items() if word in text), None)
    bare = "metal" in text  # cloud machines without a hypervisor have the vendor's name too
    machine = f"{kind} virtual machine" if kind and not bare else "virtual machine" if hypervisor else None
    return ", ".join(part for part in (machine, container) if part) or None


def scheduling(stat: str | None) -> tuple[int, int]:
    """Return nice value and scheduling policy in /proc/PID/stat (fields 19 and 41), both 0 if it is damaged."""
    fields = (stat or "").rpartition(")")[2].split()  # the name in front may contain anything
    try:
        return int(fields[16]), int(fields[38])
    except (IndexError, ValueError):
        return 0, 0


def memory_policy(numa_maps: str | None) -> str:
    """Return the memory policy of the first mapping in /proc/PID/numa_maps, "" for the system's own."""
    found = re.match(r"[0-9a-f]+ ([\w ()=|,:-]*?)(?= file=| heap| stack| \w+=|\n|$)", numa_maps or "")
    return "" if found is None or found[1] in ("default", "local") else found[1]


def huge_pages_off(status: str | None) -> bool:
    """Return whether /proc/PID/status shows that the process has disabled transparent huge pages."""
    return re.search(r"^THP_enabled:\s*0$", status or "", re.MULTILINE) is not None
