"""The machine: what processors, caches, memory and operating system are here, and what may disturb a measurement."""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from firstlight import INSTALLED, ROOT
from firstlight.core import caller
from firstlight.core.errors import FirstlightError

UNTIMED = "emulated: verified, not timed"
"""The note of every page on a processor that was emulated, and on each of its results."""

BUSY = 0.5
"""A load average above this share of the usable CPUs may disturb a measurement."""
NOT_ALONE = "the processors were not idle before the run: load average {load} on {cpus} CPUs"

CacheKind = Literal["data", "unified"]


class Cache(msgspec.Struct, frozen=True):
    """One cache. `size` in bytes; `shared_by`: the CPUs that share this cache, numbered as by the system."""

    level: Annotated[int, msgspec.Meta(ge=1, le=9)]
    kind: CacheKind
    size: Annotated[int, msgspec.Meta(ge=1)]
    line: int
    shared_by: tuple[int, ...]


class Gpu(msgspec.Struct, frozen=True):
    """One GPU: its commercial name, its compute capability ("9.0"; "": not reported), and its memory in bytes."""

    name: str
    capability: str = ""
    memory: int | None = None


class Kind(msgspec.Struct, frozen=True):
    """Cores of one kind of a hybrid processor: the name of the kind, and its usable CPUs."""

    name: str
    cpus: tuple[int, ...]


class MemoryNode(msgspec.Struct, frozen=True):
    """A NUMA node without cores (HBM, CXL): its number in the system, and its size in bytes."""

    number: int
    size: int


Clock = Literal["highest", "base", "site", ""]
"""Which clock is known of a core: the highest or the base clock that the system reports, the site file's, or none."""
Rate = Annotated[float, msgspec.Meta(gt=0, le=1e18)]


class Arithmetic(msgspec.Struct, frozen=True):
    """The vector units of identical cores: `units` start a fused multiply-add of `width` bits each cycle.

    `unknown`: why the units are unknown; `width` and `units` are then 0. `clock`: in Hz (None: unknown).
    """

    name: str  # of the processor, as processors.toml names it: Zen 4; "": not listed
    cores: Annotated[int, msgspec.Meta(ge=1, le=1 << 20)]
    width: Annotated[int, msgspec.Meta(ge=0, le=1 << 14)] = 0
    units: Annotated[int, msgspec.Meta(ge=0, le=64)] = 0
    unknown: str = ""
    clock: Rate | None = None
    clock_of: Clock = ""

    @property
    def per_cycle(self) -> int:
        """Return the operations on numbers of 64 bits that one core starts per cycle; 0: not known."""
        return 2 * self.units * self.width // 64

    @property
    def rate(self) -> float | None:
        """Return the nominal operations per second of one core; None if units or clock are not known."""
        return self.per_cycle * self.clock if self.per_cycle and self.clock else None


class Link(msgspec.Struct, frozen=True):
    """Identical network links of this node, such as `InfiniBand 4X EDR`. `rate`: bit/s per link and direction."""

    name: str
    rate: Rate
    count: Annotated[int, msgspec.Meta(ge=1, le=1 << 10)] = 1


class Hardware(msgspec.Struct, frozen=True):
    """Nominal peaks. `arithmetic`: of all usable cores, first of the core that runs serial programs. `memory`: in
    B/s.
    """

    arithmetic: Annotated[tuple[Arithmetic, ...], msgspec.Meta(min_length=1, max_length=1 << 10)]
    memory: Rate | None = None
    links: Annotated[tuple[Link, ...], msgspec.Meta(max_length=1 << 6)] = ()


class Storage(msgspec.Struct, frozen=True):
    """One storage target: its file system as the system reports it. `free`: in bytes. `files`: the number of files that
    can be added.

    None: the system does not report this. A figure names its target, never its path.
    """

    name: str  # results, tmpdir, shm, home, scratch, work, or a name of the user's
    type: str = ""  # of the file system: ext4, tmpfs, lustre
    options: str = ""  # of the mount, without those that contain paths or hosts
    device: str = ""  # the block device, "": the file system has none
    rotates: bool | None = None
    stripe: str = ""  # count and size of stripes on Lustre, "": not reported
    free: int | None = None
    files: int | None = None


