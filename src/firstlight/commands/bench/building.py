"""Build a user's program once per toolchain, each time in a copy of its folder that is stored by content."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock

from firstlight.commands.bench import sources
from firstlight.commands.bench.placeholders import filled
from firstlight.core.errors import UsageError
from firstlight.runner import copies as kept
from firstlight.runner import external_commands
from firstlight.system.batch import queue
from firstlight.system.mpi_families import of
from firstlight.system.process import bounded
from firstlight.toolchain import Mpi, Toolchain

BEGUN, BUILT = "begun", "built"
NOT_PASSED = frozenset({"CXX", "CDPATH"})
"""Variables that a recipe does not receive: its toolchain sets the compiler, and `cd` must not leave the copy."""
VOLATILE = re.compile(
    r"PWD|OLDPWD|SHLVL|_|TERM|TERM_\w+|COLORTERM|COLUMNS|LINES|WINDOWID|STY|TMUX\w*|TMPDIR|"
    r"SSH_\w+|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|DBUS_SESSION_\w+|XDG_(SESSION\w*|RUNTIME_DIR|SEAT|VTNR)|KRB5CCNAME|"
    r"SLURMD_\w+|FIRSTLIGHT_\w+"
)
"""Variables that differ between terminals and sessions. With those of a job, they are not part of a build's key."""


class BuildResult(NamedTuple):
    """The result of a build. `error`: the output of a build that failed, "" if it succeeded. `flaws`: by the name of a
    command, why it starts something other than what was built. `given`: the compiled files of the folder, relative to
    it, that the build did not make: it may have linked them as they are.
    """

    seconds: float
    error: str
    flaws: Mapping[str, str] = {}
    given: tuple[str, ...] = ()

    def of(self, name: str) -> str:
        """Return why the command cannot be measured, "" if it can."""
        return self.error or self.flaws.get(name, "")


def environment(toolchain: Toolchain | None, mpi: Mpi | None) -> dict[str, str]:
    """Return the environment in which a build's wrappers call the compiler of its toolchain."""
    found = {name: value for name, value in os.environ.items() if name not in NOT_PASSED}
    if mpi is not None:
        found |= mpi.environment
        if toolchain is not None:
            found |= of(mpi.family).compilers(toolchain.cxx, toolchain.fortran) | _for_c(mpi, toolchain)
    return found


def key(variables: Mapping[str, str]) -> str:
    """Return a hash of the variables that a build may depend on. They may be secret, so their values are not stored."""
    lasting = sorted(f"{n}={value}" for n, value in queue.clean(variables).items() if not VOLATILE.fullmatch(n))
    return hashlib.sha256(os.fsencode("\0".join(lasting))).hexdigest()


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
    """Return the place in the cache for copies of this folder, by its content, its recipe and the environment.

    Raises UsageError for a folder too large to be copied for every toolchain, and for one that contains the copies.
    """
    above = kept.root(cache)
    if above.is_relative_to(folder) and sources.PASSED_OVER.isdisjoint(above.relative_to(folder).parts):
        raise UsageError(
            f"{folder}: --build copies this folder, but the folder contains the cache; set FIRSTLIGHT_CACHE to a "
            f"place outside"
        )
    digest = hashlib.sha256(f"{build}\0{key(environment(None, None))}".encode())
    for path in sources.files(folder):
        content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
        digest.update(os.fsencode(path.relative_to(folder)) + f" {len(content)} {path.lstat().st_mode}\n".encode())
        digest.update(content)
    return above / digest.hexdigest()[:24]


def built_at(copy: Path) -> float:
    """Return the time at which the build in that copy ended, in seconds since 1970."""
    return _beside(copy, BUILT).stat().st_mtime


