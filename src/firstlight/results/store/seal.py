"""The seal: SHA-256 of every file of a run in one list, written last; `sha256sum -c SHA256SUMS` reads it, too.

It has no key: it shows that a file was altered, lost or added by accident. A forger writes another seal; against that a
run is signed (`firstlight.results.store.signature`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from firstlight.core.errors import RecordError
from firstlight.results.store import layout, lines
from firstlight.results.store.disk import Folder
from firstlight.results.store.lines import Defect

MAX_BYTES = 128 << 20  # the longest names of layout.MAX_FILES
MAX_FILE_BYTES = 256 << 20
_LINE = re.compile(r"([0-9a-f]{64})  ([\w.+@=,~-]+(?:/[\w.+@=,~-]+)?)", re.ASCII)


def names(run: Path) -> list[str]:
    """Return every file that a seal covers, relative to the run, sorted: all that firstlight writes, nothing else."""
    try:
        with Folder.at(run) as folder:
            return _names(folder)
    except OSError as error:
        raise RecordError(f"{run}: {(error.strerror or 'cannot be read').lower()}") from error


def _names(run: Folder) -> list[str]:
    found = [name for name in (layout.RUN, *layout.DERIVED) if run.is_plain(name)]
    for name, is_ours in _FOLDERS.items():
        if run.status(name) is not None:
            with run.folder(name) as folder:
                found += [f"{name}/{file}" for file in layout.bounded(folder) if is_ours(file)]
    return sorted(found)


_FOLDERS: dict[str, Callable[[str], bool]] = {
    layout.LAUNCHES: lambda name: layout.parse_launch(name) is not None,
    **layout.KEPT,
}


def write(run: Folder) -> None:
    """Seal the run as it is now, durably. Raises OSError, and RecordError for a file that cannot be read."""
    _replace(run, {name: digest(run.path, name) for name in _names(run)})


def renew(run: Folder, changed: Iterable[str]) -> None:
    """Seal the files in `changed` again and keep all other lines: an alteration among those stays visible.

    Raises RecordError if there is no seal, or one that cannot be read.
    """
    _replace(run, read(run.path) | {name: digest(run.path, name) for name in changed})


def remove(run: Folder) -> None:
    """Break the seal, if there is one. Raises OSError."""
    if run.status(layout.SEAL) is not None:
        run.remove(layout.SIGNATURE)
        run.remove(layout.SEAL)
        run.sync()


def exists(run: Path) -> bool:
    return (run / layout.SEAL).exists() or (run / layout.SEAL).is_symlink()


def digest(run: Path, name: str) -> str:
    """Return the SHA-256 of one file. Raises RecordError if it is not a plain file, or is too large to be ours."""
    return hashed(layout.read_file(run / name, MAX_FILE_BYTES))


def hashed(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def difference(name: str, found: str, sealed: Mapping[str, str]) -> str:
    """Return how a file with the hash `found` differs from the seal, "" if it does not."""
    if name not in sealed:
        return "was added after the run was sealed"
    return "" if sealed[name] == found else "was altered after the run was sealed"


def read(run: Path) -> dict[str, str]:
    """Return the digests of a seal by name. Raises RecordError if it is missing or malformed."""
    return parse(layout.read_file(run / layout.SEAL, MAX_BYTES), str(run / layout.SEAL))


def line(run: Path, name: str) -> str:
    """Return the hash of one file, "" if the seal has none. Do not parse all lines: there may be many."""
    found = re.search(
        rb"^([0-9a-f]{64})  %s$" % re.escape(name.encode()), layout.read_file(run / layout.SEAL, MAX_BYTES), re.M
    )
    return found[1].decode() if found else ""


def parse(data: bytes, place: str = layout.SEAL) -> dict[str, str]:
    """Parse the lines of a seal. Raises RecordError naming the first one that firstlight does not write."""
    if not data.endswith(b"\n"):
        raise RecordError(f"{place}: is truncated")
    found: dict[str, str] = {}
    for number, raw in lines.split(data):
        match = _LINE.fullmatch(raw.decode("ascii", "replace"))
        if match is None or match[2] in found:
            raise RecordError(f"{place}: line {number} is not in the format that firstlight writes")
        found[match[2]] = match[1]
    return found


def text(digests: Mapping[str, str]) -> bytes:
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items())).encode("ascii")


def _replace(run: Folder, digests: Mapping[str, str]) -> None:
    run.replace(layout.SEAL, text(digests))


def differences(run: Path) -> Iterator[Defect]:
    """Yield files that differ from the seal, in the order of their names."""
    try:
        sealed = read(run)
    except RecordError as error:
        yield Defect(layout.SEAL, 0, str(error).removeprefix(f"{run / layout.SEAL}: "))
        return
    try:
        there = set(names(run))
    except RecordError:
        return  # a folder that cannot be read is a defect of its own
    for name in sorted(there | sealed.keys()):
        if name not in there:
            yield Defect(name, 0, "is missing")
        else:
            try:
                if what := difference(name, digest(run, name) if name in sealed else "", sealed):
                    yield Defect(name, 0, what)
            except RecordError as error:
                yield Defect(name, 0, str(error).removeprefix(f"{run / name}: "))
