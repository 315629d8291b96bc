"""Cross compilation: programs for another processor, built by compilers of the site file and run under an emulator.

Everything about that processor is the output of a program that is compiled for it and run under the emulator.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from firstlight.core.errors import FirstlightError
from firstlight.system import mpi_families
from firstlight.system.machine import UNTIMED, Machine
from firstlight.system.machine.linux import salted_name
from firstlight.system.site import Target
from firstlight.system.site.entries import folder
from firstlight.toolchain import Absent, FlagSet, Mpi, vendors
from firstlight.toolchain.compiling import knows_cxx20, proved, version_in, who
from firstlight.toolchain.embedding import place
from firstlight.toolchain.flag_sets import FLAG_SETS
from firstlight.toolchain.host import Host
from firstlight.toolchain.memory import Memory
from firstlight.toolchain.probe_result import Compiler, Found
from firstlight.toolchain.wrappers import first_of_family

_ITSELF = """#include <sys/utsname.h>
#include <unistd.h>
#include <cstdio>
int main() {
  utsname system{};
  if (uname(&system) != 0) return 1;
  std::printf("%s %ld\\n", system.machine, sysconf(_SC_PAGESIZE));
}
"""

TOOLS = ("ar", "ld", "objcopy", "objdump", "ranlib")
"""Binutils of a cross compiler: those of this machine cannot read another machine's programs."""


def play(machine: Machine, target: Target, cache_dir: Path) -> Machine:
    """Return `machine` as programs for the target see it. Raises FirstlightError if they do not build or start."""
    memory = Memory(cache_dir / "probes.json")
    host = Host(machine, cache_dir, os.environ, memory, target.run)
    starter, compiler = host.which(target.run[0]), host.which(target.compilers[0])
    for word, found in ((target.run[0], starter), (target.compilers[0], compiler)):
        if found is None:
            raise FirstlightError(f"--target: {word} is not on the search path; install it, or use an absolute path")
    label = f"{target.run[0]} {version_in(host.run([target.run[0], '--version']).out) or ''}".strip()
    assert compiler is not None
    key = f"itself {host.identity(compiler, starter)}"
    outcome = proved(host, key, _ITSELF, ".cpp", [compiler])
    words = outcome.out.split()
    if not outcome.ok or len(words) != 2:
        raise FirstlightError(f"--target: programs of {compiler.name} do not run under {label}: {outcome.reason}")
    memory.save()
    return replace(
        machine,
        name=salted_name(cache_dir, f"{machine.name} {words[0]} {label}"),
        processor=f"emulated by {Path(label).name}",
        architecture=words[0],
        microarchitecture=words[0],
        warnings=(UNTIMED,),
        governor=None,
        turbo=None,
        counters="hardware counters are not emulated",
        gpus=(),
        page=int(words[1]),
        emulated=Path(label).name,
        hardware=None,
    )


def compilers(host: Host, target: Target) -> Found[Compiler]:
    """Return the target's compilers by family: gcc, clang; a second version of one adds its number."""
    good: list[Compiler] = []
    bad: list[Absent] = []
    for word in target.compilers:
        path = host.which(word)
        known = who(host, path) if path is not None else None
        if path is None or known is None:
            why = f"{path} is neither GCC nor Clang" if path else "not on the search path"
            bad.append(Absent(word, why, "install it, or correct `compilers` in the site file"))
            continue
        family, version = known
        name = f"{family}-{version.split('.')[0]}" if any(c.family == family for c in good) else family
        if any(c.name == name for c in good):
            continue
        outcome = knows_cxx20(host, path)
        if not outcome.ok:
            bad.append(Absent(f"{family} {version}", f"{path}: {outcome.reason}", "install a version with C++20"))
            continue
        good.append(Compiler(name, family, version, str(path), binutils=_binutils(host, path)))
    return Found(tuple(good), tuple(bad))


def _binutils(host: Host, compiler: Path) -> dict[str, str]:
    """Return the binutils that the compiler itself would call."""
    names = {tool: host.run([compiler, f"-print-prog-name={tool}"]).out.strip() for tool in TOOLS}
    return {tool: str(path) for tool, name in names.items() if name and (path := host.which(name)) is not None}


def flag_sets(target: Target, family: str) -> dict[FlagSet, tuple[tuple[str, ...], ...]]:
    """Return the flag sets that a cross compiler can have; the site file defines `native` for its processor."""
    return {
        name: tuple(dict.fromkeys(_spelled(flags, target.native) for flags in some))
        for name, some in vendors.flags(family).items()
        if name != "native" or target.native
    }


def _spelled(flags: tuple[str, ...], native: tuple[str, ...]) -> tuple[str, ...]:
    kept = tuple(flag for flag in flags if not flag.endswith("=native"))
    return flags if kept == flags else kept + native


def missing(compiler: str, sets: Mapping[FlagSet, object]) -> list[Absent]:
    """Return an Absent for each flag set that is not defined for the target."""
    why = "cross compilers have no native processor"
    fix = 'set it in the site file: native = ["-mcpu=neoverse-v1"]'
    return [Absent(f"{compiler}-{name}", why, fix) for name in FLAG_SETS if name not in sets]


def libraries(host: Host, target: Target, compiler: Compiler | None) -> Found[Mpi]:
    """Return MPI libraries for the target. A launcher of their family from this machine starts their programs.

    Their own launchers would have to be emulated, and could not start anything.
    """
    found: list[Mpi] = []
    absent: list[Absent] = []
    what = f"MPI for {host.machine.architecture}"
    for prefix in map(folder, target.mpi):
        if compiler is None:
            break
        answers = [_library(host, family, Path(prefix), compiler.cxx) for family in mpi_families.every()]
        made = [answer for answer in answers if isinstance(answer, Mpi)]
        found += made[:1]
        if not made:
            reasons = next(
                (str(a) for a in answers if prefix in str(a)),
                "no MPI library with a working compiler wrapper was found",
            )
            absent.append(Absent(f"{what} in {prefix}", reasons, "correct `mpi` in the site file"))
    if not target.mpi:
        fix = "set its folder in the site file: mpi = [...]; see docs/site.md"
        absent.append(Absent(what, f"no MPI library for {host.machine.architecture} was found", fix))
    return Found(tuple(found), tuple(absent))


def _library(host: Host, family: mpi_families.Family, prefix: Path, cxx: str) -> Mpi | str:
    wrappers = [prefix / "bin" / name for name in family.wrapper_names]
    there = [wrapper for wrapper in wrappers if wrapper.exists()]
    embedded = place(host)
    starters = [path for name in (f"mpiexec.{family.name}", "mpiexec") if (path := host.which(name))]
    starters += [embedded / family.name / "bin" / "mpiexec"] if embedded else []
    chosen = family.compilers(cxx)
    found = first_of_family(host, family, there, "system", starters, chosen)
    if isinstance(found, str):
        return found
    return replace(found, environment={**found.environment, **chosen, **family.emulated})


def names_of_fortran(compiler: Compiler) -> tuple[str, ...]:
    """Return the name of the Fortran compiler: aarch64-linux-gnu-gfortran for aarch64-linux-gnu-g++."""
    name = Path(compiler.cxx).name
    return (name.replace("clang++", "flang"),) if compiler.family == "clang" else (re.sub(r"g\+\+", "gfortran", name),)
