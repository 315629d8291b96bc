"""Native: programs and libraries of firstlight itself, built once by the same CMake tree and kept by content."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from firstlight import ROOT
from firstlight.build import _alone, _digest, _digest_files, _run, _tool
from firstlight.errors import BuildError


def make(
    target: str,
    file: str,
    folders: Sequence[str],
    cache: Path,
    compiler: Callable[[], str],
    definitions: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    waiting: Callable[[], None] = lambda: None,
) -> Path:
    """`file`, what CMake's `target` makes from the sources in `folders` of native/; from the cache or built now.

    `compiler` is asked only where something is to be built; `definitions` and `environment` are those of the MPI
    library that the target is for. Raises BuildError, in one line with the place of the compiler's whole output.
    """
    sources = [p for f in folders for p in (ROOT / "native" / f).rglob("*") if p.is_file()]
    cmake = [ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")]
    said = repr((target, sorted((definitions or {}).items()), platform.machine())).encode()
    folder = cache / "native" / _digest([said, _digest_files([*sources, *cmake]).encode()])[:24]
    if (folder / file).exists():
        return folder / file
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BuildError(f"cannot write the cache {cache}: {error.strerror}; set FIRSTLIGHT_CACHE") from error
    cxx = compiler()
    alike = repr((sorted((definitions or {}).items()), cxx, platform.machine())).encode()
    tree = cache / "native" / f"tree-{_digest([alike])[:12]}"
    with _alone(tree, waiting):
        if not (folder / file).exists():
            made = _compile(target, file, tree, cxx, definitions or {}, os.environ | dict(environment or {}))
            part = folder / f".{file}.{os.getpid()}"
            shutil.copy2(made, part)
            part.replace(folder / file)
    return folder / file


def _compile(
    target: str, file: str, tree: Path, cxx: str, definitions: Mapping[str, str], environment: dict[str, str]
) -> Path:
    """The fresh `file`, in a tree that is kept: what another target or a change leaves as it was is not made again."""
    values = {
        "CMAKE_MAKE_PROGRAM": _tool("ninja"),
        "CMAKE_CXX_COMPILER": cxx,
        "FL_WORKLOAD_ROOTS": "",
        **definitions,
    }
    configured = tree / "configured"
    if not configured.exists():
        shutil.rmtree(tree, ignore_errors=True)
    configure = [_tool("cmake"), "-S", str(ROOT), "-B", str(tree), "-G", "Ninja"]
    code, output = _run([*configure, *(f"-D{name}={value}" for name, value in values.items())], environment)
    if code == 0:
        configured.touch()
        code, more = _run([_tool("ninja"), "-C", str(tree), target], environment)
        output += more
    else:
        configured.unlink(missing_ok=True)
    made = [p for p in tree.rglob(file) if p.is_file()] if code == 0 else []
    if not made:
        log = tree.with_name(f"{tree.name}.log")
        log.write_text(output)
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        first = next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "no message")
        raise BuildError(f"{target} does not build: {first}; the compiler's words are in {log}")
    return made[0]
