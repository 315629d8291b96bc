"""The owner note of a run: tells a second firstlight that the first one is still at work. A note, not a lock.

It holds the process and when it began; the boot and the process namespace that these numbers belong to are hashed, so
the note names no host.
"""

from __future__ import annotations

import functools
import hashlib
import os
import time
from pathlib import Path

import msgspec

from firstlight.errors import RecordError, UsageError
from firstlight.machine import allocation
from firstlight.store import durable
from firstlight.store.layout import OWNER, read_file

FRESH = 600.0
"""Seconds for which a note of another machine is believed: whether its process lives cannot be seen from here."""


class Owner(msgspec.Struct, frozen=True):
    where: str
    pid: int
    started: int  # clock ticks since boot
    job: str = ""  # the batch job, hashed: a job that is started again is the same one


def myself() -> Owner:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    where = hashlib.sha256(f"{boot} {Path('/proc/self/ns/pid').readlink()}".encode()).hexdigest()[:16]
    return Owner(where, os.getpid(), _started(os.getpid()) or 0, _job())


@functools.cache
def _job() -> str:
    held = allocation.discover()
    return hashlib.sha256(f"{held.system} {held.job}".encode()).hexdigest()[:16] if held.job else ""


def _started(pid: int) -> int | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = stat.rpartition(b")")[2].split()
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def claim(run: Path) -> None:
    """Leave a note in the run. Raises UsageError while another firstlight works on it, OSError when it cannot be."""
    path, me = run / OWNER, myself()
    other = _read(path)
    if other and other != me:
        if other.where == me.where and _started(other.pid) == other.started:
            raise UsageError(
                f"{run}: another firstlight (process {other.pid}) works on this run; wait for it or stop it"
            )
        age = time.time() - path.stat().st_mtime
        requeued = bool(me.job) and other.job == me.job  # after its node failed; what ran there has ended
        if other.where != me.where and age < FRESH and not requeued:
            raise UsageError(
                f"{run}: a firstlight on another machine worked on this run {age:.0f} s ago; "
                f"wait for it, or delete {path} if it is dead"
            )
    durable.replace(path, msgspec.json.encode(me))


def _read(path: Path) -> Owner | None:
    """The note that is there; a damaged one counts as none, it protects nothing."""
    try:
        return msgspec.json.decode(read_file(path, 4096), type=Owner)
    except (RecordError, msgspec.MsgspecError):
        return None


def refresh(run: Path) -> None:
    """Say "still here", and notice a firstlight that took the run over meanwhile (raises UsageError)."""
    path = run / OWNER
    if _read(path) != myself():
        raise UsageError(f"{run}: another firstlight took this run over; only one may write it. This one stops")
    os.utime(path)


def release(run: Path) -> None:
    """Take the note away if it is this process's own."""
    if _read(run / OWNER) == myself():
        (run / OWNER).unlink(missing_ok=True)
