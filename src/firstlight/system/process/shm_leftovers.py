"""What a killed launch leaves behind: its temporary folder and its shared-memory files.

The folder is made for one launch and is removed with it, whatever it contains. Shared segments (/dev/shm) and files
whose place a library does not let users choose are known by name only. Such a file is removed only if it is this
user's, was made since the launch began, and no living process has it open or mapped or names it. So no file of another
user or of another running job is removed. Jobs in a container that shares /dev/shm but not its processes cannot be
seen: what they share keeps working, because a segment without a name stays with those who have it.
"""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import stat
from typing import NamedTuple

COARSE = 0.05
"""Seconds by which the time of a file may precede that of a clock: file systems use the last tick's time."""


class Leftovers(NamedTuple):
    """Leftovers of one launch: its folder ("": none), patterns of other files of its programs, and its start time.

    `storage`: further folders of the launch, in targets of storage.
    """

    folder: str
    patterns: tuple[str, ...]
    since: float
    storage: tuple[str, ...] = ()

    @property
    def folders(self) -> tuple[str, ...]:
        return ((self.folder,) if self.folder else ()) + tuple(self.storage)


def make(leftovers: Leftovers) -> None:
    """Make the folders, for this user alone. Raises OSError, also if something of such a name is there."""
    for folder in leftovers.folders:
        os.mkdir(folder, 0o700)  # noqa: PTH102


def remove(leftovers: Leftovers) -> list[str]:
    """Remove what is left once no process of the launch lives; return the removed files that were known by name."""
    for folder in leftovers.folders:
        with contextlib.suppress(OSError):
            if _mine(os.lstat(folder), stat.S_IFDIR):
                _clear(folder)
    paths = (path for pattern in leftovers.patterns for path in glob.glob(pattern))  # noqa: PTH207
    found = sorted(path for path in paths if _fresh(path, leftovers.since))
    removed = []
    for path in _without_holder(found):
        with contextlib.suppress(OSError):
            os.unlink(path)  # noqa: PTH108
            removed.append(path)
    return removed


def _clear(folder: str) -> None:
    """Remove a folder, even if its programs withdrew permissions on it or on one below it."""
    os.chmod(folder, 0o700)  # noqa: PTH101
    for above, names, _ in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                if stat.S_ISDIR(os.lstat(f"{above}/{name}").st_mode):
                    os.chmod(f"{above}/{name}", 0o700)  # noqa: PTH101
    shutil.rmtree(folder, ignore_errors=True)


def _mine(facts: os.stat_result, kind: int) -> bool:
    return facts.st_uid == os.geteuid() and stat.S_IFMT(facts.st_mode) == kind


def _fresh(path: str, since: float) -> bool:
    try:
        facts = os.lstat(path)
    except OSError:
        return False
    return _mine(facts, stat.S_IFREG) and facts.st_ctime >= since - COARSE


def _without_holder(paths: list[str]) -> list[str]:
    """Return paths that no process uses. Open files are read before mapped ones: a file is open until it is mapped."""
    if not paths:
        return []
    held: set[str] = set()
    processes = [entry for entry in os.listdir("/proc") if entry.isdigit()]  # noqa: PTH208
    for process in processes:
        with contextlib.suppress(OSError):
            folder = f"/proc/{process}/fd"
            for entry in os.listdir(folder):  # noqa: PTH208
                with contextlib.suppress(OSError):
                    held.add(os.readlink(f"{folder}/{entry}"))  # noqa: PTH115
    for process in processes:
        for what in ("maps", "environ", "cmdline"):
            with contextlib.suppress(OSError), open(f"/proc/{process}/{what}", "rb") as file:  # noqa: PTH123
                text = file.read()
                held |= {path for path in paths if os.fsencode(path) in text}
    return [path for path in paths if path not in held]
