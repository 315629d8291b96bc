"""The owner note of a run: it shows a second firstlight that the first one is still at work.

The note has the process and its start time. The boot and the process namespace of these numbers are hashed, so the note
names no host. Locks are not used, because network file systems refuse them or grant them twice. A note is placed by a
hard link, which only one claimant can make, and the successor of a dead process's note is chosen in the same way. Only
the clock of the file system decides its age.
"""

from __future__ import annotations

import errno
import functools
import hashlib
import os
import threading
from pathlib import Path
from types import TracebackType

import msgspec

from firstlight.core import reading
from firstlight.core.errors import UsageError
from firstlight.results.store import disk
from firstlight.results.store.disk import Folder
from firstlight.results.store.layout import OWNER
from firstlight.system.machine import allocation

FRESH = 600.0
"""Seconds for which a note of another machine is valid: whether its process lives cannot be seen from here."""
BEAT = 30.0
"""Interval in seconds between updates of a note while its process works on the run, even if that waits."""
BEGINNING = 60.0
"""Seconds for which an empty note counts as one that is being written, on file systems without hard links."""
_MOST_DEAD = 16  # claimants that died while they took over from one another
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_NO_FILE = (errno.ELOOP, errno.EISDIR, errno.ESPIPE, errno.ENXIO)  # a link, a folder, a pipe, a socket


class Owner(msgspec.Struct, frozen=True):
    where: str
    pid: int
    started: int  # clock ticks since boot
    job: str = ""  # the batch job, hashed: a job that is started again is the same one


class LostError(UsageError):
    """The run belongs to another firstlight."""


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


class Claim:
    """A run that this process owns. Its note is kept fresh until it is released, also while a launch or a build runs.

    Leaving the `with` block releases it.
    """

    def __init__(self, run: Folder, me: Owner) -> None:
        self._run, self._me = run, me
        self._over = threading.Event()
        self._heart = threading.Thread(target=self._beat, name="owner", daemon=True)
        self._heart.start()

    def __enter__(self) -> Claim:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()

    def _beat(self) -> None:
        while not self._over.wait(BEAT):
            try:
                self.refresh()
            except LostError:
                return  # the next launch is refused with this
            except OSError:
                continue  # it may come back; the next write reports it

    def refresh(self) -> None:
        """Update the note. Raises LostError if another firstlight took over the run meanwhile, OSError."""
        if _parse(_read(self._run, OWNER)) != self._me:
            path = self._run.path
            raise LostError(f"{path}: another firstlight process has taken over this run, so this process stops")
        self._run.touch(OWNER)

    def stop(self) -> None:
        """Stop updating the note. May be called twice."""
        self._over.set()
        self._heart.join()

    def release(self) -> None:
        """Remove the note if it is still this process's own. Raises OSError: the note stays, and is stale soon."""
        self.stop()
        if _parse(_read(self._run, OWNER)) == self._me:
            self._run.remove(OWNER)


def claim(run: Folder, me: Owner | None = None) -> Claim:
    """Make a run this process's own: of many simultaneous claimants, one succeeds.

    Raises LostError while another firstlight works on it, OSError if the note cannot be written.
    """
    mine = me or myself()
    for _ in range(_MOST_DEAD):
        part = disk.being_written(OWNER)
        try:
            now = _write(run, part, mine)
            _take(run, OWNER, part, mine, now, _MOST_DEAD)
            run.sync()
            return Claim(run, mine)
        except FileNotFoundError:
            continue  # who has the run by now removed what lay about
        finally:
            run.try_to_remove(part)
    raise LostError(f"{run.path}: other processes are claiming this run; try again")


def _write(run: Folder, name: str, note: Owner) -> float:
    """Write a note; return the current time by the clock that dates the other notes as well."""
    with run.create(name) as file:
        file.append(msgspec.json.encode(note))
        file.sync()
        return file.status().st_mtime


def _take(run: Folder, name: str, part: str, me: Owner, now: float, depth: int) -> None:
    """Make the note in `part` the one at `name`, unless the process of the existing note lives.

    The note of a dead process has one successor, whose name is derived from it. The process that has this name, and
    finds the dead note still in its place, may replace it.
    """
    while not _placed(run, name, part, me):
        there = _read(run, name)
        if there is None:
            continue  # released meanwhile
        found = _parse(there)
        if found == me:
            return
        _refuse_the_living(run, name, there, found, me, now)
        if depth == 0:
            raise LostError(f"{run.path}: too many ended processes have claimed this run; remove {run.path / OWNER}")
        successor = f".{OWNER}.{hashlib.sha256(there).hexdigest()[:16]}.part"
        _take(run, successor, part, me, now, depth - 1)
        if _read(run, name) == there:
            run.rename(successor, name)
            return
        run.remove(successor)


def _placed(run: Folder, name: str, part: str, me: Owner) -> bool:
    """Put the note at `name`, as a whole, if nothing is there; return whether it is there now."""
    try:
        run.link(part, name)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        try:
            _write(run, name, me)
        except FileExistsError:
            return False
    return True


def _refuse_the_living(run: Folder, name: str, there: bytes, found: Owner | None, me: Owner, now: float) -> None:
    status = run.status(name)
    age = now - status.st_mtime if status is not None else 0.0
    if found is None:
        if there == b"" and age < BEGINNING:
            raise LostError(f"{run.path}: another firstlight process is starting to work on this run; wait for its end")
        return  # a damaged note protects nothing
    if found.where == me.where:
        if _started(found.pid) == found.started:
            raise LostError(
                f"{run.path}: another firstlight process ({found.pid}) is working on this run; wait for its end or "
                f"stop it"
            )
        return
    requeued = bool(me.job) and found.job == me.job  # after its node failed; what ran there has ended
    if age < FRESH and not requeued:
        when = f"{age:.0f} s ago" if age >= 0 else "(its time stamp is in the future of this file system's clock)"
        raise LostError(
            f"{run.path}: a firstlight process on another machine worked on this run {when}; wait for its end, or "
            f"delete {run.path / OWNER} if the process no longer exists"
        )


def _read(run: Folder, name: str) -> bytes | None:
    """Return a note as it is, None without one; anything that is not a plain file reads as a damaged note."""
    try:
        with run.open(name) as file:
            return file.read(4096)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno not in _NO_FILE:
            raise  # what cannot be read may be the note of one that lives
        return b"?"


def _parse(note: bytes | None) -> Owner | None:
    try:
        return reading.json(note, Owner) if note is not None else None
    except reading.MalformedError:
        return None
