"""Reader of a Linux machine: /proc, /sys, psutil and archspec. `root` is "/" except in tests."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import resource
import secrets
from pathlib import Path

import msgspec

from firstlight.core.errors import FirstlightError
from firstlight.system.machine import (
    NOT_ALONE,
    Gpu,
    Machine,
    MemoryNode,
    allocation,
    busy,
    gpus,
    hardware,
    inherited,
    parse,
    topology,
)
from firstlight.system.machine.counters import availability
from firstlight.system.machine.files import read


def describe(root: Path, cache_dir: Path) -> Machine:
    """Return the machine below `root`. Raises FirstlightError if the salt cannot be stored in `cache_dir`."""
    cpus = topology.usable(root)
    cpuinfo = read(root / "proc/cpuinfo")
    family, architecture = _microarchitecture()
    cores = topology.cores(root, cpus)
    kinds = topology.kinds(root, cores)
    numa = topology.numa(root, cpus)
    memory, _ = _memory(root)
    bound = _allowed(root)
    governor, load = _governor(root, cpus), os.getloadavg()[0]
    allocated, given = allocation.discover(), inherited.discover(root)
    turbo = parse.turbo(
        read(root / "sys/devices/system/cpu/intel_pstate/no_turbo"),
        read(root / "sys/devices/system/cpu/cpufreq/boost"),
    )
    of_nvidia = gpus.discover(root)
    of_amd, links = gpus.linked(len(of_nvidia))
    found = Machine(
        name=salted_name(cache_dir, platform.node() + (read(root / "etc/machine-id") or "")),
        processor=parse.processor(cpuinfo) or family,
        architecture=platform.machine(),
        microarchitecture=architecture,
        sockets=topology.sockets(root, cores),
        cores=len(cores),
        cpus=cpus,
        threads_per_core=max(map(len, cores)),
        numa=tuple(node.cpus for node in numa if node.cpus) or (cpus,),
        caches=topology.caches(root, cores),
        memory=min(memory, bound or memory),
        memory_available=available_memory(root),
        system=parse.os_release(read(root / "etc/os-release")) or platform.system(),
        kernel=platform.release(),
        virtual=_virtual(root, cpuinfo),
        governor=governor,
        turbo=turbo,
        huge_pages=parse.chosen(read(root / "sys/kernel/mm/transparent_hugepage/enabled")),
        load=load,
        counters=availability(read(root / "proc/sys/kernel/perf_event_paranoid")),
        limits=_limits(),
        warnings=warnings(len(cpus), load, governor, turbo, _frequency(root, cpus), _quota(root))
        + tuple(f"started with {text}, which programs inherit" for text in given)
        + _uneven(allocated, len(cpus)),
        inherited=given,
        nodes=allocated.nodes,
        batch=allocated.system,
        gpus=of_nvidia + (Gpu(gpus.OF_AMD),) * of_amd,
        gpu_links=links,
        siblings=cores,
        kinds=kinds,
        numa_numbers=tuple(node.number for node in numa if node.cpus),
        memory_only=tuple(MemoryNode(node.number, node.memory) for node in numa if not node.cpus and node.memory),
        page=os.sysconf("SC_PAGE_SIZE"),
        huge_page=topology.huge_page(root),
    )
    return msgspec.structs.replace(found, hardware=hardware.describe(root, found))


def warnings(
    cpus: int, load: float, governor: str | None, turbo: bool | None, frequency: bool, quota: float | None
) -> tuple[str, ...]:
    """Return sentences on what may disturb a measurement. `frequency`: whether the system shows a clock frequency."""
    found = []
    if governor and "powersave" in governor:
        found.append("the frequency governor is powersave: short runs may see a low clock frequency")
    if not frequency and governor is None and turbo is None:
        found.append("CPU frequency is not visible; clock drift cannot be separated from noise")
    if busy(load, cpus):
        found.append(NOT_ALONE.format(load=f"{load:.1f}", cpus=cpus))
    if quota is not None and quota < cpus:
        found.append(f"a control group allows {quota:g} of {cpus} CPUs: further threads are throttled")
    return tuple(found)


def _uneven(allocated: allocation.Allocation, cpus: int) -> tuple[str, ...]:
    """Return warnings about the allocation. firstlight places programs by the CPUs of the node that it runs on."""
    found = [allocated.warning] if allocated.warning else []
    if not allocated.even and allocated.cpus is not None and allocated.cpus < cpus:
        found.append(f"the nodes of this allocation differ: {cpus} CPUs here, {allocated.cpus} on the smallest")
    return tuple(found)


def salted_name(cache_dir: Path, identity: str) -> str:
    """Return a digest that is equal for equal machines within one cache directory and hides the host's name."""
    try:
        salt = _salt(cache_dir)
    except OSError as error:
        reason = error.strerror or str(error)
        raise FirstlightError(
            f"cannot keep the cache in {cache_dir}: {reason}; set FIRSTLIGHT_CACHE to a writable folder"
        ) from error
    return hashlib.blake2b(identity.encode(), key=salt, digest_size=6).hexdigest()


