"""Reads a Linux machine: /proc, /sys, psutil and archspec. `root` is "/" except in tests."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import resource
import secrets
import subprocess
from pathlib import Path

from firstlight.errors import FirstlightError
from firstlight.machine import Cache, CacheKind, Machine, allocation, gpus, parse
from firstlight.machine.counters import availability
from firstlight.process import bounded

BUSY = 0.5
"""A load average above this share of the usable CPUs disturbs a measurement."""


def describe(root: Path, cache_dir: Path) -> Machine:
    """The machine below `root`. Raises FirstlightError where the salt cannot be kept in `cache_dir`."""
    import psutil

    cpus = tuple(sorted(os.sched_getaffinity(0)))
    cpuinfo = _read(root / "proc/cpuinfo")
    family, architecture = _microarchitecture()
    sockets, cores, threads = _topology(root, cpus)
    memory = psutil.virtual_memory()
    bound = _memory_bound(root)
    governor, load = _governor(root, cpus), os.getloadavg()[0]
    allocated = allocation.discover()
    turbo = parse.turbo(
        _read(root / "sys/devices/system/cpu/intel_pstate/no_turbo"),
        _read(root / "sys/devices/system/cpu/cpufreq/boost"),
    )
    return Machine(
        name=salted_name(cache_dir, platform.node() + (_read(root / "etc/machine-id") or "")),
        processor=parse.processor(cpuinfo) or family,
        architecture=platform.machine(),
        microarchitecture=architecture,
        sockets=sockets,
        cores=cores,
        cpus=cpus,
        threads_per_core=threads,
        numa=_numa(root, cpus),
        caches=_caches(root, cpus),
        memory=min(memory.total, bound or memory.total),
        memory_available=min(memory.available, bound or memory.available),
        system=parse.os_release(_read(root / "etc/os-release")) or platform.system(),
        kernel=platform.release(),
        virtual=_virtual(root, cpuinfo),
        governor=governor,
        turbo=turbo,
        huge_pages=parse.chosen(_read(root / "sys/kernel/mm/transparent_hugepage/enabled")),
        load=load,
        counters=availability(_read(root / "proc/sys/kernel/perf_event_paranoid")),
        limits=_limits(),
        warnings=warnings(len(cpus), load, governor, turbo, _frequency(root, cpus), _quota(root))
        + _uneven(allocated, len(cpus)),
        nodes=allocated.nodes,
        batch=allocated.system,
        gpus=gpus.discover(root),
    )


def warnings(
    cpus: int, load: float, governor: str | None, turbo: bool | None, frequency: bool, quota: float | None
) -> tuple[str, ...]:
    """Sentences about what may disturb a measurement here. `frequency`: whether the system tells a clock frequency."""
    found = []
    if governor and "powersave" in governor:
        found.append("the frequency governor is powersave: short runs may see a low clock")
    if not frequency and governor is None and turbo is None:
        found.append("the system tells nothing about clock frequency: drift of the clock cannot be told from noise")
    if load > BUSY * cpus:
        found.append(f"not alone: load {load:.1f} on {cpus} CPUs before the run")
    if quota is not None and quota < cpus:
        found.append(f"a control group allows {quota:g} of {cpus} CPUs: threads beyond that are throttled")
    return tuple(found)


def _uneven(allocated: allocation.Allocation, cpus: int) -> tuple[str, ...]:
    """What is odd about the allocation. Programs are placed by the CPUs of the node that firstlight itself runs on."""
    found = [allocated.warning] if allocated.warning else []
    if not allocated.even and allocated.cpus is not None and allocated.cpus < cpus:
        found.append(f"the nodes of this allocation differ: {cpus} CPUs here, {allocated.cpus} on the smallest")
    return tuple(found)


def salted_name(cache_dir: Path, identity: str) -> str:
    """A digest that is equal for equal machines within one cache directory and tells nothing about the host's name."""
    try:
        salt = _salt(cache_dir)
    except OSError as error:
        reason = error.strerror or str(error)
        raise FirstlightError(
            f"cannot keep the cache in {cache_dir}: {reason}; set FIRSTLIGHT_CACHE to a writable folder"
        ) from error
    return hashlib.blake2b(identity.encode(), key=salt, digest_size=6).hexdigest()


