"""The layout of a run directory: its only names, its bounds, and how a file of it is read without trusting it."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from firstlight.errors import RecordError

RUN = "run.json"
LAUNCHES = "launches"
OWNER = "owner"
BUILDS = "builds"
REPORT, FIGURES = DERIVED = ("report.html", "figures.json")
SEAL = "SHA256SUMS"
SIGNATURE = "SHA256SUMS.sig"

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")
"""Of a run: the name of its directory."""
JOBS = "jobs"
"""Beside the runs: the folder of job scripts."""
TAKEN = ("latest", JOBS)
"""Names that a run cannot have."""

MAX_RUN_BYTES = 16 << 20
MAX_LAUNCH_BYTES = 64 << 20
MAX_LINES = 1_000_000
MAX_FILES = 100_000
EXIT_ROOM = 1 << 16
"""Bytes of a launch file that are kept free for the exit line."""

CELL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+=@,~-]{0,199}")
_LAUNCH = re.compile(rf"({CELL.pattern})\.(\d{{4,6}})\.jsonl")
_BUILD_LOG = re.compile(r"[\w.+@=,~-]+\.(log|txt)", re.ASCII)
_PART = re.compile(rf"\.({CELL.pattern})\.(\d{{4,6}})\.part")


def launch_name(cell: str, launch: int) -> str:
    return f"{cell}.{launch:04d}.jsonl"


def part_name(cell: str, launch: int) -> str:
    """The name of a launch that has not ended."""
    return f".{cell}.{launch:04d}.part"


def parse_launch(name: str) -> tuple[str, int] | None:
    """Cell and launch number; None for a name that firstlight does not write."""
    match = _LAUNCH.fullmatch(name)
    return (match[1], int(match[2])) if match and launch_name(match[1], int(match[2])) == name else None


def is_build_log(name: str) -> bool:
    return _BUILD_LOG.fullmatch(name) is not None


def is_part(name: str) -> bool:
    return _PART.fullmatch(name) is not None


def read_file(path: Path, bound: int) -> bytes:
    """A regular file of at most `bound` bytes; raises RecordError for a link, a pipe, a device or a larger file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        why = "is a link" if path.is_symlink() else (error.strerror or "cannot be opened").lower()
        raise RecordError(f"{path}: {why}; a results directory holds plain files only") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise RecordError(f"{path}: is no plain file; a results directory holds plain files only")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(bound + 1)
    if len(data) > bound:
        raise RecordError(f"{path}: is larger than {bound >> 20} MiB; such a file was not written by firstlight")
    return data


def names(folder: Path) -> list[str]:
    """The names in a folder, sorted. Raises RecordError for a link, a missing folder, or more than MAX_FILES names."""
    if folder.is_symlink():
        raise RecordError(f"{folder}: is a link; a results directory holds plain files only")
    found: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                found.append(entry.name)
                if len(found) > MAX_FILES:
                    raise RecordError(f"{folder}: holds more than {MAX_FILES} files; firstlight did not write them")
    except OSError as error:
        raise RecordError(f"{folder}: {(error.strerror or 'cannot be read').lower()}") from error
    return sorted(found)
