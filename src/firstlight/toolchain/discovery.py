"""The survey: run every probe and collect the results."""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import msgspec

from firstlight.core.errors import FirstlightError
from firstlight.system import mpi_families, site
from firstlight.system.machine import Machine
from firstlight.toolchain import (
    Absent,
    Cuda,
    Library,
    Linking,
    Mpi,
    Offload,
    Toolbox,
    Toolchain,
    accelerators,
    compilers,
    cross_compile,
    extras,
    libraries,
    runtimes,
)
from firstlight.toolchain.compiling import fortran_of, toolchains_of
from firstlight.toolchain.embedding import embed, wants_embedding
from firstlight.toolchain.host import BARE, Host
from firstlight.toolchain.memory import Memory
from firstlight.toolchain.probe_result import Compiler, Found, probes
from firstlight.toolchain.starting import refused, starting
from firstlight.toolchain.wrappers import probe, prove_mpi


def survey(
    machine: Machine,
    cache_dir: Path,
    *,
    embed_mpi: bool,
    say: Callable[[str], None],
    environ: Mapping[str, str] | None = None,
) -> Toolbox:
    """Discover what is here, see `toolchain.discover`. `environ` replaces this process's environment in tests."""
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        target = site.target() if machine.emulated else None
        world, memory = os.environ if environ is None else environ, Memory(cache_dir / "probes.json")
        if target is None:
            host = Host(machine, cache_dir, world, memory)
            toolbox = _ask(host, embed_mpi, say)
        else:
            host = Host(machine, cache_dir, world, memory, target[1].run)
            toolbox = _cross(host, target[1])
        host.memory.save()
    except OSError as error:
        reason = error.strerror or str(error)
        raise FirstlightError(
            f"cannot use the cache {cache_dir}: {reason}; set FIRSTLIGHT_CACHE to a writable folder"
        ) from error
    return toolbox


def _ask(host: Host, embed_mpi: bool, say: Callable[[str], None]) -> Toolbox:
    workers = max(1, min(8, len(host.machine.cpus)))
    with ThreadPoolExecutor(workers) as pool:
        found_compilers: list[Found[Compiler]] = list(pool.map(lambda ask: ask(host), probes(compilers)))
        every = [c for found in found_compilers for c in found.items]
        absent = [a for found in found_compilers for a in found.absent]
        toolchains: list[Toolchain] = []
        for some, missing in pool.map(lambda c: toolchains_of(host, c), every):
            toolchains += some
            absent += missing
        found_mpi: list[Found[Mpi]] = list(pool.map(lambda family: probe(host, family), mpi_families.every()))
        mpis = [m for found in found_mpi for m in found.items]
        absent += [a for found in found_mpi for a in found.absent]
        embedded, missing = embed(host, wants_embedding(mpis), embed_mpi, say)
        mpis += embedded
        absent += missing
        usable, missing = _prove(host, mpis, every)
        absent += missing
        equipped = list(pool.map(lambda library: _equip(host, library, every), usable))
        absent += [gap for _, missing in equipped for gap in missing]
        numerical, missing = _libraries(host, every)
        absent += missing
        cuda, offloads, missing = _accelerators(host, every)
        absent += missing
        batch: list[str] = []
        for extra in pool.map(lambda ask: ask(host), probes(extras)):
            batch += extra.items
            absent += extra.absent
    if host.bare:
        absent.append(Absent("other properties of the system", f"hidden: {BARE} is set", f"unset {BARE}"))
    way = site.launcher()
    started = [
        starting(host, library, way) for library, _ in equipped
    ]  # one after the other: they share the allocation
    absent += [gap for _, missing in started for gap in missing]
    useless = {library.name: gap for library, _ in started if (gap := refused(host, library, way))}
    absent += useless.values()
    return Toolbox(
        toolchains=tuple(toolchains),
        mpis=tuple(library for library, _ in started if library.name not in useless),
        libraries=tuple(numerical),
        absent=tuple(absent),
        batch=tuple(batch),
        cuda=cuda,
        offloads=tuple(offloads),
    )


