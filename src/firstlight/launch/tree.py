"""The processes of one launch: found by their mark, and ended until none is left.

Only the standard library is used, because this file also runs alone, as the guard: `python -I -S tree.py` reads
"+ identity" and "- identity" lines from its standard input; when that input ends without a "-" for an identity, the
firstlight that wrote them is dead (kill -9, out of memory) and every process of that launch is ended.

A process belongs to a launch when its environment carries FIRSTLIGHT_LAUNCH=<identity>, when it is in the session that
the launch began, or when one of its ancestors does. Launchers give their ranks process groups and sessions of their own
(hydra: a session for each rank; prterun: a group for each rank), so neither a group nor a session alone is enough.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from typing import BinaryIO, NamedTuple

MARK = "FIRSTLIGHT_LAUNCH"
GRACE = 1.0
"""Seconds between SIGTERM and SIGKILL: launchers need them to remove their shared memory and session folders."""
PATIENCE = 10.0
"""Seconds of SIGKILL after which a process that is still there is reported: it waits in the kernel."""


class Process(NamedTuple):
    """One line of the process table. `started` in clock ticks since boot."""

    pid: int
    parent: int
    session: int
    state: str
    started: int
    name: str


def read(pid: int) -> Process | None:
    """The process as /proc shows it now, None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 (called for every process of the machine)
            stat = file.read()
    except OSError:
        return None
    name, _, rest = stat.partition(b"(")[2].rpartition(b")")  # the name may hold blanks and parentheses
    fields = rest.split()
    return Process(
        pid, int(fields[1]), int(fields[3]), fields[0].decode(), int(fields[19]), name.decode("utf-8", "replace")
    )


def table() -> dict[int, Process]:
    """All processes of the machine by number."""
    found = (read(int(entry)) for entry in os.listdir("/proc") if entry.isdigit())  # noqa: PTH208
    return {process.pid: process for process in found if process is not None}


def marked(pid: int, identity: str) -> bool:
    """Whether the process was started with the mark of that launch. Processes of other users cannot be read: no."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
            return f"{MARK}={identity}".encode() in file.read().split(b"\0")
    except OSError:
        return False


def members(identity: str, root: Process | None = None) -> dict[int, Process]:
    """The living processes of a launch. `root` is the process firstlight started, None when it is not known.

    A root that has ended but was not waited for still holds its number, so the session it leads cannot be another's.
    """
    everything = table()
    since = root.started if root else 0
    alive = [p for p in everything.values() if p.state not in "ZX" and p.started >= since and p.pid != os.getpid()]
    found = {p.pid for p in alive if (root and root.pid in (p.pid, p.session)) or marked(p.pid, identity)}
    size = -1
    while size != len(found):
        size = len(found)
        found |= {p.pid for p in alive if p.parent in found}
    return {pid: everything[pid] for pid in found}


def end(identity: str, root: Process | None = None, grace: float = GRACE) -> tuple[dict[int, Process], list[Process]]:
    """End every process of a launch: SIGTERM, `grace` seconds, then SIGKILL until none is left.

    Returns those that were ended, and those that are still there after PATIENCE seconds of SIGKILL. The table is read
    twice without a find before the launch counts as ended: a process may have forked while the table was read.
    """
    began, empty, pause = time.monotonic(), 0, 0.005
    seen: dict[int, Process] = {}
    told: set[int] = set()
    while True:
        now = members(identity, root)
        seen |= now
        empty = 0 if now else empty + 1
        passed = time.monotonic() - began
        if empty == 2 or (not seen and empty):
            return seen, []
        if passed > grace + PATIENCE:
            return seen, list(now.values())
        number = signal.SIGTERM if passed < grace else signal.SIGKILL
        for pid in now:
            if number == signal.SIGKILL or pid not in told:
                told.add(pid)
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        time.sleep(pause)
        pause = min(pause * 2, 0.05)


def reap(pids: set[int]) -> None:
    """Wait for those of the ended processes that the kernel gave to this process when their parent died."""
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def guard(orders: BinaryIO) -> None:
    """Read orders until they end; then end the launches that were not called off."""
    watched: dict[str, None] = {}
    for order in orders:
        sign, _, identity = order.decode().strip().partition(" ")
        if sign == "+":
            watched[identity] = None
        else:
            watched.pop(identity, None)
    for identity in watched:
        deadline = time.monotonic() + 0.3
        while time.monotonic() < deadline:  # firstlight may have died between fork and exec: look again for a while
            end(identity)
            time.sleep(0.05)


if __name__ == "__main__":
    print("watching", flush=True)
    guard(sys.stdin.buffer)
