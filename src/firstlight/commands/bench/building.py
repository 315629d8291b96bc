"""Build a user's program once per toolchain, each time in a copy of its folder that is stored by content."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from firstlight.commands.bench.placeholders import filled
from firstlight.core.errors import UsageError
from firstlight.core.units import binary
from firstlight.runner import copies as kept
from firstlight.runner import external_commands
from firstlight.system.mpi_families import of
from firstlight.system.process import bounded
from firstlight.toolchain import Mpi, Toolchain

MOST_BYTES, MOST_FILES = 1 << 30, 50_000
"""Limits of a folder that is copied for every toolchain."""
PASSED_OVER = frozenset({".git", ".hg", ".svn", ".fl", "__pycache__", "results"})


class BuildResult(NamedTuple):
    """The result of a build. `error`: the output of a build that failed, "" if it succeeded. `flaws`: by the name of a
    command, why it starts something other than what was built.
    """

    seconds: float
    error: str
    flaws: Mapping[str, str] = {}

    def of(self, name: str) -> str:
        """Return why the command cannot be measured, "" if it can."""
        return self.error or self.flaws.get(name, "")


def environment(toolchain: Toolchain | None, mpi: Mpi | None) -> dict[str, str]:
    """Return the environment in which a build's wrappers call the compiler of its toolchain."""
    found = {name: value for name, value in os.environ.items() if name != "CXX"}  # the toolchain's compiler is measured
    if mpi is not None:
        found |= mpi.environment
        if toolchain is not None:
            found |= of(mpi.family).compilers(toolchain.cxx, toolchain.fortran) | _for_c(mpi, toolchain)
    return found


def _for_c(mpi: Mpi, toolchain: Toolchain) -> dict[str, str]:
    """Return the variable from which the MPI library's C wrapper reads its compiler, if there is one."""
    cc, wrapped = c_compiler(toolchain.cxx), of(mpi.family).wrapped
    return {f"{wrapped}_CC": cc} if cc and wrapped else {}


def c_compiler(cxx: str) -> str:
    """Return the C compiler in the folder of a C++ compiler or wrapper (gcc-13 for g++-13), "" if there is none."""
    path = Path(cxx)
    for ours, theirs in (("g++", "gcc"), ("clang++", "clang"), ("mpicxx", "mpicc"), ("mpic++", "mpicc")):
        if path.name.startswith(ours) and os.access(found := path.with_name(theirs + path.name[len(ours) :]), os.X_OK):
            return str(found)
    return ""


def known(toolchain: Toolchain | None, mpi: Mpi | None) -> dict[str, str]:
    """Return the values of the placeholders of a build, without those for which this toolchain has no value."""
    found: dict[str, str] = {}
    if toolchain is not None:
        found |= {"cxx": toolchain.cxx, "cc": c_compiler(toolchain.cxx), "fc": toolchain.fortran or ""}
        found |= {"openmp": " ".join(toolchain.openmp)}
    if mpi is not None:
        found |= {"mpi": mpi.name, "mpicxx": mpi.cxx, "mpicc": c_compiler(mpi.cxx), "mpifc": mpi.fortran or ""}
    flags = {"flags": " ".join(toolchain.flags)} if toolchain is not None else {}
    return {name: text for name, text in found.items() if text} | flags


def copies(folder: Path, build: str, cache: Path) -> Path:
    """Return the place in the cache for copies of this folder, by its content and its build command.

    Raises UsageError for a folder too large to be copied for every toolchain, and for one that contains the copies.
    """
    above = kept.root(cache)
    if above.is_relative_to(folder) and PASSED_OVER.isdisjoint(above.relative_to(folder).parts):
        raise UsageError(
            f"{folder}: --build copies it, and the cache is inside it; set FIRSTLIGHT_CACHE to another place"
        )
    digest, size, files = hashlib.sha256(build.encode()), 0, 0
    for path in _files(folder):
        size, files = size + path.lstat().st_size, files + 1
        if size > MOST_BYTES or files > MOST_FILES:
            most = f"{binary(MOST_BYTES)} or {MOST_FILES} files"
            raise UsageError(
                f"{folder}: --build copies it for every toolchain, and it has more than {most}; start in one"
            )
        content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
        digest.update(os.fsencode(path.relative_to(folder)) + f" {len(content)} {path.lstat().st_mode}\n".encode())
        digest.update(content)
    return above / digest.hexdigest()[:24]


