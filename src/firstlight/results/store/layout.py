"""The layout of a run directory: its only names, its bounds, and how a file of it is read without trusting it."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from pathlib import Path

from firstlight.core.errors import RecordError
from firstlight.results.store import disk, documents
from firstlight.results.store.disk import Folder

RUN = "run.json"
LAUNCHES = "launches"
OWNER = "owner"
BUILDS, DOCUMENTS = "builds", documents.FOLDER
REPORT, FIGURES = DERIVED = ("report.html", "figures.json")
SEAL = "SHA256SUMS"
SIGNATURE = "SHA256SUMS.sig"

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")
"""The name of a run's directory."""
JOBS = "jobs"
"""The folder of job scripts, alongside the runs."""
TUNED = "tuned"
"""The folder of files that tunings write for libraries, alongside the runs."""
TAKEN = ("latest", JOBS, TUNED)
"""Names that a run cannot have."""

MAX_RUN_BYTES = 16 << 20
MAX_LAUNCH_BYTES = 64 << 20
MAX_LINES = 1_000_000
MAX_FILES = 500_000
MAX_LOG_BYTES = 1 << 20
"""Bytes of compiler output for one program: the beginning, which has the first error, and the end."""
EXIT_ROOM = 1 << 16
"""Bytes of a launch file that are kept free for the exit line."""

CELL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+=@,~-]{0,199}")
_LAUNCH = re.compile(rf"({CELL.pattern})\.(\d{{4,6}})\.jsonl")
_BUILD_LOG = re.compile(r"[\w.+@=,~-]+\.(log|txt)", re.ASCII)
_PART = re.compile(rf"\.({CELL.pattern})\.(\d{{4,6}})\.part")
_WRITTEN = "|".join(re.escape(name) for name in (RUN, OWNER, SEAL, SIGNATURE, *DERIVED))
_KEPT_NAME = rf"[\w.+@=,~-]+\.(?:log|txt)|{documents.NAME.pattern}"
_BEING_WRITTEN = re.compile(rf"\.(?:{_WRITTEN}|{_KEPT_NAME})(?:\.[0-9a-f]{{8,16}})?\.part", re.ASCII)


def launch_name(cell: str, launch: int) -> str:
    return f"{cell}.{launch:04d}.jsonl"


def part_name(cell: str, launch: int) -> str:
    """Return the file name of a launch that has not ended."""
    return f".{cell}.{launch:04d}.part"


def sealed_name(part: str) -> str:
    """Return the file name of a launch after it has ended."""
    return part.removeprefix(".").removesuffix(".part") + ".jsonl"


def parse_launch(name: str) -> tuple[str, int] | None:
    """Return cell and launch number; None for a name that firstlight does not write."""
    match = _LAUNCH.fullmatch(name)
    return (match[1], int(match[2])) if match and launch_name(match[1], int(match[2])) == name else None


def is_build_log(name: str) -> bool:
    return _BUILD_LOG.fullmatch(name) is not None


KEPT: dict[str, Callable[[str], bool]] = {BUILDS: is_build_log, DOCUMENTS: documents.is_name}
"""Other folders of a run than its launches, and a test of their file names: compiler output, and input files."""


def is_part(name: str) -> bool:
    """Return whether this is the file name of a launch in flight."""
    return _PART.fullmatch(name) is not None


def is_being_written(name: str) -> bool:
    """Return whether this is the name of another file of the run until it is whole, or the note of a claimant."""
    return _BEING_WRITTEN.fullmatch(name) is not None


def bounded_text(text: str, most: int) -> bytes:
    """Return at most `most` bytes of a text: beginning and end, and between them a line with the bytes left out."""
    data = text.encode("utf-8", "replace")
    if len(data) <= most:
        return data
    half = most // 2 - 32
    parts = (data[:half], f"\n[... {len(data) - 2 * half} bytes ...]\n".encode(), data[-half:])
    return b"".join(parts).decode("utf-8", "ignore").encode()


def read_file(path: Path, bound: int) -> bytes:
    """Read a plain file of at most `bound` bytes. Raises RecordError for a link, a pipe, a device or a larger file."""
    try:
        data = disk.read(path, bound + 1)
    except OSError as error:
        why = "is a link" if error.errno == errno.ELOOP else (error.strerror or "cannot be opened").lower()
        raise RecordError(f"{path}: {why}; a results directory contains only regular files") from error
    if data is None:
        raise RecordError(f"{path}: is not a regular file; a results directory contains only regular files")
    if len(data) > bound:
        raise RecordError(f"{path}: is larger than {bound >> 20} MiB; firstlight never writes such files")
    return data


def names(folder: Path) -> list[str]:
    """Return the names in a folder, sorted. Raises RecordError for a link, no folder, or more than MAX_FILES names."""
    if folder.is_symlink():
        raise RecordError(f"{folder}: is a link; a results directory contains only regular files")
    try:
        with Folder.at(folder) as held:
            return bounded(held)
    except OSError as error:
        raise RecordError(f"{folder}: {(error.strerror or 'cannot be read').lower()}") from error


def bounded(folder: Folder) -> list[str]:
    """Return the names in a folder, sorted. Raises RecordError for more than MAX_FILES, OSError."""
    found = folder.names(MAX_FILES)
    if len(found) > MAX_FILES:
        raise RecordError(f"{folder.path}: contains more than {MAX_FILES} files, which firstlight cannot have written")
    return sorted(found)
