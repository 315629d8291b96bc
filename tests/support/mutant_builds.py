"""Build mutants as their tree builds the variant, in a copy of the chapter's folder."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

import native
import turns
from firstlight.execute.build import Commands, commands
from firstlight.model.catalogue import Variant, Workload
from firstlight.model.plan import Program
from mutants import Mutant, mutants, selects, timed

PATIENCE = 120.0
"""Seconds for the compiler of a mutant; that of a variant as it is may have to wait for other tests."""


class Kit(msgspec.Struct, frozen=True):
    """Describe a variant, its program and how it is built."""

    variant: Variant
    program: Program
    how: Commands


def kits(workload: Workload, files: Sequence[str] = ()) -> dict[str, Kit]:
    """Build all variants that judge some mutant, without changes, and return them by name."""
    tool = native.toolchain("base")
    assert tool is not None
    some = [file for file in timed(workload) if selects(file, files) and mutants(file)]
    judges = {v.name: v for file in some for v in timed(workload)[file]}
    wanted = {next(iter(native.programs(workload, v, tool))): v for v in judges.values()}
    made = commands(wanted, native.toolbox(), native.workloads, native.CACHE, native.STRICT)
    return {v.name: Kit(v, program, made[program]) for program, v in wanted.items()}


class Bench:
    """Copy a chapter's folder by links, replace one file at a time, and build there."""

    def __init__(self, folder: Path, chapter: Path) -> None:
        self.folder, self.chapter = folder, chapter
        for file in [p for p in chapter.rglob("*") if p.suffix in (".hpp", ".cpp", ".h")]:
            link = folder / file.relative_to(chapter.parent)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(file)

    @contextlib.contextmanager
    def changed(self, mutant: Mutant) -> Iterator[None]:
        place = self.folder / mutant.file.relative_to(self.chapter.parent)
        place.unlink()
        place.write_text(mutant.text())
        try:
            yield
        finally:
            place.unlink()
            place.symlink_to(mutant.file)

    def original(self, kit: Kit) -> bytes:
        """Return the compiler's output for the unchanged variant. If there is none, the tree has an error."""
        made = self.object(kit, turns.PATIENCE)
        assert made, f"{kit.variant.name} does not compile as its tree compiles it"
        return made

    def object(self, kit: Kit, patience: float = PATIENCE) -> bytes:
        """Return the compiler's output for the variant here; b"" if it refuses. Raise TimeoutExpired."""
        source = kit.variant.source.relative_to(self.chapter.parent)
        made = self.folder / f"{kit.variant.name}.o"
        made.unlink(missing_ok=True)
        own = (self.folder / source).parent
        command = [*kit.how.compile, "-iquote", str(own), "-w", "-o", made.name, "-c", str(source)]
        subprocess.run(command, cwd=self.folder, env=kit.how.environment, capture_output=True, timeout=patience)
        return made.read_bytes() if made.exists() else b""

    def program(self, kit: Kit) -> Path | None:
        made = self.folder / kit.program.target
        made.unlink(missing_ok=True)
        linking = kit.how.link.replace(kit.how.object, str(self.folder / f"{kit.variant.name}.o"))
        linking = linking.replace(f"-o {kit.how.output} ", f"-o {made} ")
        subprocess.run(
            linking,
            shell=True,
            cwd=kit.how.folder,
            env=kit.how.environment,
            capture_output=True,
            timeout=turns.PATIENCE,
        )
        return made if made.exists() else None
