"""Processors, caches and memory as Linux shows them in /sys and /proc, read as hwloc reads them. Nothing here raises.

Kernels differ: sets of CPUs are lists (`0-3`) or maps (`0000000f`), under names that changed; CPUs may be offline,
numbers sparse, a NUMA node without CPUs, cores of several kinds. `root` is "/" except in tests.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from firstlight.system.machine import Cache, CacheKind, Kind, parse
from firstlight.system.machine.files import read
from firstlight.system.process import bounded

Cores = tuple[tuple[int, ...], ...]
"""The usable CPUs, grouped by core."""

SAME_KIND = 0.9
"""Cores of at least this share of the largest capacity of their kind are of that kind."""

_CPU = "sys/devices/system/cpu"
_NODE = "sys/devices/system/node"


class Node(NamedTuple):
    """One NUMA node: its number in the system, its usable CPUs, its memory in bytes (None: unknown)."""

    number: int
    cpus: tuple[int, ...]
    memory: int | None


def usable(root: Path) -> tuple[int, ...]:
    """Return the CPUs that are online and on which this process may run."""
    status = _status(root)
    allowed = parse.cpu_list(status.get("Cpus_allowed_list")) or parse.cpu_map(status.get("Cpus_allowed"))
    online = set(parse.cpu_list(read(root / _CPU / "online")) or allowed)
    # The mask of a process may name CPUs that are offline, or not there at all.
    return tuple(cpu for cpu in allowed if cpu in online) or tuple(sorted(os.sched_getaffinity(0)))


def cores(root: Path, cpus: Sequence[int]) -> Cores:
    """Return the usable CPUs by core, cores and CPUs in the order of their numbers."""
    seen: dict[int, tuple[int, ...]] = {}
    mine = set(cpus)
    for cpu in cpus:
        if cpu not in seen:
            folder = root / _CPU / f"cpu{cpu}/topology"
            sharing = _set(folder, "core_cpus_list", "core_cpus", "thread_siblings_list", "thread_siblings")
            core = tuple(c for c in sharing if c in mine and c not in seen)
            seen |= dict.fromkeys(core if cpu in core else (cpu,), core if cpu in core else (cpu,))
    return tuple(dict.fromkeys(seen[cpu] for cpu in cpus))


def sockets(root: Path, of: Cores) -> int:
    """Return the number of processors of the cores; an unknown number (-1 on some machines) counts as one."""
    return len({parse.number(read(root / _CPU / f"cpu{core[0]}/topology/physical_package_id")) or 0 for core in of})


def kinds(root: Path, of: Cores) -> tuple[Kind, ...]:
    """Return the kinds of cores of a hybrid processor, the fastest first; empty if all are of one kind.

    They come from Intel's counters or from the capacity that Arm's kernels report. Otherwise cores with two threads
    are distinguished from cores with one, unless some threads are offline or not usable here.
    """
    named = [
        (name, set(parse.cpu_list(read(root / f"sys/devices/{unit}/cpus"))))
        for unit, name in (
            ("cpu_core", "performance core"),
            ("cpu_atom", "efficiency core"),
            ("cpu_lowpower", "low-power core"),
        )
    ]
    by_name = [(name, [core for core in of if core[0] in inside]) for name, inside in named]
    if sum(len(some) for _, some in by_name) == len(of):
        return _several(by_name)
    capacity = {core: parse.number(read(root / _CPU / f"cpu{core[0]}/cpu_capacity")) or 0 for core in of}
    if found := _several(_by_capacity(capacity)):
        return found
    if {len(core) for core in of} == {1, 2} and _all_ours(root, of):
        words = {2: "core with two threads", 1: "core with one thread"}
        return _several([(name, [c for c in of if len(c) == n]) for n, name in words.items()])
    return ()


def _by_capacity(capacity: Mapping[tuple[int, ...], int]) -> list[tuple[str, list[tuple[int, ...]]]]:
    """Group cores of nearly the same capacity into one kind: some are only allowed a higher clock."""
    found: list[tuple[str, list[tuple[int, ...]]]] = []
    first = 0
    for step in sorted(set(capacity.values()), reverse=True):
        if not found or step < SAME_KIND * first:
            first = step
            found.append((f"core of capacity {step}", []))
        found[-1][1].extend(core for core in capacity if capacity[core] == step)
    return found


def _several(by_name: Iterable[tuple[str, Sequence[tuple[int, ...]]]]) -> tuple[Kind, ...]:
    found = tuple(Kind(name, tuple(sorted(cpu for core in some for cpu in core))) for name, some in by_name if some)
    return found if len(found) > 1 else ()


def _all_ours(root: Path, of: Cores) -> bool:
    """Return whether every CPU that the machine has is online and usable."""
    present = parse.cpu_list(read(root / _CPU / "present"))
    return len(present) == sum(map(len, of)) and not parse.cpu_list(read(root / _CPU / "offline"))


def numa(root: Path, cpus: Sequence[int]) -> tuple[Node, ...]:
    """Return the NUMA nodes in the order of their numbers: those with usable CPUs, and those that are memory alone.

    Nodes are left out if all their CPUs are offline or not ours, or if they are a GPU's own memory. Empty if the system
    reports no nodes, or if its nodes overlap (firmware that is wrong).
    """
    allowed, of_gpus = _allowed_nodes(root), _of_gpus(root)
    found = []
    for number, folder in _folders(root):
        if number in of_gpus:
            continue
        inside = _set(folder, "cpulist", "cpumap")
        mine = tuple(cpu for cpu in cpus if cpu in set(inside))
        if mine or (not inside and (not allowed or number in allowed)):
            found.append(Node(number, mine, _memory(folder)))
    listed = [cpu for node in found for cpu in node.cpus]
    return tuple(found) if len(listed) == len(set(listed)) else ()


def _of_gpus(root: Path) -> frozenset[int]:
    """Return the nodes that NVIDIA's driver makes of the memory of GPUs."""
    files = (root / "proc/driver/nvidia/gpus").glob("*/numa_status")
    numbers = (parse.number(block.get("Node")) for file in files for block in parse.fields(read(file)))
    return frozenset(number for number in numbers if number is not None)