def log(copy: Path) -> Path:
    """Return the file with the output of the build in that copy."""
    return _beside(copy, "log")


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

    `commands`: the words of each command, by name. A build is used again only if it made what each of them starts,
    and its programs are unchanged. Another firstlight that builds in the same copy is waited for.
    """
    copy.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(_beside(copy, "lock")):
        done = _beside(copy, BUILT)
        if done.is_file() and copy.is_dir() and done.read_text() == _identity(tools, copy):
            begun = _beside(copy, BEGUN).stat().st_ctime_ns
            if not _flaws(commands, source, copy, begun):
                return BuildResult(0.0, "", given=_given(copy, begun))
        done.unlink(missing_ok=True)
        if copy.exists():
            shutil.rmtree(copy)
        shutil.copytree(source, copy, symlinks=True, ignore=sources.not_copied(source))
        begun = _mark(copy)
        began = time.monotonic()
        ended = bounded.run(
            ["/bin/sh", "-c", filled(build, values)], timeout=None, environment=variables, folder=copy, merge=True
        )
        seconds = time.monotonic() - began
        log(copy).write_text(ended.stdout)
        if ended.returncode != 0:
            output = ended.stdout or f"the build ended with status {ended.returncode} without output"
            return BuildResult(seconds, output)
        flaws = _flaws(commands, source, copy, begun)
        if not flaws:
            done.write_text(_identity(tools, copy))
        return BuildResult(seconds, "", flaws, _given(copy, begun))


def _beside(copy: Path, suffix: str) -> Path:
    return copy.with_name(f"{copy.name}.{suffix}")


def _identity(tools: str, copy: Path) -> str:
    """Return the tools of a build, and a hash of the programs that are in its copy now."""
    return f"{tools}\n{external_commands.hash_of(external_commands.programs_below(copy))}"


TICK = 0.02
"""Two changes of files within this many seconds may have the same time."""


def _mark(copy: Path) -> int:
    """Return a time after the changes of all files of the copy, and before those of a build that starts now."""
    marker = _beside(copy, BEGUN)
    time.sleep(TICK)
    marker.unlink(missing_ok=True)
    marker.touch()
    time.sleep(TICK)
    return marker.stat().st_ctime_ns


def _given(copy: Path, begun: int) -> tuple[str, ...]:
    """Return the compiled files of a copy that were there before its build began."""
    return tuple(name for name in sources.compiled_files(copy) if not _new(copy / name, begun))


def _flaws(commands: Mapping[str, Sequence[str]], source: Path, copy: Path, begun: int) -> dict[str, str]:
    return {name: why for name, words in commands.items() if (why := _flaw(words, source, copy, begun))}


def _flaw(words: Sequence[str], source: Path, copy: Path, begun: int) -> str:
    """Return why the words start something that the build did not make in its copy, "" if the build made it there.

    One of the programs among the words must be new. If the words name only scripts, one of all programs of the copy
    must be new. If neither the copy nor the source has a program, any new file is enough.
    """
    first = words[0]
    if "/" in first and external_commands.found(first, copy) is None:
        if (copy / first).is_file():
            return f"{first} is not executable; add chmod +x {first} to --build; build output: {log(copy)}"
        old = f" (--build does not copy the file in {source})" if (source / first).is_file() else ""
        return f"the build ended with status 0 but did not create {first}{old}; build output: {log(copy)}"
    own = external_commands.found(f"./{first}", copy) if "/" not in first else None
    if own is not None and _new(own, begun):
        return f"{first} is found on PATH; write ./{first} for the program that the build creates"
    inside, outside = _placed(words, copy)
    for word, file in outside:
        if file.is_relative_to(source.resolve()):
            return (
                f"{word} is {file}, in the folder that --build copies: use its relative path, which is valid in "
                f"the copy"
            )
        if _is_program(file) and _new(file, begun):
            return f"the build wrote {word} outside its copy, so all toolchains overwrite the same file: {file}"
    programs = [file for file in inside if _is_program(file)]
    some = programs or external_commands.programs_below(copy) or (() if sources.old_programs(source) else _below(copy))
    if any(_new(file, begun) for file in some):
        return ""
    made = f"no new {programs[0].relative_to(copy)}" if programs else "no new program"
    return (
        f"the build created {made}, so every toolchain would measure an earlier program; "
        f"begin --build with 'make clean;', or use make -B; build output: {log(copy)}"
    )


def _placed(words: Sequence[str], copy: Path) -> tuple[list[Path], list[tuple[str, Path]]]:
    """Return the files among the words that are in the copy, and each word of an executable outside of it."""
    inside, outside = list[Path](), list[tuple[str, Path]]()
    for word in words:
        if not (file := copy / word).is_file():
            continue
        if (real := file.resolve()).is_relative_to(copy.resolve()):
            inside.append(file)
        elif os.access(real, os.X_OK | os.R_OK) and _is_executable(real):
            outside.append((word, real))
    return inside, outside


def _new(file: Path, begun: int) -> bool:
    return file.stat().st_ctime_ns > begun


def _is_executable(file: Path) -> bool:
    """Return whether it is a compiled program or a script, not a plain file in a system where all are executable."""
    with file.open("rb") as opened:
        return opened.read(4).startswith((b"\x7fELF", b"#!"))


def _is_program(file: Path) -> bool:
    with file.open("rb") as opened:
        return os.access(file, os.X_OK) and opened.read(2) != b"#!"


def _below(copy: Path) -> Iterator[Path]:
    return (path for above, _, names in os.walk(copy) for name in names if (path := Path(above) / name).is_file())