def _salt(cache_dir: Path) -> bytes:
    """32 random bytes, made once. Linked from a complete file, so that two who start at once read the same."""
    path = cache_dir / "salt"
    if not path.exists():
        cache_dir.mkdir(parents=True, exist_ok=True)
        draft = cache_dir / f"salt.{os.getpid()}.{secrets.token_hex(4)}"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_bytes(32))
            with contextlib.suppress(FileExistsError):  # somebody else was first: theirs is the salt
                os.link(draft, path)
        finally:
            draft.unlink()
    return path.read_bytes()[:64]


def _read(path: Path) -> str | None:
    """The text of a small system file; None where there is none or the kernel refuses to tell."""
    try:
        with path.open("rb") as file:
            return file.read(1 << 22).decode(errors="replace")
    except OSError:
        return None


def _microarchitecture() -> tuple[str, str]:
    """(a readable name from the vendor, the microarchitecture) as archspec knows them."""
    import archspec.cpu

    host = archspec.cpu.host()
    vendor = "" if host.vendor == "generic" else f"{host.vendor} "
    return f"{vendor}{host.name}", str(host.name)


def _topology(root: Path, cpus: tuple[int, ...]) -> tuple[int, int, int]:
    """(sockets, cores, most hardware threads of a core) among the usable CPUs."""
    packages: set[int] = set()
    cores: set[tuple[int, ...]] = set()
    threads = 1
    for cpu in cpus:
        folder = root / f"sys/devices/system/cpu/cpu{cpu}/topology"
        packages.add(parse.number(_read(folder / "physical_package_id")) or 0)
        siblings = parse.cpu_list(_read(folder / "thread_siblings_list")) or (cpu,)
        threads = max(threads, len(siblings))
        cores.add(siblings)
    return len(packages), len(cores), threads


