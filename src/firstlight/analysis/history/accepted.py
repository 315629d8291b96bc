"""Accepted: the run of each machine that its later runs are compared with, stored alongside the runs."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from firstlight.analysis.history.folder import identify
from firstlight.core import reading
from firstlight.core.errors import RecordError, UsageError
from firstlight.core.shell import command
from firstlight.results.store import layout
from firstlight.results.store.durable import os_errors_as_store_error, replace

FILE = "accepted.json"
MAX_BYTES = 1 << 20


class Accepted(msgspec.Struct, frozen=True):
    """The accepted run of a machine: the name of its directory, the hash of its seal, and when it was accepted."""

    run: str
    seal: str
    time: float


def load(folder: Path) -> dict[str, Accepted]:
    """Return the accepted runs by machine, or none. Raises RecordError for a file that firstlight did not write."""
    path = folder / FILE
    if not path.exists():
        return {}
    try:
        return reading.json(layout.read_file(path, MAX_BYTES), dict[str, Accepted])
    except reading.MalformedError as error:
        raise RecordError(f"{path}: {error}; remove this file and accept a run again") from error


def accept(folder: Path, path: Path, machine: str) -> None:
    """Accept the run at `path`, in the folder, as the baseline of its machine. Raises RecordError, StoreError."""
    seal, _ = identify(path)
    known = load(folder) | {machine: Accepted(path.name, seal, time.time())}
    with os_errors_as_store_error(folder):
        replace(folder / FILE, msgspec.json.format(msgspec.json.encode(known), indent=1) + b"\n")


def baseline(folder: Path, machine: str) -> Path | None:
    """Return the accepted run of a machine; None if there is none. Raises UsageError if it is gone or altered."""
    known = load(folder).get(machine)
    if known is None:
        return None
    path, instead = folder / known.run, command("history", "--accept", "RUN")
    try:
        seal, _ = identify(path)
    except RecordError as error:
        raise UsageError(f"the accepted run {known.run} cannot be read ({error}); accept another: {instead}") from error
    if seal != known.seal:
        raise UsageError(
            f"the accepted run {known.run} has changed since it was accepted; accept this run again: {instead}"
        )
    return path
