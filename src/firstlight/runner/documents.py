"""Documents: a file that is the value of a parameter is read once, and kept with the run.

From then on its name in the run is the value: later changes to the original have no effect.
"""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from firstlight.core.errors import RecordError, UsageError
from firstlight.model.catalogue import Value
from firstlight.model.plan import settings
from firstlight.model.plan.settings import Setting
from firstlight.results.record import Run
from firstlight.results.store import documents, layout
from firstlight.results.store.documents import Document

PACKED = ".gz"


class Given(NamedTuple):
    """Settings as programs receive them: the values by parameter, and the files among them."""

    values: dict[str, tuple[Value, ...]]
    files: tuple[Document, ...]


def given(some: Sequence[Setting], words: Mapping[str, Collection[str]]) -> Given:
    """Read the files that settings name. `words`: values with a dot that are not files, by parameter.

    Raises UsageError for a file that cannot be read, and for two with the same name: they could not be distinguished.
    """
    values: dict[str, tuple[Value, ...]] = {}
    files: dict[str, Document] = {}
    for setting in some:
        found: list[Value] = []
        for text in setting.values:
            if settings.names_file(text) and text not in words.get(setting.name, ()):
                document = read(setting.name, text)
                called = documents.file_name(document.name)
                if files.setdefault(called, document) != document:
                    raise UsageError(
                        f"{setting}: two files have the name {called}, which the report must distinguish; rename one"
                    )
                found.append(document.name)
            else:
                found.append(settings.value(setting.name, text))
        values[setting.name] = tuple(dict.fromkeys(found))
    return Given(values, tuple(files.values()))


def read(parameter: str, path: str) -> Document:
    """Read a plain file of 1 byte to 64 MiB; unpack a gzip file, which has no `.gz` in its name in the run.

    Raises UsageError with the same messages as the programs.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe is not waited for
        with open(descriptor, "rb") as file:  # noqa: PTH123 (a descriptor)
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UsageError(f"{parameter}: {path}: not a regular file")
            packed = path.endswith(PACKED)
            content = _unpacked(file) if packed else file.read(documents.MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{parameter}: {path}: {why}") from error
    what = "the content of the file" if packed else "the file"
    if not content:
        raise UsageError(f"{parameter}: {path}: {what} is empty")
    if len(content) > documents.MAX_BYTES:
        raise UsageError(f"{parameter}: {path}: {what} is larger than {documents.MAX_BYTES >> 20} MiB")
    document = documents.of(path.removesuffix(PACKED) if packed else path, content)
    place = Path(path)
    if place.parent.name == documents.FOLDER and documents.is_name(place.name) and place.name != document.name:
        raise UsageError(f"{parameter}: {path}: was altered after a run stored it: its content does not match its name")
    return document


def _unpacked(file: BinaryIO) -> bytes:
    """Return the unpacked content, at most 64 MiB and one byte: a small gzip file may expand to any size.

    Raises ValueError for a truncated file, and for one that is not in gzip format.
    """
    try:
        with gzip.open(file) as unpacked:
            return unpacked.read(documents.MAX_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError("an incomplete gzip file") from error


def write(folder: Path, some: Sequence[Document]) -> None:
    """Write documents for a program that is queried, or for a job that waits. Raises OSError."""
    folder.mkdir(exist_ok=True)
    for document in some:
        (folder / document.name).write_bytes(document.content)


def option(run: Path, settings: settings.Settings) -> tuple[str, ...]:
    """Return the option that passes the folder of the run's documents to a program; nothing without documents."""
    return ("--documents", str((run / layout.DOCUMENTS).absolute())) if documents.named(settings) else ()


def require(path: Path, run: Run) -> None:
    """Raise UsageError if a file that a run was begun with is missing or was altered."""
    for name in sorted(documents.named(run.settings)):
        try:
            content = layout.read_file(path / layout.DOCUMENTS / name, documents.MAX_BYTES)
        except RecordError as error:
            raise UsageError(
                f"{error}: programs of run {run.id} read this file, so the run cannot be resumed"
            ) from error
        if not documents.fits(name, content):
            raise UsageError(
                f"{path / layout.DOCUMENTS / name}: was altered after the run started; launches would not be comparable"
            )