def allowed_memory(root: Path) -> int | None:
    """Return the bytes of the NUMA nodes whose memory this process may use, if not all are allowed, else None."""
    allowed = _allowed_nodes(root)
    sizes = {number: _memory(folder) or 0 for number, folder in _folders(root)} if allowed else {}
    some = sum(size for number, size in sizes.items() if number in allowed)
    return some if 0 < some < sum(sizes.values()) else None


def _folders(root: Path) -> list[tuple[int, Path]]:
    found = [(parse.number(folder.name[4:]), folder) for folder in (root / _NODE).glob("node[0-9]*")]
    return sorted((number, folder) for number, folder in found if number is not None)


def _memory(folder: Path) -> int | None:
    """Return the bytes in the line `Node 1 MemTotal: 32768 kB`."""
    for line in (read(folder / "meminfo") or "").split("\n"):
        words = line.split()
        if len(words) == 5 and words[2] == "MemTotal:":
            return parse.size(f"{words[3]} {words[4]}".upper())
    return None


def _allowed_nodes(root: Path) -> frozenset[int]:
    """Return the NUMA nodes that this process may allocate memory on; empty if unknown."""
    status = _status(root)
    return frozenset(parse.cpu_list(status.get("Mems_allowed_list")) or parse.cpu_map(status.get("Mems_allowed")))


def _status(root: Path) -> dict[str, str]:
    """Return the fields of /proc/self/status. The kernel keeps its masks within those of the control groups."""
    return next(iter(parse.fields(read(root / "proc/self/status"))), {})


def huge_page(root: Path) -> int | None:
    """Return the bytes of a transparent huge page (2, 32 or 512 MiB, by the size of a page); None if there are none."""
    return parse.number(read(root / "sys/kernel/mm/transparent_hugepage/hpage_pmd_size")) or None


def _set(folder: Path, *names: str) -> tuple[int, ...]:
    """Return the CPUs in the first of these files that names any: `*list` contains a list, any other a map."""
    for name in names:
        parser = parse.cpu_list if name.endswith("list") else parse.cpu_map
        if found := parser(read(folder / name)):
            return found
    return ()


_KINDS: dict[str, CacheKind] = {"Data": "data", "Unified": "unified"}
"""The kernel's names of the caches that count; instruction caches do not."""


def caches(root: Path, of: Cores) -> tuple[Cache, ...]:
    """Return data and unified caches behind the usable CPUs, each once, by level; from the C library if not in /sys."""
    found: dict[tuple[int, str, tuple[int, ...]], Cache] = {}
    numbered: dict[tuple[int, str, int], list[int]] = {}  # caches with a number of sharers but no list of CPUs
    cpus = [cpu for core in of for cpu in core]
    of_core = {cpu: core for core in of for cpu in core}
    covered: set[int] = set()  # CPUs that share a first-level cache with one that was read share all that is behind it
    for cpu in cpus:
        for folder in (root / _CPU / f"cpu{cpu}/cache").glob("index[0-9]*") if cpu not in covered else ():
            kind = _KINDS.get((read(folder / "type") or "").strip())
            level, size = parse.number(read(folder / "level")), parse.size(read(folder / "size"))
            if kind is None or not level or not size:
                continue
            shared = _set(folder, "shared_cpu_list", "shared_cpu_map")
            number = None if shared else parse.number(read(folder / "id"))
            if number is not None:
                shared = tuple(numbered.setdefault((level, kind, number), []))
                found.pop((level, kind, shared), None)
                numbered[level, kind, number].append(cpu)
                shared = tuple(numbered[level, kind, number])
            key = (level, kind, shared or of_core[cpu])
            if level == 1 and shared and number is None:
                covered.update(shared)
            line = parse.number(read(folder / "coherency_line_size")) or 64
            found.setdefault(key, Cache(level=level, kind=kind, size=size, line=line, shared_by=key[2]))
    every = found.values() or _of_the_c_library(of)
    return tuple(sorted(every, key=lambda c: (c.level, c.shared_by)))


def _of_the_c_library(of: Cores) -> list[Cache]:
    """Return caches from the C library, which omits sharing: levels 1 and 2 count as one core's, level 3 as shared."""
    found = []
    every_cpu = tuple(sorted(cpu for core in of for cpu in core))
    for level, name in ((1, "LEVEL1_DCACHE"), (2, "LEVEL2_CACHE"), (3, "LEVEL3_CACHE")):
        size, line = _getconf(f"{name}_SIZE"), _getconf(f"{name}_LINESIZE") or 64
        groups = [every_cpu] if level == 3 else list(of)
        kind: CacheKind = "data" if level == 1 else "unified"
        found += [Cache(level=level, kind=kind, size=size, line=line, shared_by=g) for g in groups if size]
    return found


def _getconf(name: str) -> int | None:
    return parse.number(bounded.output(["getconf", name], timeout=5)) or None