def _cross(host: Host, target: site.Target) -> Toolbox:
    """Return the toolbox for another processor: compilers, MPI libraries, and header-only numerical libraries.

    It has no devices, and no batch system, which could not start programs that need an emulator.
    """
    found = cross_compile.compilers(host, target)
    every, absent = [_with_fortran(host, c) for c in found.items], list(found.absent)
    toolchains: list[Toolchain] = []
    for compiler in every:
        sets = cross_compile.flag_sets(target, compiler.family)
        absent += cross_compile.missing(compiler.name, sets)
        some, missing = toolchains_of(host, compiler, sets)
        toolchains += some
        absent += missing
    made_for_it = cross_compile.libraries(host, target, every[0] if every else None)
    usable, missing = _prove(host, list(made_for_it.items), every)
    numerical, lacking = _libraries(host, every)
    absent += [*made_for_it.absent, *missing, *lacking]
    absent.append(Absent("GPUs", f"{host.machine.architecture} is emulated", "run on a machine with this processor"))
    return Toolbox(
        toolchains=tuple(toolchains),
        mpis=tuple(usable),
        libraries=tuple(numerical),
        absent=tuple(absent),
        emulator=host.emulator,
    )


def _with_fortran(host: Host, compiler: Compiler) -> Compiler:
    found = fortran_of(host, compiler, cross_compile.names_of_fortran(compiler))
    return msgspec.structs.replace(compiler, fortran=found[0], fortran_version=found[1]) if found else compiler


def _prove(host: Host, libraries: list[Mpi], every: list[Compiler]) -> tuple[list[Mpi], list[Absent]]:
    """Return MPI libraries that link with the default compiler, with the Fortran families whose mpi_f08 works."""
    usable, absent = [], []
    for library in libraries if every else []:
        answer = prove_mpi(host, library, every)
        if isinstance(answer, Absent):
            absent.append(answer)
        else:
            usable.append(answer)
    return usable, absent


def _equip(host: Host, library: Mpi, every: list[Compiler]) -> tuple[Mpi, list[Absent]]:
    """Return `library` with the runtimes that work with it, and those that do not."""
    answers = {name: ask(host, library, every) for name, ask in _runtimes().items()}
    extras = {name: answer for name, answer in answers.items() if isinstance(answer, Linking)}
    absent = [answer for answer in answers.values() if isinstance(answer, Absent)]
    return msgspec.structs.replace(library, extras=extras), absent


def _runtimes() -> dict[str, Callable[[Host, Mpi, Sequence[Compiler]], Linking | Absent]]:
    """Return the `probe` of every file in `runtimes`, by the capability that the file is named after."""
    return {m.name: importlib.import_module(f"{runtimes.__name__}.{m.name}").probe for m in _files(runtimes)}


def _libraries(host: Host, every: list[Compiler]) -> tuple[list[Library], list[Absent]]:
    """Return one numerical library of each name, that of the first probe, and what is missing."""
    chosen: dict[str, Library] = {}
    absent: list[Absent] = []
    if every:
        host.cxx = every[0].cxx
        for ask in probes(libraries):
            found: Found[Library] = ask(host)
            for library in found.items:
                chosen.setdefault(library.name, library)
            absent += found.absent
    return sorted(chosen.values(), key=lambda library: library.name), absent


def _accelerators(host: Host, every: list[Compiler]) -> tuple[Cuda | None, list[Offload], list[Absent]]:
    """Return the first CUDA compiler that works, directives for devices by compiler, and what is missing."""
    modules = [importlib.import_module(f"{accelerators.__name__}.{m.name}") for m in _files(accelerators)]
    answers: list[Cuda | Offload | Absent] = [answer for module in modules for answer in module.probe(host, every)]
    cuda = next((answer for answer in answers if isinstance(answer, Cuda)), None)
    offloads = [answer for answer in answers if isinstance(answer, Offload)]
    return cuda, offloads, [answer for answer in answers if isinstance(answer, Absent)]


def _files(package: ModuleType) -> list[pkgutil.ModuleInfo]:
    return sorted(pkgutil.iter_modules(package.__path__), key=lambda module: module.name)
