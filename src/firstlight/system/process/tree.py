"""The processes of one launch: find them by their mark, and end them until none is left.

A process belongs to a launch if its environment has FIRSTLIGHT_LAUNCH=<identity>, or if it is in the session that the
launch began. So does every descendant of such a process, and every descendant of the launch's keeper, which adopts
any process that loses its parent (see keeper.py). Launchers create process groups and sessions for their ranks
(hydra: a session for each rank; prterun: a group for each rank), so neither a group nor a session alone is enough.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

MARK = "FIRSTLIGHT_LAUNCH"
GRACE = 1.0
"""Seconds between SIGTERM and SIGKILL: launchers need them to remove their shared memory and session folders."""
PATIENCE = 10.0
"""Seconds of SIGKILL after which a process that is still there is reported: it waits in the kernel."""


class Process(NamedTuple):
    """One line of the process table. `started` in clock ticks since boot."""

    pid: int
    parent: int
    group: int
    session: int
    state: str
    started: int
    name: str


def read(pid: int) -> Process | None:
    """Return the process as /proc shows it now, None if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 (called for every process of the machine)
            stat = file.read()
    except OSError:
        return None
    name, _, rest = stat.partition(b"(")[2].rpartition(b")")  # the name may hold blanks and parentheses
    fields = rest.split()
    parent, group, session, started = (int(fields[i]) for i in (1, 2, 3, 19))
    return Process(pid, parent, group, session, fields[0].decode(), started, name.decode("utf-8", "replace"))


def table() -> dict[int, Process]:
    """Return all processes of the machine by number."""
    found = (read(int(entry)) for entry in os.listdir("/proc") if entry.isdigit())  # noqa: PTH208
    return {process.pid: process for process in found if process is not None}


def marked(pid: int, identity: str) -> bool:
    """Return whether the process started with that launch's mark; False for other users' processes (not readable)."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
            return f"{MARK}={identity}".encode() in file.read().split(b"\0")
    except OSError:
        return False


class Look(NamedTuple):
    """A snapshot of a launch: its living processes, and its ended orphans, which this process has to wait for."""

    alive: dict[int, Process]
    orphans: dict[int, Process]
    shared: frozenset[int] = frozenset()
    """Process groups with a living member that is not of the launch: the user's own script may lead one."""


_NONE: dict[int, Process] = {}


def look(
    identity: str | None,
    root: Process | None = None,
    seen: Mapping[int, Process] = _NONE,
    adopted: bool = False,
    spare: frozenset[int] = frozenset(),
) -> Look:
    """Return the processes of a launch now. `root` is the process firstlight started, None if it is not known.

    A root that has ended but was not waited for keeps its number, so the session it leads cannot be another's.
    `identity` None: no process has a mark. `seen` belonged to the launch at an earlier look and still do, whoever their
    parents are now; their sessions distinguish its ended orphans from other children. `adopted`: all children of this
    process belong to the launch, except for those to `spare` and what descends from them.
    """
    everything, me = table(), os.getpid()
    since = root.started if root else 0
    living = [p for p in everything.values() if p.state not in "ZX"]
    alive = [p for p in living if p.started >= since and p.pid != me]
    found = {p.pid for p in alive if (root and root.pid in (p.pid, p.session)) or _same(p, seen.get(p.pid))}
    if identity is not None:
        found |= {p.pid for p in alive if p.pid not in found and marked(p.pid, identity)}
    if adopted:
        found |= {p.pid for p in alive if p.parent == me}
    found -= spare
    size = -1
    while size != len(found):
        size = len(found)
        found |= {p.pid for p in alive if p.parent in found and p.pid not in spare}
    sessions = {p.session for p in seen.values()}
    known = (sessions | {root.pid} if root else sessions) - {os.getsid(0)}
    orphans = {
        p.pid: p
        for p in everything.values()
        if p.state == "Z"
        and p.parent == me
        and (p.session in known or (adopted and p.pid not in spare))
        and p.started >= since
        and not (root and p.pid == root.pid)
    }
    shared = frozenset(p.group for p in living if p.pid not in found)
    return Look({pid: everything[pid] for pid in found}, orphans, shared)


def _same(process: Process, earlier: Process | None) -> bool:
    return earlier is not None and earlier.started == process.started


def end(
    identity: str | None,
    root: Process | None = None,
    grace: float = GRACE,
    adopted: bool = False,
    spare: frozenset[int] = frozenset(),
) -> tuple[dict[int, Process], list[Process]]:
    """End every process of a launch (see `look`): SIGTERM, `grace` seconds, then SIGKILL until none is left.

    Returns those that were ended, and those that are still there after PATIENCE seconds of SIGKILL. A process may fork
    and end while the table is read, again and again. So groups are killed as a whole (atomic in the kernel) if all
    their living members belong to the launch, or one of the launch leads them. The launch counts as ended when two
    looks in a row find neither a living process nor a new orphan.
    """
    began, quiet, pause = time.monotonic(), 0, 0.005
    seen: dict[int, Process] = {}
    signalled: set[int] = set()
    while True:
        alive, orphans, shared = look(identity, root, seen, adopted, spare)
        seen |= alive
        quiet = 0 if alive or orphans else quiet + 1
        passed = time.monotonic() - began
        if quiet == 2 or (quiet and not seen):
            return seen, []
        if passed > grace + PATIENCE:
            return seen, list(alive.values())
        if passed >= grace:
            _kill({**alive, **orphans}, shared - seen.keys())
        for pid in alive.keys() - signalled if passed < grace else ():
            signalled.add(pid)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGTERM)
        for pid in orphans:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(pause)
        pause = min(pause * 2, 0.05)


def _kill(processes: Mapping[int, Process], shared: AbstractSet[int]) -> None:
    """Send SIGKILL to processes, and to their groups except those that are shared with others.

    A dead process not yet waited for keeps its group's number.
    """
    for group in {p.group for p in processes.values()} - shared - {os.getpgrp(), 0}:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    for pid in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
