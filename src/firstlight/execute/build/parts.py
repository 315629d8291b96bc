"""Parts: what programs of one compiler share for any flags and MPI library: the judges, and the harness except for
its communication. Each is compiled once, in a tree of their own, and kept by content.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from firstlight import ROOT
from firstlight.core.errors import BuildError
from firstlight.system.machine import kind
from firstlight.toolchain.cmake import Tree, rules
from firstlight.toolchain.sources import NATIVE, Sources, digest

HARNESS = "harness"
"""The name of the part that is not a judge."""

_SEAM = NATIVE / "harness" / "include" / "firstlight" / "program.hpp"
"""The header that CMake includes together with a workload's header to make its judge."""

_OF_MPI = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*<mpi\.h>", re.MULTILINE)


class Part(msgspec.Struct, frozen=True):
    """One object: the harness, or the judge of the workload `name`, compiled from `header`."""

    name: str
    header: Path | None
    object: Path  # in the cache

    @property
    def target(self) -> str:
        """The name of the CMake target."""
        return f"{self.name}.part"

    @property
    def call(self) -> str:
        """Return the call of CMake's function that declares it."""
        return f"fl_part({self.name} [==[{self.header or ''}]==])\n"


class Parts(msgspec.Struct, frozen=True):
    """Those of one compiler: its tree, all inputs of their bytes except their sources, and where they are kept."""

    tree: Tree
    compiler: tuple[object, ...]
    folder: Path

    def harness(self, sources: Sources) -> Part:
        return self._part(HARNESS, None, sources.linked(()), sources)

    def judge(self, workload: str, header: Path, sources: Sources) -> Part | None:
        """Return the judge, None if the header includes mpi.h: such a judge is made anew with each library."""
        files = sources.closure([header, _SEAM])
        if any(_OF_MPI.search(path.read_bytes()) for path in files):
            return None
        return self._part(workload, header, files, sources)

    def _part(self, name: str, header: Path | None, files: Iterable[Path], sources: Sources) -> Part:
        key = repr((name, kind(), self.compiler, sources.digest(files), sources.digest(rules())))
        return Part(name, header, self.folder / digest([key.encode()])[:24] / f"{name}.o")

    def made(self, part: Part) -> bool:
        """Return whether a part is in the cache, or compiled in the tree."""
        return part.object.exists() or _fresh(self.tree, part).exists()

    def make(self, wanted: Iterable[Part], jobs: int, waiting: Callable[[], None]) -> dict[str, str]:
        """Make the missing parts; return the compiler's output for each part that cannot be made, by name."""
        if not _missing(wanted := list(wanted)):
            return {}
        with self.tree.alone(waiting) as tree:
            missing = _missing(wanted)  # the process that was waited for may have made them
            if not missing:
                return {}
            for part in missing:
                _fresh(tree, part).unlink(missing_ok=True)
            if failed := _declared(tree, missing):
                return {part.name: failed for part in missing}
            _, output = tree.make([part.target for part in missing], jobs)
            for part in missing:
                if _fresh(tree, part).exists():
                    _keep(_fresh(tree, part), part.object)
            return {
                part.name: blame(output, f"{part.name}.judge.dir/", f"parts/{part.name}.o")
                for part in _missing(missing)
            }


def parts(tree: Tree, compiler: tuple[object, ...], cache: Path) -> Parts:
    """Return the parts of programs that are built in `tree`; their own tree is a folder next to it, `parts-NAME`."""
    folder = tree.folder.with_name(f"parts-{tree.folder.name}")
    manifest = {"FL_MANIFEST": str(folder / "manifest.cmake"), "FL_PARTS": "ON"}
    return Parts(Tree(folder, dict(tree.definitions) | manifest, tree.environment), compiler, cache / "parts")


def _missing(wanted: Iterable[Part]) -> list[Part]:
    return [part for part in wanted if not part.object.exists()]


def _fresh(tree: Tree, part: Part) -> Path:
    return tree.folder / "parts" / f"{part.name}.o"


def _declared(tree: Tree, wanted: Iterable[Part]) -> str:
    """Add the parts to those of the tree so far, and configure it if it is new; return CMake's output if that fails."""
    manifest = tree.folder / "manifest.cmake"
    tree.folder.mkdir(parents=True, exist_ok=True)
    before = manifest.read_text() if manifest.exists() else ""
    declared = {line.split()[0]: line for line in before.splitlines() if Path(_header(line)).exists()}
    declared |= {part.call.split()[0]: part.call.strip() for part in wanted}
    text = "".join(f"{declared[name]}\n" for name in sorted(declared))
    if text != before:
        partial = manifest.with_name(f".{manifest.name}.{os.getpid()}")
        partial.write_text(text)
        partial.replace(manifest)
    return tree.configure() if not (tree.folder / "configured").exists() else ""


def _header(call: str) -> str:
    """Return the header in a line of the manifest; the checkout itself for the harness, which has none."""
    return call.partition("[==[")[2].partition("]==]")[0] or str(ROOT)


def _keep(made: Path, place: Path) -> None:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        partial = place.with_name(f".{place.name}.{os.getpid()}")
        shutil.copy2(made, partial)
        partial.replace(place)
    except OSError as error:
        raise BuildError(f"cannot write the cache {place.parent}: {error.strerror}; set FIRSTLIGHT_CACHE") from error


def blame(output: str, *files: str) -> str:
    """Return the blocks of Ninja's output about these files; all failures if there are none (a shared part failed)."""
    failures = [block for block in re.split(r"(?m)^(?=FAILED: |\[\d+/\d+\] )", output) if block.startswith("FAILED: ")]
    own = [block for block in failures if any(file in block for file in files)]
    return "".join(own or failures or [output]).strip()


def unmade(errors: Mapping[str, str], workload: str) -> str:
    """Return the error of `make` that keeps the programs of the workload from linking; "" if there is none."""
    return errors.get(workload, "") or errors.get(HARNESS, "")
