"""Diagnose a machine: what is here, what is missing with one fix each, and what may disturb a measurement."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import textwrap
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import msgspec

from firstlight.analysis import nominal_peaks
from firstlight.core import caller
from firstlight.core.errors import BuildError
from firstlight.core.units import binary, count, quantity
from firstlight.runner import energy
from firstlight.system import site
from firstlight.system.energy import NOTHING
from firstlight.system.machine import (
    SHARED_LEAST,
    Machine,
    cache_directory,
    cores,
    counters,
    gpu_links,
    hardware,
    shared_memory,
    starts_nothing,
)
from firstlight.system.mpi_families import every, outside, placing
from firstlight.system.process import bounded, guard
from firstlight.toolchain import OFFLOADING, RUNTIMES, Absent, Mpi, Toolbox, cmake
from firstlight.toolchain.offers import format_offers

ROOM = 2 << 30
"""Bytes of disk that builds, the Python environment and embedded MPI libraries require, with reserve."""

_RANKS = (
    "".join(f"#define {family.skip_cxx}\n" for family in every() if family.skip_cxx)
    + """#include <mpi.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 0, rank = 0, sum = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int mine = rank + 1;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return size == 2 && sum == 3 ? 0 : 9;
}
"""
)
_STARTED = Lock()  # the ranks of one library at a time: ranks that wait keep their cores busy


class Item(msgspec.Struct, frozen=True):
    """Something that is available: `what` it is, and its properties."""

    what: str
    detail: str


class Diagnosis(msgspec.Struct, frozen=True):
    """The result of `firstlight doctor`. `healthy`: no requirement of a run is missing."""

    machine: tuple[Item, ...]
    present: tuple[Item, ...]
    absent: tuple[Absent, ...]
    warnings: tuple[str, ...]
    healthy: bool


def diagnose(machine: Machine, toolbox: Toolbox, *, cache_dir: Path | None = None, ranks: bool = False) -> Diagnosis:
    """Return what discovery found and the results of the checks. `ranks`: also run two ranks of each MPI library."""
    cache = cache_dir or cache_directory()
    present, absent = _found(toolbox), []
    needed = [_cache(cache), _disk(cache), _tool("cmake"), _tool("ninja"), _compiler(toolbox)]
    optional = [_counters(machine), *_energy(), _pinning(), _temporary(), _shared(machine)]
    if ranks:
        optional += _talks(toolbox, cache)
    for answer in (*needed, *optional):
        if isinstance(answer, Item):
            present.append(answer)
        elif answer is not None:
            absent.append(answer)
    return Diagnosis(
        machine=_machine(machine),
        present=tuple(present),
        absent=(*absent, *toolbox.absent),
        warnings=machine.warnings,
        healthy=not any(isinstance(answer, Absent) for answer in needed),
    )


def text(diagnosis: Diagnosis, width: int = 80) -> str:
    """Return the diagnosis as aligned lines folded to `width` characters, one fact per line."""
    lines = [line for item in diagnosis.machine for line in _row("  ", item.what, item.detail, width)]
    lines += [line for warning in diagnosis.warnings for line in _row("  ", "!", warning, width, column=2)]
    lines += ["", "here"]
    lines += [line for item in diagnosis.present for line in _row("  ", item.what, item.detail, width)]
    if diagnosis.absent:
        lines += ["", "missing"]
    for gap in diagnosis.absent:
        lines += _row("  ", gap.what, gap.why, width)
        lines += _row("  ", "", f"fix: {gap.fix}", width)
    ending = "ready: ./fl run" if diagnosis.healthy else "not ready: fix the first entries under 'missing'"
    return "\n".join([*lines, "", ending])


def _talks(toolbox: Toolbox, cache: Path) -> list[Item | Absent]:
    """Return the result of `talk` for each MPI library. Their programs are compiled simultaneously."""
    with ThreadPoolExecutor(max(1, len(toolbox.mpis))) as pool:
        return list(pool.map(lambda mpi: talk(mpi, cache, emulator=toolbox.emulator), toolbox.mpis))


def talk(mpi: Mpi, cache: Path, timeout: float = 60, emulator: tuple[str, ...] = ()) -> Item | Absent:
    """Compile a program with the library, start two ranks, and let them add up a number, unless a trial did so."""
    what = f"two ranks, {mpi.label}"
    if mpi.starter:  # its mpiexec is not used here; what is used was proved by a trial of the same kind
        return Item(what, f"exchange messages, started by {' '.join(mpi.starter)}")
    environment = {**outside(os.environ), **mpi.environment}
    try:
        with guard.scratch("talk-", cache) as folder:
            (folder / "talk.cpp").write_text(_RANKS)
            started = [mpi.launcher, "-n", "2", *emulator, str(folder / "talk")]
            compiled = [mpi.cxx, "talk.cpp", "-o", "talk"]
            for command, alone in ((compiled, contextlib.nullcontext()), (started, _STARTED)):
                with alone:
                    code, output = _run(command, environment, folder, timeout)
                if code != 0:
                    lines = [line.strip() for line in output.splitlines() if re.search(r"\w", line)]
                    reason = lines[-1] if lines else f"exit status {code}"
                    return Absent(what, f"{Path(command[0]).name}: {reason}", f"repair or remove {mpi.label}")
    except OSError as error:
        return Absent(what, error.strerror or str(error), f"repair {mpi.label}, or make {cache} writable")
    return Item(what, "exchange messages")


def _run(command: list[str], environment: dict[str, str], folder: Path, timeout: float) -> tuple[int, str]:
    """Run a command and return its exit status and output; 124 after `timeout` seconds."""
    try:
        done = bounded.run(command, timeout=timeout, environment=environment, folder=folder, merge=True)
    except subprocess.TimeoutExpired:
        return 124, f"no answer within {timeout:g} s"
    return done.returncode, done.stdout


def _machine(machine: Machine) -> tuple[Item, ...]:
    caches = {c.level: f"L{c.level} {binary(c.size)}" for c in machine.caches}
    kinds = f" ({text})" if (text := cores.kinds(machine)) else ""
    usable = f"{count(machine.cores, 'core')}{kinds}, {count(len(machine.cpus), 'CPU')} usable"
    nodes = f"{count(machine.sockets, 'socket')}, {count(len(machine.numa), 'NUMA node')}"
    parts = [usable, nodes, *caches.values()]
    memory = f"{binary(machine.memory)}, {binary(machine.memory_available)} available"
    turbo = {True: "turbo on", False: "turbo off", None: "turbo unknown"}[machine.turbo]
    frequency = f"governor {machine.governor or 'unknown'}, {turbo}, huge pages {machine.huge_pages or 'unknown'}"
    system = f"{machine.system}, Linux {machine.kernel}, {machine.virtual or 'no virtualisation detected'}"
    limits = ", ".join(f"{k} {v if v == 'unlimited' else binary(int(v))}" for k, v in machine.limits.items())
    return (
        Item("processor", f"{machine.processor} ({', '.join(filter(None, (machine.core, machine.architecture)))})"),
        Item("instruction set", machine.microarchitecture),
        Item("layout", ", ".join(parts)),
        Item("memory", memory),
        Item("GPUs", _gpus(machine)),
        Item("system", system),
        Item("frequency", frequency),
        Item("nominal peak", _nominal(machine)),
        Item("limits", limits),
        Item("load", f"{machine.load:.2f}"),
        *_site(),
        *_ignored(),
    )


def _nominal(machine: Machine) -> str:
    """Return `Zen 4, 16 operations per cycle, 3.7 GHz (the highest clock): 59.2 Gflop/s per core; memory ...`."""
    if machine.hardware is None:
        return "unknown: emulated"
    texts = []
    for one in machine.hardware.arithmetic:
        cycle = f", {one.per_cycle} operations of 64 bit per cycle" if one.per_cycle else ""
        clock = f", {quantity(one.clock, 'Hz')} ({nominal_peaks.CLOCKS[one.clock_of]})" if one.clock else ""
        rate = f": {quantity(one.rate, 'flop/s')} per core" if one.rate else ""
        texts.append(f"{count(one.cores, 'core')} {one.name or 'not listed'}{cycle}{clock}{rate}")
    if why := hardware.unknown(machine):
        texts.append(f"incomplete: {why}")
    memory, links = machine.hardware.memory, machine.hardware.links
    texts.append(f"memory {quantity(memory, 'B/s') if memory else 'unknown: only root can read it; see docs/site.md'}")
    texts += [f"{count(link.count, 'link')} {link.name}, {quantity(link.rate, 'bit/s')}" for link in links]
    return "; ".join(texts)


def _ignored() -> list[Item]:
    """Return the caller's variables that would change what is built, or where ranks run."""
    names = sorted({*caller.ignored(), *placing(os.environ)})
    return [Item("ignored variables", f"{', '.join(names)}; see docs/site.md")] if names else []


