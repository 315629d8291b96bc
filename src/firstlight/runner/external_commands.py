"""External commands: their builds, whether they changed since, and the check before a run of them is resumed.

A run.json lists the commands that it launches, and any user may have written it. So the runs that were begun here are
remembered here, and a run with other commands is not resumed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from filelock import FileLock

from firstlight.core import reading
from firstlight.core.errors import UsageError
from firstlight.execute import observer
from firstlight.model.plan import Cell, ExternalCommand, Program
from firstlight.results.record import Build, Run
from firstlight.results.store import durable
from firstlight.runner import copies
from firstlight.system.machine import cache_directory

FILE = "guests.json"
MOST = 1000  # runs that are remembered

OBSERVER = Path(observer.FOLDER)
"""The executable of every external command: the observer is started instead of the command."""


def programs(cells: Iterable[Cell]) -> list[Program]:
    """Return the external commands of these cells, each once."""
    return list(dict.fromkeys(cell.program for cell in cells if cell.external is not None))


def builds(cells: Sequence[Cell], seconds: Mapping[Program, float] | None = None) -> tuple[Build, ...]:
    """Return a build record for each external command: the hash of the files that its command starts.

    `seconds`: the build times of those that were built for this run.
    """
    first = {cell.program: cell.external for cell in reversed(cells) if cell.external is not None}
    took = seconds or {}
    return tuple(Build(p, ok=True, seconds=took.get(p, 0.0), sha256=_digest(first[p])) for p in programs(cells))


def found(word: str, folder: Path) -> Path | None:
    """Return the executable file that a word starts in that folder, or None."""
    path = shutil.which(word) if "/" not in word else str(folder / word)
    return Path(path) if path and os.access(path, os.X_OK) and Path(path).is_file() else None


def _digest(external: ExternalCommand) -> str:
    """Return a hash of what a command starts."""
    return _hash(external, _named(external), built_for(external))


def _hash(external: ExternalCommand, named: Sequence[Path], built: Sequence[Path]) -> str:
    """Return the hash of the named files and of those that were built for them.

    A build may make files that are not recognised as programs. Their folder represents them.
    """
    digest = hash_of([*named, *built])
    unknown = _in_copy(external) and not built
    return hashlib.sha256(f"{digest} {external.folder}".encode()).hexdigest() if unknown else digest


def hash_of(files: Iterable[Path]) -> str:
    """Return a hash of the contents of these files, in their order."""
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as content:
            digest.update(hashlib.file_digest(content, "sha256").digest())
    return digest.hexdigest()


SCRIPTS = frozenset({".py", ".sh", ".bash", ".pl", ".rb", ".jl", ".R", ".lua", ".js", ".m", ".jar"})
"""Endings of files that an interpreter starts although the system cannot."""


def _named(external: ExternalCommand) -> list[Path]:
    """Return the executables and scripts that a command names; a word after -o names a result."""
    folder, words = Path(external.folder), external.command
    inputs = dict.fromkeys(word for before, word in zip(("", *words), words, strict=False) if before != "-o")
    files = (found(word, folder) or _script(folder / word) for word in inputs)
    return [file for file in files if file is not None and os.access(file, os.R_OK)]


def _script(file: Path) -> Path | None:
    return file if file.suffix in SCRIPTS and file.is_file() else None


def _in_copy(external: ExternalCommand) -> bool:
    return copies.contains(cache_directory(), Path(external.folder))


def built_for(external: ExternalCommand) -> list[Path]:
    """Return the programs in the copy in which a command's program was built."""
    return programs_below(Path(external.folder)) if _in_copy(external) else []


def programs_below(folder: Path) -> list[Path]:
    """Return the compiled programs and libraries below a folder, in the order of their paths."""
    files = sorted(Path(above) / name for above, _, names in os.walk(folder) for name in names)
    return [file for file in files if file.is_file() and os.access(file, os.X_OK | os.R_OK) and compiled(file)]


def compiled(file: Path) -> bool:
    """Return whether a file is an ELF file."""
    with file.open("rb") as opened:
        return opened.read(4) == b"\x7fELF"


class ChangedError(Exception):
    """A program was replaced while it was measured: one line."""


class Watch:
    """The programs of a run's commands: whether each is still the one that was found at the start of the run.

    The hash of a build is that of its first cell. The words of a sweep may name other scripts in other cells: these
    must stay as they are now.
    """

    def __init__(self, builds: Iterable[Build], cells: Sequence[Cell]) -> None:
        hashes = {build.program: build.sha256 for build in builds if build.ok}
        self._built: dict[Program, list[Path]] = {}
        self._facts: dict[str, list[tuple[str, int, int, int]]] = {}
        self._hashes: dict[str, str | None] = {}
        first: dict[Program, list[Path]] = {}
        for cell in cells:
            if (external := cell.external) is not None and not external.prepare:
                named = _named(external)
                same = named == first.setdefault(cell.program, named)
                found = hashes.get(cell.program) if same else _hash(external, named, self._built_for(cell))
                self._hashes[cell.id] = found

    def _built_for(self, cell: Cell) -> list[Path]:
        if cell.program not in self._built:
            self._built[cell.program] = [] if cell.external is None else built_for(cell.external)
        return self._built[cell.program]

    def check(self, cell: Cell) -> None:
        """Raise ChangedError if the program of a cell changed.

        Files are read again only if the system reports a change of one of them. A command with a preparation is not
        checked, because the preparation may make its program.
        """
        external = cell.external
        if external is None or external.prepare:
            return
        built = self._built_for(cell)
        try:
            named = _named(external)
            facts = [(str(file), s.st_ino, s.st_size, s.st_ctime_ns) for file in named + built for s in [file.stat()]]
            if facts == self._facts.get(cell.id):
                return
            same = _hash(external, named, built) == self._hashes.get(cell.id)
        except FileNotFoundError:
            same = False
        if not same:
            raise ChangedError(
                f"{cell.program.variant}: the program changed during the measurement; only earlier launches are kept; "
                f"start a new run"
            )
        self._facts[cell.id] = facts


def remember(cells: Sequence[Cell]) -> None:
    """Remember that the commands of these cells were requested here, with this cache. Raises OSError."""
    cache = cache_directory()
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(cache / f"{FILE}.lock"):  # several runs may start simultaneously: each adds to the others' records
        kept = [*(name for name in _known(cache) if name != _name(cells)), _name(cells)]
        durable.replace(cache / FILE, msgspec.json.encode(kept[-MOST:]))


def require_remembered(run: Run) -> None:
    """Raise UsageError if the commands were not requested here, or if the copies built for them are gone."""
    if programs(run.cells) and _name(run.cells) not in _known(cache_directory()):
        raise UsageError(f"run {run.id}: its commands were not typed on this machine; start a new run with ./fl bench")
    copies.require(run, cache_directory())


def _known(cache: Path) -> list[str]:
    try:
        return reading.json((cache / FILE).read_bytes(), list[str])
    except (OSError, reading.MalformedError):
        return []


def _name(cells: Sequence[Cell]) -> str:
    return hashlib.sha256(msgspec.json.encode([cell for cell in cells if cell.external is not None])).hexdigest()