class Machine(msgspec.Struct, frozen=True):
    """The properties of one node that a report shows. Sizes are in bytes. `name` is a salted digest, never the host
    name.

    `nodes`: the number of such nodes in the allocation of the batch system `batch` (slurm, pbs, flux, lsf; "": none).
    """

    name: str
    processor: str
    architecture: str
    microarchitecture: str
    sockets: int
    cores: int
    cpus: tuple[int, ...]
    threads_per_core: int
    numa: tuple[tuple[int, ...], ...]
    caches: tuple[Cache, ...]
    memory: int
    memory_available: int
    system: str
    kernel: str
    virtual: str | None
    governor: str | None
    turbo: bool | None
    huge_pages: str | None
    load: float
    counters: str
    limits: dict[str, str]
    warnings: tuple[str, ...] = ()
    nodes: int = 1  # of the batch allocation that this process is in
    batch: str = ""  # slurm, pbs, flux, lsf: whose allocation it is; "" outside of one
    gpus: tuple[Gpu, ...] = ()  # those of this node that a program may use
    gpu_links: tuple[tuple[str, ...], ...] = ()  # by GPU and GPU: NV12, SYS, XGMI, X for itself; empty: unknown
    siblings: tuple[tuple[int, ...], ...] = ()  # usable CPUs by core; empty in records that are older than it
    kinds: tuple[Kind, ...] = ()  # of cores, the fastest first; empty where all are of one kind
    numa_numbers: tuple[int, ...] = ()  # what the system calls the nodes of `numa`
    memory_only: tuple[MemoryNode, ...] = ()
    page: int | None = None  # bytes of a page, None: unknown
    huge_page: int | None = None  # bytes of a transparent huge page, None: unknown, or there are none
    emulated: str = ""  # what plays this processor: qemu-aarch64 7.2.22; "": a real processor
    label: str = ""  # what its site or its user calls it; "": nothing
    inherited: tuple[str, ...] = ()  # unusual settings of the process that started firstlight, as in inherited.py
    hardware: Hardware | None = None  # nominal peaks; None: emulated, or a record that is older than it
    storage: tuple[Storage, ...] = ()  # targets of storage; none in runs without a results folder

    @property
    def title(self) -> str:
        """Return the machine's name on pages: its label, else its digest."""
        return self.label or self.name

    @property
    def core(self) -> str:
        """Return the microarchitecture by the processor's model, `Zen 3`; "" if the model is not a known one.

        Instructions do not prove it: a hypervisor may hide some, and then they are those of an older processor.
        """
        return self.hardware.arithmetic[0].name if self.hardware else ""

    def cache(self, level: int) -> Cache | None:
        """Return the data or unified cache of that level behind the core that programs of one thread run on."""
        from firstlight.system.machine.cores import serial

        mine, cpu = [c for c in self.caches if c.level == level], serial(self)
        return next((c for c in mine if cpu in c.shared_by), mine[0] if mine else None)

    def last_cache(self) -> Cache | None:
        return max(self.caches, key=lambda c: c.level, default=None)

    def last_caches(self) -> int:
        """Return the bytes of all caches of the last level together."""
        last = self.last_cache()
        return sum(c.size for c in self.caches if last and c.level == last.level)


def busy(load: float, cpus: int) -> bool:
    """Return whether others used the processors before the run."""
    return load > BUSY * cpus


def cache_directory() -> Path:
    """Return the folder of builds, probes and embedded MPI libraries.

    This is $FIRSTLIGHT_CACHE, else `.fl` in the checkout, or the user's cache if firstlight is an installed package.
    """
    default = user_cache(os.environ) if INSTALLED else ROOT / ".fl"
    return Path(os.environ.get("FIRSTLIGHT_CACHE") or default).absolute()


def user_cache(environment: Mapping[str, str]) -> Path:
    """Return firstlight's folder in the user's cache: in $XDG_CACHE_HOME, else in ~/.cache."""
    named = Path(environment.get("XDG_CACHE_HOME", ""))  # the specification requires an absolute path
    base = named if named.is_absolute() else Path(environment.get("HOME") or "/nonexistent") / ".cache"
    return base / "firstlight"


def check_folders(cache: Path) -> None:
    """Check the paths of an installed package and its cache, as `fl` does in a checkout. Raises FirstlightError.

    Build tools must accept the paths. firstlight runs programs in the cache, so no other user may own it, except root
    and the owner of firstlight.
    """
    for what, path in (("firstlight", ROOT), ("the cache", cache)):
        if re.search(r"[\x00-\x1f\x7f$;:\\\"`]", str(path)):
            fix = "set FIRSTLIGHT_CACHE to another" if path == cache else "install firstlight in another folder"
            raise FirstlightError(f"build tools do not accept the path of {what}, {str(path)!r}; {fix}")
    owners = {0, os.geteuid(), ROOT.stat().st_uid}
    for place in (cache, *cache.glob("*")):
        with contextlib.suppress(FileNotFoundError):  # another firstlight may remove its files now
            if place.lstat().st_uid not in owners:
                why = "belongs to another user, whose programs would run here"
                raise FirstlightError(f"{place} {why}; set FIRSTLIGHT_CACHE to a folder of your own")


def kind() -> tuple[str, ...]:
    """Return the architecture, the C library and the compilers' search paths for headers and libraries.

    These are part of the key of everything that is compiled: no program is shared between kinds of machines.
    """
    return (*_system(), *caller.steering(os.environ))


@functools.cache
def _system() -> tuple[str, str]:
    return platform.machine(), " ".join(platform.libc_ver())


def starts_nothing(place: Path) -> bool:
    """Return whether the file system of `place` is mounted noexec, so that no program in it can be started."""
    return bool(os.statvfs(place).f_flag & os.ST_NOEXEC)


SHARED = Path("/dev/shm")
SHARED_LEAST = 16 << 20
"""Bytes per core; with less, ranks of a node that share memory may be killed by SIGBUS or refuse to start."""


def shared_memory() -> int | None:
    """Return the free bytes in /dev/shm, None if it does not exist."""
    try:
        found = os.statvfs(SHARED)
    except OSError:
        return None
    return found.f_bavail * found.f_frsize


def compilers_at_once(root: Path = Path("/")) -> int:
    """Return how many compilers may run simultaneously: one per usable CPU, at most one per GiB of available memory.

    On a node of 256 CPUs, or in a container with little memory, the kernel would otherwise kill some compilers for
    memory, which looks like an error in the program.
    """
    from firstlight.system.machine.linux import available_memory

    return max(1, min(len(os.sched_getaffinity(0)), available_memory(root) >> 30))


def discover() -> Machine:
    """Read this machine's description from the operating system (no privileges needed).

    What the system does not report (a container without /sys, a processor without frequency control) is None or empty.
    Raises FirstlightError if the cache directory, which contains the salt of the machine's name, cannot be written.
    """
    from firstlight.system.machine.linux import describe  # psutil and archspec are loaded only on demand

    return describe(Path("/"), cache_directory())