def _site() -> list[Item]:
    """Return the site file, if there is one, and the modules."""
    file, (name, modules) = site.current().path, site.wanted()
    taken = f"{name or 'loaded'}: {', '.join(modules)}" if modules else ""
    return [
        *([Item("site file", f"{file}; for the effect of each line: ./fl doctor --site")] if file else []),
        *([Item("modules", taken)] if taken else []),
    ]


def _gpus(machine: Machine) -> str:
    counts = Counter(f"{gpu.name}{f', {binary(gpu.memory)}' if gpu.memory else ''}" for gpu in machine.gpus)
    links = gpu_links.format_links(machine.gpu_links)
    listed = [f"{number} x {name}" for name, number in counts.items()]
    return "; ".join([*listed, *([links] if links else [])]) or "none"


def _found(toolbox: Toolbox) -> list[Item]:
    """Return the compilers with their flag sets, MPI and numerical libraries, GPU tools and batch systems."""
    items = []
    for compiler in dict.fromkeys(t.compiler for t in toolbox.toolchains):
        chains = [t for t in toolbox.toolchains if t.compiler == compiler]
        first = chains[0]
        fortran = f", Fortran {first.fortran_version} ({first.fortran})" if first.fortran else ""
        openmp = ", OpenMP" if first.openmp else ""
        sets = " ".join(t.flag_set for t in chains)
        items.append(Item(f"{compiler} {first.version}", f"{first.cxx}; {sets}{openmp}{fortran}"))
    for mpi in toolbox.mpis:
        f08 = f", mpi_f08 with {' '.join(mpi.f08)}" if mpi.f08 else ", no mpi_f08"
        extras = "".join(f", {name}" for key, name in RUNTIMES.items() if key in mpi.extras)
        items.append(Item(mpi.label, f"{mpi.origin}, {mpi.cxx}{f08}{extras}"))
    if toolbox.cuda is not None:
        items.append(
            Item(toolbox.cuda.label, f"{toolbox.cuda.nvcc} with {toolbox.cuda.host}, {toolbox.cuda.architecture}")
        )
    for offload in toolbox.offloads:
        runs = "a trial ran on a device" if offload.ran else "compiled, not run: no device here"
        text = (
            f"generates code for {offload.device}; {runs}"
            if offload.device
            else "generates code for the host only: never run"
        )
        items.append(Item(f"{OFFLOADING[offload.capability]}, {offload.compiler}", text))
    items += [
        Item(x.label, f"{format_offers(x.offers)}; {' '.join(x.link_flags or x.compile_flags)}")
        for x in toolbox.libraries
    ]
    items += [Item(name, f"./fl submit; {_started(toolbox)}") for name in toolbox.batch]
    return items


