"""Native: programs and libraries of firstlight itself, built once by the same CMake tree and kept by content."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from firstlight import ROOT, toolchain
from firstlight.core.errors import BuildError
from firstlight.system import machine
from firstlight.system.machine import compilers_at_once, kind
from firstlight.toolchain.cmake import Tree, rules
from firstlight.toolchain.sources import Sources, digest


def make(
    target: str,
    file: str,
    folders: Sequence[str],
    cache: Path,
    compiler: Callable[[], str],
    definitions: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    waiting: Callable[[], None] = lambda: None,
    building: Callable[[str], None] = lambda target: None,
) -> Path:
    """Return the `file` that CMake's `target` makes from the sources in `folders` of native/; build it if necessary.

    `compiler` is called only if something is to be built; `definitions` and `environment` are those of the MPI library
    that the target is for; `building` is called with the target before a compiler is searched. Raises BuildError, in
    one line with the place of the compiler's whole output.
    """
    files = [p for f in folders for p in (ROOT / "native" / f).rglob("*") if p.is_file()]
    sources = Sources()
    key = repr((target, sorted((definitions or {}).items()), kind()))
    folder = (
        cache / "native" / digest([key.encode(), sources.digest([*sources.closure(files), *rules()]).encode()])[:24]
    )
    if (folder / file).exists():
        return folder / file
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BuildError(f"cannot write the cache {cache}: {error.strerror}; set FIRSTLIGHT_CACHE") from error
    building(target)
    strict = {"FL_STRICT": "ON"} if os.environ.get("FIRSTLIGHT_STRICT") else {}
    values = {"CMAKE_CXX_COMPILER": compiler(), **strict, **(definitions or {})}
    alike = repr((sorted(values.items()), kind(), str(ROOT))).encode()
    place = cache / "native" / f"tree-{digest([alike])[:12]}"
    tree = Tree(place, values, os.environ | dict(environment or {}))
    with tree.alone(waiting) as mine:
        if not (folder / file).exists():
            made = _compile(target, file, mine)
            part = folder / f".{file}.{os.getpid()}"
            shutil.copy2(made, part)
            part.replace(folder / file)
    return folder / file


def announce(target: str) -> None:
    """Print on a terminal that a program is compiled, for commands that show no progress of the build."""
    if sys.stderr.isatty():
        print(f"compiling {target}; later calls use it again", file=sys.stderr, flush=True)


def compiler() -> str:
    """Return the first C++ compiler, for what needs no MPI library. Raises BuildError if there is none.

    Pass it to `make`, which calls it only if something is to be built: the search lasts longer than most calls.
    """
    found = toolchain.discover(machine.discover(), machine.cache_directory(), embed_mpi=False).toolchains
    if not found:
        raise BuildError("no C++ compiler was found, but native programs must be built once; see ./fl doctor")
    return found[0].cxx


def schedules(cxx: str, cache: Path, definitions: Mapping[str, str] | None = None) -> Path:
    """Return the archive of all schedules and patterns, compiled with `cxx`. Raises BuildError as `make` does.

    It needs no MPI library, and the trees of all MPI libraries use the same one.
    """
    values = {"CMAKE_CXX_COMPILER": cxx, **(definitions or {})}
    return make("collectives", "libcollectives.a", ("collectives", "patterns"), cache, lambda: cxx, values)


def _compile(target: str, file: str, tree: Tree) -> Path:
    """Return `file`, built in a persistent tree: what is still up to date there is not compiled again."""
    output = tree.configure()
    code = 1 if output else 0
    if code == 0:
        code, output = tree.make([target], compilers_at_once())
    made = [p for p in tree.folder.rglob(file) if p.is_file()] if code == 0 else []
    if not made:
        log = tree.folder.with_name(f"{tree.folder.name}.log")
        log.write_text(output)
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        first = next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "no message")
        raise BuildError(f"{target} does not build: {first}; the compiler's output is in {log}")
    return made[0]
