"""The MPI library that a command line uses, found through its programs first, then through its launcher."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from firstlight.core.errors import FirstlightError, UsageError
from firstlight.system.mpi_families import every, interchangeable, launcher_of, library_of, of, with_library
from firstlight.system.process import bounded
from firstlight.toolchain import Mpi

PATIENCE = 60.0
"""Time limit in seconds for each program that is started to find the library."""
HINT = "name the MPI library with --mpi"

_LAUNCHER = re.compile(f"({'|'.join(dict.fromkeys(n for f in every() for n in f.launchers))})([.-].*)?")


class Trace(msgspec.Struct, frozen=True):
    """An MPI library that a command line leads to: its family, and a file of its installation."""

    family: str
    place: Path  # its libmpi.so, or its launcher


def mpi_of(command: Sequence[str], mpis: Sequence[Mpi], named: str | None) -> Mpi:
    """Return the MPI library of `command`, with the wrapper of the same installation if that has one.

    Raises UsageError if it cannot be determined, FirstlightError if no wrapper of its family is here, or if a program
    that is started to find it does not answer.
    """
    known = ", ".join(m.name for m in mpis) or "none"
    if named is not None:
        found = next((m for m in mpis if m.name == named), None)
        if found is None:
            raise UsageError(f"no MPI library named {named!r} was found; available: {known}")
        return found
    paths = [path for word in command if (path := _program(word)) is not None]
    trace = next((t for p in paths if not _LAUNCHER.fullmatch(p.name) and (t := linked(p))), None)
    trace = trace or next((t for p in paths if _LAUNCHER.fullmatch(p.name) and (t := _launched(p))), None)
    if trace is None:
        raise UsageError(f"cannot detect which MPI library this command uses: name it with --mpi (available: {known})")
    mine = {m.family: m for m in reversed(mpis)}
    found = next((mine[f.name] for f in interchangeable(trace.family) if f.name in mine), None)
    found = _of_installation(trace, found) or found
    if found is None:
        raise FirstlightError(
            f"the program uses {of(trace.family).label}, whose compiler wrapper was not found (only {known})"
        )
    return found


def _program(word: str) -> Path | None:
    """Return the executable file that a word of the command line names, or None."""
    found = shutil.which(word) if not word.startswith("-") else None
    return Path(found).absolute() if found is not None else None


def linked(program: Path) -> Trace | None:
    """Return the MPI library that an executable is linked with, directly or not; None without one (a script)."""
    with program.open("rb") as file:
        if file.read(4) != b"\x7fELF":
            return None
    done = bounded.answer(["ldd", str(program)], timeout=PATIENCE, hint=HINT)
    needs = dict(re.findall(r"^\s*(libmpi\S*) => (/\S+)", done.stdout, re.MULTILINE))
    if any(name.startswith("libmpi_abi.so") for name in needs):
        raise UsageError(
            f"{program} uses the standard MPI ABI, which the profiler does not support; link it with mpicxx"
        )
    found = ((with_library(name), path) for name, path in needs.items())
    return next((Trace(family, Path(path)) for family, path in found if family is not None), None)


def _launched(launcher: Path) -> Trace | None:
    done = bounded.answer([str(launcher), "--version"], timeout=PATIENCE, hint=HINT)
    family = launcher_of(done.stdout + done.stderr)
    return Trace(family, launcher) if family else None


def _of_installation(trace: Trace, found: Mpi | None) -> Mpi | None:
    """Return the library with the wrapper next to its files: <prefix>/lib/libmpi.so, <prefix>/bin/mpicxx.

    A wrapper of another version of the family works too, but it lacks calls that are new in a later one.
    """
    place = trace.place.resolve()
    if found is not None and found.launcher and place.parent == Path(found.launcher).resolve().parent:
        return found
    for prefix in place.parents[1:4]:
        wrapper = prefix / "bin" / "mpicxx"
        if not wrapper.exists() or (found is not None and wrapper.resolve() == Path(found.cxx).resolve()):
            continue
        words = [str(wrapper), "-dM", "-E", "-x", "c++", "-include", "mpi.h", "/dev/null"]
        alike = interchangeable(trace.family)  # a file does not show which of them: a wrapper ignores what others need
        environment = {name: value for f in alike for name, value in f.environment(prefix, {}).items()}
        done = bounded.answer(words, timeout=PATIENCE, environment=os.environ | environment, hint=HINT)
        who = library_of(done.stdout) if done.returncode == 0 else None
        if who is not None and who[0] in [f.name for f in alike]:
            return _made(wrapper, who, environment)
    return None


def _made(wrapper: Path, who: tuple[str, str], environment: dict[str, str]) -> Mpi:
    family, version = who
    return Mpi(
        name=family, family=family, label=f"{of(family).label} {version}", version=version, origin="system",
        cxx=str(wrapper), fortran=None, f08=(), launcher=str(wrapper.with_name("mpiexec")), environment=environment,
    )  # fmt: skip