def _started(toolbox: Toolbox) -> str:
    """Return which MPI libraries the batch system starts; this is known only inside an allocation."""
    ways = [
        f"{mpi.label} by {Path(mpi.starter[0]).name} {' '.join(mpi.starter[1:])}" for mpi in toolbox.mpis if mpi.starter
    ]
    return "starts " + ", ".join(ways) if ways else "MPI programs are started with mpiexec"


def _cache(cache: Path) -> Item | Absent:
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=cache):
            pass
    except OSError as error:
        why = f"cannot write to {cache}: {error.strerror}"
        return Absent("cache directory", why, "set FIRSTLIGHT_CACHE to a writable folder")
    if starts_nothing(cache):
        why = f"no program in {cache} can be started: the file system is mounted noexec"
        return Absent("cache directory", why, "set FIRSTLIGHT_CACHE to a folder on another file system")
    return Item("cache directory", str(cache))


def _disk(cache: Path) -> Item | Absent | None:
    """Return the free disk space, None if the cache directory itself is missing, which is reported already."""
    if not cache.is_dir():
        return None
    free = shutil.disk_usage(cache).free
    if free < ROOM:
        why = f"{binary(free)} free at {cache}, {binary(ROOM)} are required"
        return Absent("disk space", why, "free some space, or set FIRSTLIGHT_CACHE to a folder on a larger disk")
    return Item("disk space", f"{binary(free)} free")


