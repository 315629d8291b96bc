"""Invent machines of any size: the files of their kernel in /proc and /sys, and the machine that is read from them.

The trees have the shapes of real ones (those that hwloc collects), a few files of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from firstlight.system.machine import Machine, linux

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


class Core(NamedTuple):
    """Represent one invented core: its CPUs, its place (socket, NUMA node, group behind one last cache, cluster), its
    kind.
    """

    cpus: tuple[int, ...]
    socket: int
    node: int
    group: int
    cluster: tuple[int, int]
    capacity: int = 0
    unit: str = ""


class Shape(NamedTuple):
    """Describe how a tree is written. `numbering` of CPUs: "half": siblings are n and n + N / 2; "next": 2 n and 2 n +
    1.
    """

    sockets: int = 1
    cores: int = 4  # of each socket, the small ones not counted
    threads: int = 1
    nodes: int = 1  # NUMA nodes in all
    group: int = 8  # cores behind one last cache
    numbering: str = "half"
    small: int = 0  # cores of a slower kind, one thread each, four behind a second-level cache
    kinds_by: str = "units"  # distinguishes the kinds: "units" (Intel), "capacity" (Arm), "" (by threads alone)
    maps_only: bool = False
    numbers_only: bool = False  # caches have an id instead of who shares them
    old_names: bool = False  # thread_siblings instead of core_cpus
    offline: tuple[int, ...] = ()
    allowed: tuple[int, ...] | None = None  # of the control group
    memory_nodes: tuple[int, ...] | None = None  # allowed by the control group
    memory_only: tuple[tuple[int, int], ...] = ()  # (number, GiB) of nodes without CPUs
    node_step: int = 1  # numbers of NUMA nodes are multiples of it
    cpu_step: int = 1  # numbers of CPUs are multiples of it
    memory: int = 64  # GiB of each NUMA node
    huge_page: int = 2 * MIB
    processor: str = "Example EPYC 9004"
    last: int = 32 * MIB
    caches: bool = True
    first_caches: int = 1  # of each core: two cores with a cache each may be reported as one (Power's big cores)


SHAPES: Mapping[str, Shape] = {
    "server": Shape(sockets=2, cores=64, threads=2, nodes=8, memory=96),
    "next": Shape(sockets=2, cores=8, threads=2, nodes=2, numbering="next"),
    "maps": Shape(sockets=2, cores=8, threads=2, nodes=2, maps_only=True, old_names=True),
    "laptop": Shape(cores=6, small=8, threads=2, numbering="next", group=14, processor="Example Core Ultra"),
    "arm": Shape(cores=72, group=72, huge_page=512 * MIB, processor="", last=114 * MIB, memory_only=((1, 96),)),
    "big.LITTLE": Shape(cores=4, small=4, kinds_by="capacity", group=8, processor=""),
    "power": Shape(sockets=2, cores=20, threads=4, nodes=2, numbering="next", group=2, maps_only=True, node_step=8,
                   memory_only=((250, 16), (251, 16)), huge_page=2 * MIB, processor="", last=10 * MIB),
    "wide": Shape(sockets=8, cores=112, threads=2, nodes=8, group=112, last=105 * MIB, memory=512),
    "smt8": Shape(sockets=2, cores=15, threads=8, nodes=2, numbering="next", group=1, maps_only=True, node_step=8,
                  huge_page=2 * MIB, processor="", last=8 * MIB),
    "gpus": Shape(sockets=2, cores=32, threads=2, nodes=2, processor="Example Xeon Platinum", last=60 * MIB, group=32),
}  # fmt: skip


def cores_of(shape: Shape) -> list[Core]:
    """Return the cores of the machine, including those that may not be used."""
    many = shape.sockets * shape.cores
    found = []
    for k in range(many):
        halves = shape.numbering == "half"
        cpus = tuple(k + many * t if halves else k * shape.threads + t for t in range(shape.threads))
        node = k * shape.nodes // many
        kind = (
            {"units": ("cpu_core", 0), "capacity": ("", 1024)}.get(shape.kinds_by, ("", 0)) if shape.small else ("", 0)
        )
        found.append(Core(cpus, k // shape.cores, node, k // shape.group, (k, 1), kind[1], kind[0]))
    for k in range(shape.small):
        kind = {"units": ("cpu_atom", 0), "capacity": ("", 430)}.get(shape.kinds_by, ("", 0))
        cpu = many * shape.threads + k
        found.append(Core((cpu,), 0, 0, (many + k) // shape.group, (k // 4, 4), kind[1], kind[0]))
    step = shape.cpu_step
    return [core._replace(cpus=tuple(c * step for c in core.cpus)) for core in found]


def invent(root: Path, shape: Shape) -> Path:
    """Write the tree below `root`."""
    cores = cores_of(shape)
    present = sorted(cpu for core in cores for cpu in core.cpus)
    online = [cpu for cpu in present if cpu not in shape.offline]
    allowed = online if shape.allowed is None else [cpu for cpu in online if cpu in shape.allowed]
    sets = _Sets(shape, max(present) + 1)
    base = "sys/devices/system/cpu"
    files = {
        f"{base}/online": _list(online),
        f"{base}/present": _list(present),
        f"{base}/offline": _list(shape.offline),
        "proc/self/status": f"Name:\tpython\nCpus_allowed:\t{_map(allowed, max(present) + 1)}"
        + ("" if shape.maps_only else f"Cpus_allowed_list:\t{_list(allowed)}")
        + (f"Mems_allowed_list:\t{_list(shape.memory_nodes)}" if shape.memory_nodes else ""),
        "proc/cpuinfo": f"processor\t: 0\nmodel name\t: {shape.processor}\n" if shape.processor else "processor\t: 0\n",
        "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
        "sys/kernel/mm/transparent_hugepage/hpage_pmd_size": f"{shape.huge_page}\n",
    }
    for unit in {core.unit for core in cores} - {""}:
        files[f"sys/devices/{unit}/cpus"] = _list(cpu for core in cores if core.unit == unit for cpu in core.cpus)
    clusters = {
        key: [c for core in some for c in core.cpus if c in online] for key, some in _by(cores, "cluster").items()
    }
    groups = {key: [c for core in some for c in core.cpus if c in online] for key, some in _by(cores, "group").items()}
    for k, core in enumerate(cores):
        awake = [cpu for cpu in core.cpus if cpu in online]
        for cpu in awake:
            folder = f"{base}/cpu{cpu}"
            siblings = "thread_siblings" if shape.old_names else "core_cpus"
            files |= sets.files(f"{folder}/topology/{siblings}", awake)
            files[f"{folder}/topology/physical_package_id"] = f"{core.socket if shape.processor else -1}\n"
            if core.capacity:
                files[f"{folder}/cpu_capacity"] = f"{core.capacity}\n"
            small, of = core.unit == "cpu_atom" or core.capacity == 430, core.cluster[1]
            second, last = clusters[core.cluster], groups[core.group]
            first = (
                awake if shape.first_caches == 1 else awake[awake.index(cpu) % shape.first_caches :: shape.first_caches]
            )
            described = [("Data", 1, 32 * KIB, first, k), ("Instruction", 1, 64 * KIB, first, k),
                         ("Unified", 2, (2 if small else 1) * MIB, second, k // of),
                         ("Unified", 3, shape.last, last, core.group)]  # fmt: skip
            for index, (kind, level, size, shared, number) in enumerate(described if shape.caches else ()):
                place = f"{folder}/cache/index{index}"
                files |= {f"{place}/type": f"{kind}\n", f"{place}/level": f"{level}\n",
                          f"{place}/size": f"{size >> 10}K\n", f"{place}/coherency_line_size": "64\n"}  # fmt: skip
                if shape.numbers_only:
                    files[f"{place}/id"] = f"{number}\n"
                else:
                    files |= sets.files(f"{place}/shared_cpu", shared, "_map")
    for node in range(shape.nodes):
        number = node * shape.node_step
        folder = f"sys/devices/system/node/node{number}"
        inside = [cpu for core in cores if core.node == node for cpu in core.cpus if cpu in online]
        files |= {
            f"{folder}/cpumap": _map(inside, max(present) + 1),
            f"{folder}/meminfo": _meminfo(number, shape.memory),
        }
        if not shape.maps_only:
            files[f"{folder}/cpulist"] = _list(inside)
    for number, size in shape.memory_only:
        folder = f"sys/devices/system/node/node{number}"
        files |= {f"{folder}/cpulist": "\n", f"{folder}/cpumap": "0\n", f"{folder}/meminfo": _meminfo(number, size)}
    total = shape.nodes * shape.memory + sum(size for _, size in shape.memory_only)
    files["proc/meminfo"] = f"MemTotal: {total << 20} kB\nMemAvailable: {(total << 20) * 9 // 10} kB\n"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def machine(folder: Path, shape: Shape | str) -> Machine:
    """Return the machine as it is read from an invented tree in `folder`."""
    return linux.describe(invent(folder / "root", SHAPES[shape] if isinstance(shape, str) else shape), folder / "cache")


def _by(cores: Iterable[Core], name: str) -> dict[object, list[Core]]:
    found: dict[object, list[Core]] = {}
    for core in cores:
        found.setdefault(getattr(core, name), []).append(core)
    return found


class _Sets:
    """Write sets of CPUs in the format of this kernel."""

    def __init__(self, shape: Shape, width: int) -> None:
        self._maps_only, self._width = shape.maps_only, width

    def files(self, name: str, cpus: Sequence[int], suffix: str = "") -> dict[str, str]:
        found = {name + suffix: _map(cpus, self._width)}
        return found if self._maps_only else found | {f"{name}_list": _list(cpus)}


def _map(cpus: Iterable[int], width: int) -> str:
    bits = sum(1 << cpu for cpu in cpus)
    words = [f"{bits >> 32 * k & 0xFFFFFFFF:08x}" for k in reversed(range(-(-width // 32)))]
    return ",".join(words) + "\n"


def _list(cpus: Iterable[int]) -> str:
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and runs[-1][1] == cpu - 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs) + "\n"


def _meminfo(number: int, size: int) -> str:
    return f"Node {number} MemTotal:       {size << 20} kB\nNode {number} MemFree:        {size << 19} kB\n"
