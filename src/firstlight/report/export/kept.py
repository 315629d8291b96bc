"""Rows of a large run that were computed before: stored in the cache, reused if their sources have not changed.

Judging 100,000 figures means reading every launch again. Like git's index, a cached result identifies each file by its
number, size and times; every write changes a file's time of change, which no program can set. `check` does not use
the cache and reads all files.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from firstlight import PACKAGE
from firstlight.core import reading
from firstlight.model import catalogue
from firstlight.report.export.figures import Row
from firstlight.results.store import disk, layout
from firstlight.results.store.durable import replace
from firstlight.system.machine import cache_directory

FOLDER = "judged"
FEW = 1000
"""The number of launches from which on rows are cached; smaller runs are judged quickly."""
MOST = 8
"""The number of runs whose rows are stored: the last ones. Rows of 100,000 figures need some 60 MB."""


class Kept(msgspec.Struct, frozen=True):
    """The output of `figures` for a run. `key`: hash of its sources; `rows`: as JSON, the most frequent format."""

    key: str
    run: str
    defects: tuple[str, ...]
    rows: msgspec.Raw

    def table(self) -> list[Row]:
        return msgspec.json.decode(self.rows, type=list[Row])

    def pretty(self) -> str:
        """Return the rows in the format of `export.to_json`."""
        return msgspec.json.format(bytes(self.rows), indent=1).decode()


def find(path: Path, now: str | None) -> Kept | None:
    """Return the stored rows of the run if their key is `now`; None if there are none."""
    place = _place(path)
    if now is None or not place.is_file():
        return None
    try:
        found = reading.decoded(place.read_bytes(), msgspec.json.Decoder(Kept))
    except (OSError, reading.MalformedError):
        return None
    return found if found.key == now else None


def keep(path: Path, run: str, defects: Sequence[str], rows: Sequence[Row], before: str | None) -> None:
    """Store the rows of a run if `before`, its key before its launches were read, is still its key and not None."""
    now = None if before is None else key(path)
    if now is None or now != before:
        return
    place = _place(path)
    made = Kept(now, run, tuple(defects), msgspec.Raw(msgspec.json.encode(rows)))
    with contextlib.suppress(OSError):
        disk.make_folders(place.parent)
        replace(place, msgspec.json.encode(made))
        newest = sorted(place.parent.glob("*.json"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
        for old in newest[MOST:]:
            old.unlink()


def key(path: Path) -> str | None:
    """Return a hash of all sources of a run's rows; None for a run of few launches, and for what is not a run."""
    try:
        launches = list(_stamps(path / layout.LAUNCHES))
        if len(launches) < FEW:
            return None
        found = hashlib.sha256((path / layout.RUN).read_bytes())
    except OSError:
        return None
    for line in sorted(launches):
        found.update(line.encode())
    for file in _judges():
        found.update(file.read_bytes())
    return found.hexdigest()


def _stamps(folder: Path) -> Iterable[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            s = entry.stat(follow_symlinks=False)
            yield f"{entry.name} {s.st_ino} {s.st_mode} {s.st_size} {s.st_mtime_ns} {s.st_ctime_ns}\n"


def _judges() -> list[Path]:
    """Return the files that judge a run: the code of firstlight, and the declarations of workloads."""
    own = sorted(PACKAGE.rglob("*.py"))
    return [*own, *sorted(file for root in catalogue.roots() for file in root.rglob("workload.toml"))]


def _place(path: Path) -> Path:
    name = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:32]
    return cache_directory() / FOLDER / f"{name}.json"
