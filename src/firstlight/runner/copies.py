"""Copies: the folders in the cache in which users' programs were built; those marked longest ago are removed first.

A run resumes with the copy that it began with, so a copy that a run may still use is never removed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from firstlight.core.errors import UsageError
from firstlight.model.plan import Cell
from firstlight.results.record import Run

MOST_BYTES = 4 << 30
"""Maximum bytes of all copies together; those in use may exceed it."""
IN_USE = 86400.0
"""Seconds after it was marked for which a run may still use a copy."""


class Removed(NamedTuple):
    """The removed copies: their number, their bytes, and the first error of those that were not removed, or ""."""

    copies: int
    bytes: int
    error: str


def root(cache: Path) -> Path:
    """Return the folder of all copies: it has a folder per content of sources, and in it one per toolchain."""
    return cache / "bench"


def contains(cache: Path, folder: Path) -> bool:
    """Return whether a folder is inside one of the copies."""
    return folder != root(cache) and folder.is_relative_to(root(cache))


def mark(copies: Path) -> None:
    """Mark copies as used from now on. Raises OSError."""
    copies.mkdir(parents=True, exist_ok=True)
    os.utime(copies)


def require(run: Run, cache: Path) -> None:
    """Mark the copies that a run uses. Raises UsageError if one is no longer there."""
    for copies, folders in _of(run.cells, cache).items():
        if not all(folder.is_dir() for folder in folders):
            raise UsageError(
                f"run {run.id}: the copy of the sources from which its program was built is no longer in the cache; "
                f"start a new run with ./fl bench"
            )
        with contextlib.suppress(PermissionError):  # of another user's cache: only its owner removes from it
            mark(copies)


def _of(cells: Iterable[Cell], cache: Path) -> dict[Path, set[Path]]:
    """Return the folders of external commands that are inside copies, by copy."""
    found: dict[Path, set[Path]] = {}
    above = root(cache)
    for cell in cells:
        folder = Path(cell.external.folder) if cell.external is not None else above
        if contains(cache, folder):
            found.setdefault(above / folder.relative_to(above).parts[0], set()).add(folder)
    return found


def shrink(cache: Path, most: int = MOST_BYTES, now: float | None = None) -> Removed:
    """Remove copies that are not in use, those marked longest ago first, until all have at most `most` bytes."""
    oldest_first = sorted(_marked(root(cache)))
    sizes = {copies: _size(copies) for _, copies in oldest_first}
    total, count, freed, error = sum(sizes.values()), 0, 0, ""
    for marked, copies in oldest_first:
        if total <= most or (time.time() if now is None else now) - marked < IN_USE:
            break
        try:
            shutil.rmtree(copies)
        except OSError as problem:
            error = error or f"{copies}: {problem.strerror}"
            continue
        total, count, freed = total - sizes[copies], count + 1, freed + sizes[copies]
    return Removed(count, freed, error)


def _marked(above: Path) -> Iterator[tuple[float, Path]]:
    """Yield when each copy was marked, and its path. Skip copies that another firstlight removes meanwhile."""
    for path in above.iterdir() if above.is_dir() else ():
        with contextlib.suppress(FileNotFoundError):
            if path.is_dir() and not path.is_symlink():
                yield path.stat().st_mtime, path


def _size(folder: Path) -> int:
    """Return the bytes of all files below a folder, without following links."""
    total = 0
    for above, _, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(FileNotFoundError):
                total += (Path(above) / name).lstat().st_size
    return total