def _numa(root: Path, cpus: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The usable CPUs of each NUMA node that has some; one node of all where the system does not tell."""
    nodes = []
    folders = (root / "sys/devices/system/node").glob("node[0-9]*")
    for folder in sorted(folders, key=lambda f: parse.number(f.name[4:]) or 0):
        inside = set(parse.cpu_list(_read(folder / "cpulist")))
        nodes.append(tuple(cpu for cpu in cpus if cpu in inside))
    return tuple(node for node in nodes if node) or (cpus,)


_KINDS: dict[str, CacheKind] = {"Data": "data", "Unified": "unified"}
"""As the kernel calls them; a cache of instructions is none of ours."""


def _caches(root: Path, cpus: tuple[int, ...]) -> tuple[Cache, ...]:
    """Data and unified caches behind the usable CPUs, each once, by level; from the C library where /sys has none."""
    found: dict[tuple[int, str, tuple[int, ...]], Cache] = {}
    for cpu in cpus:
        for folder in (root / f"sys/devices/system/cpu/cpu{cpu}/cache").glob("index[0-9]*"):
            kind = _KINDS.get((_read(folder / "type") or "").strip())
            level, size = parse.number(_read(folder / "level")), parse.size(_read(folder / "size"))
            if kind is None or not level or not size:
                continue
            shared = parse.cpu_list(_read(folder / "shared_cpu_list")) or (cpu,)
            line = parse.number(_read(folder / "coherency_line_size")) or 64
            found.setdefault(
                (level, kind, shared), Cache(level=level, kind=kind, size=size, line=line, shared_by=shared)
            )
    caches = found.values() or _caches_of_the_c_library(cpus)
    return tuple(sorted(caches, key=lambda c: (c.level, c.shared_by)))


def _caches_of_the_c_library(cpus: tuple[int, ...]) -> list[Cache]:
    """Sizes by level without sharing: levels 1 and 2 are taken as private, level 3 and above as shared by all."""
    caches = []
    for level, name in ((1, "LEVEL1_DCACHE"), (2, "LEVEL2_CACHE"), (3, "LEVEL3_CACHE")):
        size, line = _getconf(f"{name}_SIZE"), _getconf(f"{name}_LINESIZE") or 64
        groups = [cpus] if level == 3 else [(cpu,) for cpu in cpus]
        kind: CacheKind = "data" if level == 1 else "unified"
        caches += [Cache(level=level, kind=kind, size=size, line=line, shared_by=g) for g in groups if size]
    return caches


def _getconf(name: str) -> int | None:
    try:
        done = bounded.run(["getconf", name], timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return None  # no C library that tells: the fact stays unknown
    return parse.number(done.stdout) or None


def _governor(root: Path, cpus: tuple[int, ...]) -> str | None:
    """The frequency governors of the usable CPUs, each named once."""
    texts = (_read(root / f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor") for cpu in cpus)
    return ", ".join(sorted({text.strip() for text in texts if text and text.strip()})) or None


def _frequency(root: Path, cpus: tuple[int, ...]) -> bool:
    return any(_read(root / f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq") for cpu in cpus)


def _group_files(root: Path, controller: str, name: str) -> list[str]:
    """A control file of this process's group and of each group above it: any of them may hold the limit that bites."""
    groups = parse.control_groups(_read(root / "proc/self/cgroup"))
    base = root / "sys/fs/cgroup" / controller
    path = Path(groups.get(controller, "/").lstrip("/"))
    if ".." in path.parts:  # a group outside this namespace: only the mount's own root can be read
        path = Path()
    texts = (_read(base / folder / name) for folder in (path, *path.parents))
    return [text for text in texts if text]


def _quota(root: Path) -> float | None:
    """CPUs that the tightest control group allows."""
    limits = [parse.quota(text) for text in _group_files(root, "", "cpu.max")]
    old = zip(
        _group_files(root, "cpu", "cpu.cfs_quota_us"), _group_files(root, "cpu", "cpu.cfs_period_us"), strict=False
    )
    limits += [parse.quota(None, allowed, period) for allowed, period in old]
    return min((limit for limit in limits if limit is not None), default=None)


def _memory_bound(root: Path) -> int | None:
    """Bytes of memory that the tightest control group allows."""
    texts = [*_group_files(root, "", "memory.max"), *_group_files(root, "memory", "memory.limit_in_bytes")]
    return min((bound for bound in map(parse.number, texts) if bound), default=None)


def _virtual(root: Path, cpuinfo: str | None) -> str | None:
    places = (
        "sys/class/dmi/id/sys_vendor",
        "sys/class/dmi/id/product_name",
        "sys/hypervisor/type",
        "proc/device-tree/hypervisor/compatible",
        "sys/devices/system/clocksource/clocksource0/current_clocksource",
    )
    marks = {"Docker container": ".dockerenv", "Podman container": "run/.containerenv"}
    container = next((label for label, mark in marks.items() if (root / mark).exists()), None)
    named = _read(root / "run/systemd/container")
    return parse.virtualisation(
        parse.has_hypervisor(cpuinfo),
        [text.strip("\0\n ") for text in map(_read, (root / place for place in places)) if text],
        container or (f"{named.strip()} container" if named else None),
    )


def _limits() -> dict[str, str]:
    """Soft limits that matter to parallel programs: bytes, or "unlimited"."""
    names = {"memlock": resource.RLIMIT_MEMLOCK, "stack": resource.RLIMIT_STACK, "core": resource.RLIMIT_CORE}
    soft = {name: resource.getrlimit(number)[0] for name, number in names.items()}
    return {name: "unlimited" if value == resource.RLIM_INFINITY else str(value) for name, value in soft.items()}
