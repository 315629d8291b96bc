"""External commands: their builds, and the check before a run of them is resumed.

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
    """Return a hash of the executable files that a command names: of a launcher and of the program after it."""
    digest = hashlib.sha256()
    folder = Path(external.folder)
    for word in dict.fromkeys(external.command):
        file = found(word, folder)
        if file is not None:
            with file.open("rb") as content:
                digest.update(hashlib.file_digest(content, "sha256").digest())
    return digest.hexdigest()


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
        raise UsageError(
            f"run {run.id}: it launches commands that were not typed here; begin a new run with ./fl bench"
        )
    copies.require(run, cache_directory())


def _known(cache: Path) -> list[str]:
    try:
        return reading.json((cache / FILE).read_bytes(), list[str])
    except (OSError, reading.MalformedError):
        return []


def _name(cells: Sequence[Cell]) -> str:
    return hashlib.sha256(msgspec.json.encode([cell for cell in cells if cell.external is not None])).hexdigest()