def _files(folder: Path) -> Iterator[Path]:
    for above, names, files in os.walk(folder):
        names[:] = sorted(set(names) - PASSED_OVER)
        links = [name for name in names if (Path(above) / name).is_symlink()]
        yield from (
            path for name in sorted(files + links) if (path := Path(above) / name).is_file() or path.is_symlink()
        )


def _not_copied(above: str, names: list[str]) -> set[str]:
    """Return the names to pass over, and those that cannot be copied: sockets, pipes, devices."""
    plain = {name for name in names if (path := Path(above) / name).is_symlink() or path.is_dir() or path.is_file()}
    return {name for name in names if name in PASSED_OVER or name not in plain}


def log(copy: Path) -> Path:
    """Return the file with the output of the build in that copy."""
    return copy.with_name(f"{copy.name}.log")


def make(
    build: str,
    values: Mapping[str, str],
    source: Path,
    copy: Path,
    variables: Mapping[str, str],
    tools: str,
    commands: Mapping[str, Sequence[str]],
) -> BuildResult:
    """Build `source` in `copy`, unless these `tools` built it there before. Raises OSError.

    `commands`: the words of each command, by name. A build is remembered only if it made what each of them starts.
    """
    done = copy.with_name(f"{copy.name}.built")
    if done.is_file() and done.read_text() == tools and copy.is_dir():
        return BuildResult(0.0, "")
    done.unlink(missing_ok=True)
    if copy.exists():
        shutil.rmtree(copy)
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(source, copy, symlinks=True, ignore=_not_copied)
    begun = _mark(copy)
    began = time.monotonic()
    ended = bounded.run(
        ["/bin/sh", "-c", filled(build, values)], timeout=None, environment=variables, folder=copy, merge=True
    )
    seconds = time.monotonic() - began
    log(copy).write_text(ended.stdout)
    if ended.returncode != 0:
        return BuildResult(seconds, ended.stdout or f"the build ended with status {ended.returncode} without output")
    flaws = {name: why for name, words in commands.items() if (why := _flaw(words, copy, begun))}
    if not flaws:
        done.write_text(tools)
    return BuildResult(seconds, "", flaws)


TICK = 0.02
"""Two changes of files within this many seconds may have the same time."""


def _mark(copy: Path) -> int:
    """Return a time after the changes of all files of the copy, and before those of a build that starts now."""
    marker = copy.with_name(f"{copy.name}.begun")
    time.sleep(TICK)
    marker.unlink(missing_ok=True)
    marker.touch()
    time.sleep(TICK)
    return marker.stat().st_ctime_ns


def _flaw(words: Sequence[str], copy: Path, begun: int) -> str:
    """Return why the words start something that the build did not make, "" if the build made it.

    One of the programs among the words must be new. If there is none (an interpreter with a script), the build must
    have made some file.
    """
    if "/" in words[0] and external_commands.found(words[0], copy) is None:
        return f"the build ended with status 0 and made no {words[0]}; what it printed: {log(copy)}"
    files = [
        file for word in words if (file := copy / word).is_file() and file.resolve().is_relative_to(copy.resolve())
    ]
    programs = [file for file in files if _is_program(file)]
    if any(file.stat().st_ctime_ns > begun for file in programs or _below(copy)):
        return ""
    made = f"no new {programs[0].relative_to(copy)}" if programs else "nothing new"
    return (
        f"the build made {made}: what was here before would be measured for each toolchain; "
        f"begin --build with 'make clean;', or use make -B; what it printed: {log(copy)}"
    )


def _is_program(file: Path) -> bool:
    with file.open("rb") as opened:
        return os.access(file, os.X_OK) and opened.read(2) != b"#!"


def _below(copy: Path) -> Iterator[Path]:
    return (path for above, _, names in os.walk(copy) for name in names if (path := Path(above) / name).is_file())
