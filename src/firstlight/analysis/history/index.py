"""The index: what history needs of each run, stored by the run's seal, so that a folder is judged once.

It is stored in the cache and may be deleted at any time. It is valid for one state of firstlight's own code and of
the workloads: runs are judged again after either has changed.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable
from pathlib import Path

import msgspec

from firstlight import PACKAGE
from firstlight.analysis.changes import Value
from firstlight.analysis.verdict import Identity
from firstlight.core.errors import RecordError
from firstlight.model import catalogue
from firstlight.results.description import Better
from firstlight.results.record import Run
from firstlight.results.store import disk, durable, layout
from firstlight.toolchain.sources import digest

MAX_BYTES = 1 << 30
_HASH = 32


class Measured(msgspec.Struct, frozen=True):
    """A figure as it is the same in many runs. `work`: what a step does; of runs that do other work it is another.

    `reported`: another tool reported it; firstlight did not verify it.
    """

    identity: Identity
    unit: str
    better: Better
    observed: bool
    work: tuple[tuple[str, str], ...]
    reported: bool = False


class Entry(msgspec.Struct, frozen=True):
    """One run. `run` is run.json without what was built and launched; `values`: of its figures, by their number.

    `disturbed`: the share of samples whose wall and CPU time diverged, mean over its timed figures. `stamp`: how many
    files it has, how large they are together and when the last was written.
    """

    stamp: tuple[int, int, int]
    run: Run
    disturbed: float
    values: tuple[tuple[int, Value], ...]


class Index(msgspec.Struct):
    """The figures of a folder's runs, the runs by SHA-256 of their seals, and the chapters of workloads."""

    version: str
    figures: list[Measured] = []
    entries: dict[str, Entry] = {}
    chapters: dict[str, str] = {}

    def numbers(self) -> dict[Measured, int]:
        """Return the index of each figure in `figures`."""
        return {figure: k for k, figure in enumerate(self.figures)}


def version() -> str:
    """Return a hash of all that verdicts depend on except the run: firstlight's code, and what workloads declare."""
    files = sorted(PACKAGE.rglob("*.py"))
    files += sorted(path for root in catalogue.roots() for path in root.rglob("workload.toml"))
    return digest(part for path in files for part in (str(path).encode(), path.read_bytes()))


def place(cache: Path, folder: Path) -> Path:
    """Return the path of the index of a folder."""
    return cache / "history" / f"{hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:24]}.msgpack"


def load(path: Path, now: str) -> Index:
    """Return the index; an empty one if it is missing, damaged or of another `version`."""
    with contextlib.suppress(OSError, RecordError, msgspec.MsgspecError):
        data = layout.read_file(path, MAX_BYTES)
        if data[:_HASH] == _hash(data[_HASH:]):
            found = msgspec.msgpack.decode(data[_HASH:], type=Index)
            return found if found.version == now else Index(now)
    return Index(now)


def save(path: Path, index: Index) -> str:
    """Save the index atomically. Return why it could not be saved, or "": the index is only a cache."""
    data = msgspec.msgpack.encode(index)
    try:
        disk.make_folders(path.parent)
        durable.replace(path, _hash(data) + data)
    except OSError as error:
        return f"{path.parent} cannot be written ({durable.reason(error)}): the next command must judge all runs again"
    return ""


def _hash(data: bytes) -> bytes:
    """Return the hash that precedes the index, so that a damaged index is detected."""
    return hashlib.sha256(data).digest()


def kept(index: Index, seals: Iterable[str]) -> Index:
    """Return the index without the runs that no longer exist, and without figures that only they had."""
    entries = {seal: index.entries[seal] for seal in seals}
    used = sorted({k for e in entries.values() for k, _ in e.values})
    new = {old: k for k, old in enumerate(used)}
    return Index(
        index.version,
        [index.figures[k] for k in used],
        {
            seal: msgspec.structs.replace(e, values=tuple((new[k], value) for k, value in e.values))
            for seal, e in entries.items()
        },
        index.chapters,
    )
