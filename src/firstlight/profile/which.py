"""Which MPI library a command line uses: asked of its programs first, then of its launcher."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from firstlight.errors import FirstlightError, UsageError
from firstlight.toolchains import Mpi
from firstlight.toolchains.wrappers import LABELS, launcher_of

_LAUNCHER = re.compile(r"(mpiexec|mpirun|orterun|prterun|oshrun)([.-].*)?")
_ABI = {"mpich": ("mpich", "intel"), "intel": ("intel", "mpich"), "openmpi": ("openmpi",)}
"""MPICH and Intel MPI have one binary interface, so a library built for either serves both."""


def mpi_of(command: Sequence[str], mpis: Sequence[Mpi], named: str | None) -> Mpi:
    """The MPI library of `command`. Raises UsageError where it cannot be told, FirstlightError where it is not here."""
    if not mpis:
        raise FirstlightError("no MPI library with a compiler wrapper is here: `./fl doctor` says how to get one")
    known = ", ".join(m.name for m in mpis)
    if named is not None:
        found = next((m for m in mpis if m.name == named), None)
        if found is None:
            raise UsageError(f"no MPI library named {named!r} is here; there are {known}")
        return found
    paths = [path for word in command if (path := _program(word)) is not None]
    family = next((f for p in paths if not _LAUNCHER.fullmatch(p.name) and (f := linked(p))), None)
    family = family or next((f for p in paths if _LAUNCHER.fullmatch(p.name) and (f := _launched(p, mpis))), None)
    if family is None:
        raise UsageError(f"cannot tell which MPI library this command uses: name it with --mpi (here are {known})")
    mine = {m.family: m for m in reversed(mpis)}
    found = next((mine[f] for f in _ABI.get(family, ()) if f in mine), None)
    if found is None:
        raise FirstlightError(f"the program uses {LABELS[family]}, whose compiler wrapper is not here (only {known})")
    return found


def _program(word: str) -> Path | None:
    """An executable file that a word of the command line names."""
    found = shutil.which(word)
    return Path(found) if found is not None and not word.startswith("-") else None


def linked(program: Path) -> str | None:
    """The MPI family that an executable is linked with, directly or not; None for one that needs none (a script)."""
    with program.open("rb") as file:
        if file.read(4) != b"\x7fELF":
            return None
    done = subprocess.run(["ldd", str(program.absolute())], capture_output=True, text=True, errors="replace")
    names = re.findall(r"^\s*(\S+\.so[.\d]*)", done.stdout, re.MULTILINE)
    if any(n.startswith("libmpi_abi.so") for n in names):
        raise UsageError(f"{program} uses the standard MPI ABI, which the profiler does not know; link it with mpicxx")
    if any(n.startswith("libmpich.so") or re.fullmatch(r"libmpi\.so\.1[23]", n) for n in names):
        return "mpich"
    return "openmpi" if any(n.startswith("libmpi.so") for n in names) else None


def _launched(launcher: Path, mpis: Sequence[Mpi]) -> str | None:
    real = launcher.resolve()
    for mpi in mpis:
        if Path(mpi.launcher).resolve() == real:
            return mpi.family
    done = subprocess.run([str(launcher), "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return launcher_of(done.stdout + done.stderr)