def _pinning() -> Absent | None:
    try:
        os.sched_setaffinity(0, os.sched_getaffinity(0))
    except OSError as error:
        why = f"the system refuses sched_setaffinity ({error.strerror}): programs run, but move from core to core"
        return Absent(
            "pinning", why, "optional: allow sched_setaffinity, for example in the container's seccomp profile"
        )
    return None


def _temporary() -> Absent | None:
    folder = Path(tempfile.gettempdir())
    if not starts_nothing(folder):
        return None
    why = (
        f"no program in {folder} can be started: the file system is mounted noexec, and ./fl tune loop starts "
        f"programs there"
    )
    return Absent("temporary folder", why, "optional: set TMPDIR to a folder on another file system")


def _shared(machine: Machine) -> Absent | None:
    free, least = shared_memory(), SHARED_LEAST * machine.cores
    if free is not None and free >= least:
        return None
    here = "does not exist" if free is None else f"has {binary(free)} free"
    why = f"/dev/shm {here}; {binary(least)} are required, because ranks on a node share memory there"
    return Absent("shared memory", why, "mount -o remount,size=1g /dev/shm; for a container: docker run --shm-size=1g")


def _tool(name: str) -> Item | Absent:
    try:
        return Item(name, cmake.tool(name))
    except BuildError as error:
        why, _, fix = str(error).partition("; ")
        return Absent(name, why.removeprefix(f"{name} "), fix)


def _compiler(toolbox: Toolbox) -> Absent | None:
    if toolbox.toolchains:
        return None
    fix = next((gap.fix for gap in toolbox.absent if gap.what == "gcc"), "install g++ 11 or newer")
    return Absent("a C++ compiler", "no compiler with C++20 was found", fix)


def _counters(machine: Machine) -> Item | Absent:
    if machine.counters == counters.AVAILABLE:
        return Item("counters", machine.counters)
    return Absent("counters", machine.counters, f"optional: {counters.REMEDY}")


def _energy() -> list[Item | Absent]:
    """Return the source of energy that runs use, and every source that this user cannot read."""
    found = energy.discover()
    denied = [Absent(one.what, one.why, f"optional: {one.fix}") for one in found.denied]
    if found.source is not None:
        meter = found.source.meter
        return [Item("energy", f"{meter.source}: {meter.covers}, updated every {quantity(meter.update, 's')}"), *denied]
    fix = "optional: the site file's `[energy] command` can print the power, see docs/site.md"
    return [*denied] or [Absent("energy", NOTHING, fix)]


def _row(indent: str, what: str, detail: str, width: int, column: int = 24) -> list[str]:
    """Return lines with `what` in a column and `detail` folded to `width`; a long `what` has a line of its own."""
    room = max(20, width - len(indent) - column)
    folded = textwrap.wrap(detail, room, break_long_words=False, break_on_hyphens=False) or [""]
    head = f"{indent}{what:<{column}}"
    lines = [head + folded[0]] if len(what) < column else [f"{indent}{what}", " " * (len(indent) + column) + folded[0]]
    return [line.rstrip() for line in (*lines, *(" " * (len(indent) + column) + rest for rest in folded[1:]))]
