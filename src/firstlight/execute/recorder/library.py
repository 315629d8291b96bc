"""Library: libfirstlight_profile.so for one MPI library, built once and kept in the cache by content."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from firstlight.core.errors import BuildError
from firstlight.execute.recorder import calls, wrappers
from firstlight.system.machine import kind
from firstlight.system.mpi_families import every, of
from firstlight.system.process import bounded
from firstlight.toolchain import Mpi

NAME = "libfirstlight_profile.so"
C_ONLY = tuple(f"-D{family.skip_cxx}" for family in every() if family.skip_cxx)
FLAGS = (
    "-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti", "-pthread", *C_ONLY,
)  # fmt: skip
LINK = ("-Wl,--as-needed", "-ldl")
"""Neither libmpi nor libstdc++ is needed by the library itself: it is loaded into shells and launchers too, and must
bring nothing with it there. It finds the MPI functions in the process that calls them."""


def build(mpi: Mpi, cxx: str | None, cache: Path) -> Path:
    """Return the profiler's library for `mpi`, from the cache or built now with the compiler `cxx` behind its wrapper.

    Raises BuildError, in one line with the place of the compiler's whole output, if it does not build.
    """
    environment = os.environ | mpi.environment
    if cxx is not None:
        environment |= of(mpi.family).compilers(cxx)
    try:
        table = calls.read(calls.FOLDER / "calls.txt")
        header, source = wrappers.generate(table, _mpi_h(mpi, environment), mpi.family)
    except ValueError as error:
        raise BuildError(f"the profiler cannot be built for {mpi.label}: {error}") from error
    sources = sorted([*calls.FOLDER.glob("*.cpp"), *calls.FOLDER.glob("*.hpp")])
    parts = [header, source, *(p.name + p.read_text() for p in sources), repr((FLAGS, LINK, mpi.cxx, cxx, kind()))]
    folder = cache / "profile" / hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
    if not (folder / NAME).exists():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "generated.hpp").write_text(header)
            (folder / "generated.cpp").write_text(source)
        except OSError as error:
            raise BuildError(f"cannot write the cache {cache}: {error.strerror}; set FIRSTLIGHT_CACHE") from error
        _compile(mpi, environment, [p for p in sources if p.suffix == ".cpp"], folder)
    return folder / NAME


def _mpi_h(mpi: Mpi, environment: Mapping[str, str]) -> str:
    words = [mpi.cxx, "-E", "-x", "c++", *C_ONLY, "-include", "mpi.h", "/dev/null"]
    done = _run(words, environment)
    if done.returncode != 0:
        raise BuildError(f"{mpi.cxx} does not find mpi.h: {_first_error(done.stderr)}; see ./fl doctor")
    return done.stdout


def _compile(mpi: Mpi, environment: Mapping[str, str], sources: Sequence[Path], folder: Path) -> None:
    part = folder / f".{NAME}.{os.getpid()}"
    include = (f"-I{calls.FOLDER}", f"-I{folder}")
    words = [mpi.cxx, *FLAGS, *include, *map(str, sources), str(folder / "generated.cpp"), *LINK, "-o", str(part)]
    done = _run(words, environment)
    if done.returncode != 0:
        log = folder / "build.log"
        log.write_text(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
        why = _first_error(done.stderr)
        raise BuildError(f"the profiler does not build with {mpi.label}: {why}; the compiler's output is in {log}")
    part.replace(folder / NAME)


def _run(words: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    try:
        return bounded.run(words, timeout=None, environment=environment)
    except OSError as error:
        raise BuildError(f"cannot start {words[0]}: {error.strerror}; see ./fl doctor") from error


def _first_error(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower()), lines[0] if lines else "no message")