def _salt(cache_dir: Path) -> bytes:
    """Return 32 random bytes, made once. The link to a complete file ensures that concurrent starts read the same."""
    path = cache_dir / "salt"
    if not path.exists():
        cache_dir.mkdir(parents=True, exist_ok=True)
        draft = cache_dir / f"salt.{os.getpid()}.{secrets.token_hex(4)}"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_bytes(32))
            with contextlib.suppress(FileExistsError):  # another process was first: its salt is used
                os.link(draft, path)
        finally:
            draft.unlink()
    return path.read_bytes()[:64]


def _microarchitecture() -> tuple[str, str]:
    """Return a readable name with the vendor, and the microarchitecture, as archspec defines them."""
    import archspec.cpu

    host = archspec.cpu.host()
    vendor = "" if host.vendor == "generic" else f"{host.vendor} "
    return f"{vendor}{host.name}", str(host.name)


def _memory(root: Path) -> tuple[int, int]:
    """Return the bytes of memory, and how many of them are available."""
    fields = next(iter(parse.fields(read(root / "proc/meminfo"))), {})
    total, free = (parse.size((fields.get(name) or "").upper()) for name in ("MemTotal", "MemAvailable"))
    if total and free:
        return total, free
    import psutil

    memory = psutil.virtual_memory()
    return memory.total, memory.available


def _allowed(root: Path) -> int | None:
    """Return the bytes of memory that control groups and NUMA nodes allow this process; None if they allow all."""
    return min((b for b in (_memory_bound(root), topology.allowed_memory(root)) if b), default=None)


def available_memory(root: Path) -> int:
    """Return the bytes of memory that are free for use: those available in the system, within what is allowed here."""
    available, bound = _memory(root)[1], _allowed(root)
    return min(available, bound or available)


def _governor(root: Path, cpus: tuple[int, ...]) -> str | None:
    """Return the frequency governors of the usable CPUs, each named once; None if none is known."""
    texts = (read(root / f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor") for cpu in cpus)
    return ", ".join(sorted({text.strip() for text in texts if text and text.strip()})) or None


def _frequency(root: Path, cpus: tuple[int, ...]) -> bool:
    return any(read(root / f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq") for cpu in cpus)


def _group_files(root: Path, controller: str, name: str) -> list[str]:
    """Return a control file of this process's group and of each group above it: any may set the lowest limit."""
    groups = parse.control_groups(read(root / "proc/self/cgroup"))
    base = root / "sys/fs/cgroup" / controller
    path = Path(groups.get(controller, "/").lstrip("/"))
    if ".." in path.parts:  # a group outside this namespace: only the mount's own root can be read
        path = Path()
    texts = (read(base / folder / name) for folder in (path, *path.parents))
    return [text for text in texts if text]


def _quota(root: Path) -> float | None:
    """Return the number of CPUs that the tightest control group allows; None if there is no limit."""
    limits = [parse.quota(text) for text in _group_files(root, "", "cpu.max")]
    old = zip(
        _group_files(root, "cpu", "cpu.cfs_quota_us"), _group_files(root, "cpu", "cpu.cfs_period_us"), strict=False
    )
    limits += [parse.quota(None, allowed, period) for allowed, period in old]
    return min((limit for limit in limits if limit is not None), default=None)


def _memory_bound(root: Path) -> int | None:
    """Return the bytes of memory that the tightest control group allows; None if there is no limit."""
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
    named = read(root / "run/systemd/container")
    return parse.virtualisation(
        parse.has_hypervisor(cpuinfo),
        [text.strip("\0\n ") for text in map(read, (root / place for place in places)) if text],
        container or (f"{named.strip()} container" if named else None),
    )


def _limits() -> dict[str, str]:
    """Return the soft limits that matter to parallel programs: bytes, or "unlimited"."""
    names = {"memlock": resource.RLIMIT_MEMLOCK, "stack": resource.RLIMIT_STACK, "core": resource.RLIMIT_CORE}
    soft = {name: resource.getrlimit(number)[0] for name, number in names.items()}
    return {name: "unlimited" if value == resource.RLIM_INFINITY else str(value) for name, value in soft.items()}
