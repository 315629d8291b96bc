"""Rows of a large run that were made before: kept in the cache, taken where nothing that they come from has changed.

Judging 100,000 figures means reading every launch again. As git's index does, a kept answer names each file by its
number, size and times; whatever is written to one changes its time of change, which nobody can set. `check` trusts
none of it and reads all.
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
"""A run of fewer launches is judged in a moment."""
MOST = 8
"""Runs whose rows are kept: the last ones. Of 100,000 figures they take some 60 MB."""


class Kept(msgspec.Struct, frozen=True):
    """The output of `figures` for a run. `key`: hash of its sources; `rows`: as JSON, the most frequent format."""

    key: str
    run: str
    defects: tuple[str, ...]
    rows: msgspec.Raw

    def table(self) -> list[Row]:
        return msgspec.json.decode(self.rows, type=list[Row])

    def pretty(self) -> str:
        """As `export.to_json` gives it."""
        return msgspec.json.format(bytes(self.rows), indent=1).decode()


def find(path: Path, now: str | None) -> Kept | None:
    """What was kept of the run as it is `now`, by its key; None where nothing was."""
    place = _place(path)
    if now is None or not place.is_file():
        return None
    try:
        found = reading.decoded(place.read_bytes(), msgspec.json.Decoder(Kept))
    except (OSError, reading.MalformedError):
        return None
    return found if found.key == now else None


def keep(path: Path, run: str, defects: Sequence[str], rows: Sequence[Row], before: str | None) -> None:
    """Keep the rows of a run. `before`: its key when its launches were not read yet, None where nothing is to be kept:
    what was changed meanwhile has another one. A cache that cannot be written keeps nothing."""
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
    """A hash of all that the rows of a run come from; None for a run of few launches, and for what is none."""
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
    """firstlight itself, and what workloads declare."""
    own = sorted(PACKAGE.rglob("*.py"))
    return [*own, *sorted(file for root in catalogue.roots() for file in root.rglob("workload.toml"))]


def _place(path: Path) -> Path:
    name = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:32]
    return cache_directory() / FOLDER / f"{name}.json"
