"""Simulate a disk with faults: replace `os` in firstlight.results.store.disk, count the file operations, and fail the
n-th.

As in the tests of SQLite an error comes once, or it stays; a process is stopped before an operation or in the middle of
a write; and at a power cut there is only what was brought to the disk, while of what was done since any part may be
there. A name is on the disk when its folder was synced, content when the file was.
"""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

COUNTED = {
    "open", "mkdir", "unlink", "rename", "link", "stat", "fstat", "write", "pread", "ftruncate", "fchmod", "fsync",
    "scandir", "statvfs", "utime",
}  # fmt: skip
TAKING = {"open", "mkdir", "link", "rename", "write", "fsync"}
"""A full disk refuses these; `open` only if it creates a file."""


class Killed(BaseException):
    """Report that the process was killed: it does nothing more."""


Fault = Callable[["Faulty", str, Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]


class Faulty:
    """Execute operations; from the `at`-th on, `fault` decides whether they are executed."""

    def __init__(self, at: int = 0, fault: Fault | None = None, disk: Remembered | None = None) -> None:
        self.at, self.fault, self.disk = at, fault, disk
        self.count = 0
        self.done: list[str] = []
        self.struck = False

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in COUNTED:
            return real

        def operation(*words: Any, **options: Any) -> Any:
            self.count += 1
            self.done.append(name)
            if self.fault is not None and self.count >= self.at:
                return self.fault(self, name, real, words, options)
            return self.carry_out(name, real, words, options)

        return operation

    def carry_out(self, name: str, real: Callable[..., Any], words: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Execute it, without waiting for a real disk."""
        if self.disk is None:
            return None if name == "fsync" else real(*words, **options)
        return self.disk.take(name, real, words, options)


# --- faults -----------------------------------------------------------------------------------------------------------


def error(number: int, *, stays: bool) -> Fault:
    def fault(
        faulty: Faulty, name: str, real: Callable[..., Any], words: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        takes = name in TAKING and (name != "open" or words[1] & os.O_CREAT)
        if (faulty.struck and not stays) or (number == errno.ENOSPC and not takes):
            return faulty.carry_out(name, real, words, options)
        faulty.struck = True
        raise OSError(number, os.strerror(number))

    return fault


def full_while_writing(
    faulty: Faulty, name: str, real: Callable[..., Any], words: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Half of it is still written, then the disk is full."""
    if name != "write":
        return faulty.carry_out(name, real, words, options)
    if faulty.struck:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    faulty.struck = True
    return faulty.carry_out(name, real, (words[0], words[1][: len(words[1]) // 2]), options)


def interrupt(*, after: bool) -> Fault:
    def fault(
        faulty: Faulty, name: str, real: Callable[..., Any], words: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        if faulty.struck:
            return faulty.carry_out(name, real, words, options)
        faulty.struck = True
        result = faulty.carry_out(name, real, words, options) if after else None
        if name == "open" and after:
            os.close(result)  # Python raises before the caller has the number; the process ends and closes it
        raise KeyboardInterrupt

    return fault


def kill(faulty: Faulty, name: str, real: Callable[..., Any], words: tuple[Any, ...], options: dict[str, Any]) -> Any:
    if name == "write" and not faulty.struck:
        faulty.carry_out(name, real, (words[0], words[1][: len(words[1]) // 2]), options)
    faulty.struck = True
    raise Killed


# --- what a power cut leaves ------------------------------------------------------------------------------------------


class Remembered:
    """List the names and contents below `root` that are on the disk, and the changes of names that are not yet."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._fresh = itertools.count(1)
        self._known = {root.stat().st_ino: 0}  # by inode: our own number, for inodes are given away again
        self._names: dict[int, dict[str, int]] = {0: {}}  # of folders, as on the disk
        self._data: dict[int, bytes] = {}  # of files, as on the disk
        self._pending: list[list[tuple[int, str, int | None]]] = []  # each immediately or not at all

    def take(self, name: str, real: Callable[..., Any], words: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if name == "fsync":
            return self._sync(words[0])
        before = self._number(words[0], options.get("dir_fd", options.get("src_dir_fd"))) if name != "write" else None
        result = real(*words, **options)
        folder = options.get("dir_fd", options.get("src_dir_fd"))
        if name == "mkdir" or (name == "open" and words[1] & os.O_CREAT):
            status = os.stat(words[0], dir_fd=folder, follow_symlinks=False)
            own = self._known[status.st_ino] = next(self._fresh)
            if name == "mkdir":
                self._names[own] = {}
            else:
                self._data[own] = b""
            self._pending.append([(self._folder(folder), words[0], own)])
        elif name == "unlink":
            self._pending.append([(self._folder(folder), words[0], None)])
        elif name == "link":
            self._pending.append([(self._folder(folder), words[1], before)])
        elif name == "rename":
            place = self._folder(folder)
            self._pending.append([(place, words[0], None), (place, words[1], before)])
        return result

    def _number(self, name: Any, folder: int | None) -> int | None:
        if not isinstance(name, str) or folder is None:
            return None
        try:
            return self._known.get(os.stat(name, dir_fd=folder, follow_symlinks=False).st_ino)
        except OSError:
            return None

    def _folder(self, descriptor: int | None) -> int:
        assert descriptor is not None
        return self._known[os.fstat(descriptor).st_ino]

    def _sync(self, descriptor: int) -> None:
        own = self._known[os.fstat(descriptor).st_ino]
        if own not in self._names:
            self._data[own] = Path(f"/proc/self/fd/{descriptor}").read_bytes()
            return
        ours = [change for change in self._pending if change[0][0] == own]
        for change in ours:
            _apply(self._names, change)
        self._pending = [change for change in self._pending if change not in ours]

    def cuts(self) -> Iterator[dict[str, bytes | None]]:
        """Yield every state in which a power cut may leave the tree: content by path, None for a folder.

        Changes of names since the last sync may be there in part; content is there as a whole or not at all.
        """
        now = {self._known[p.stat().st_ino]: p.read_bytes() for p in self._root.rglob("*") if p.is_file()}
        for some in itertools.chain.from_iterable(
            itertools.combinations(self._pending, n) for n in range(len(self._pending) + 1)
        ):
            names = {folder: dict(entries) for folder, entries in self._names.items()}
            for change in some:
                _apply(names, change)
            for data in (self._data, {**self._data, **now}):
                yield dict(self._tree(names, data, 0, ""))

    def _tree(
        self, names: dict[int, dict[str, int]], data: dict[int, bytes], folder: int, at: str
    ) -> Iterator[tuple[str, bytes | None]]:
        for name, own in sorted(names[folder].items()):
            if own in names:
                yield f"{at}{name}", None
                yield from self._tree(names, data, own, f"{at}{name}/")
            else:
                yield f"{at}{name}", data[own]


def _apply(names: dict[int, dict[str, int]], change: list[tuple[int, str, int | None]]) -> None:
    for folder, name, own in change:
        if own is None:
            names[folder].pop(name, None)
        else:
            names[folder][name] = own


def build(root: Path, tree: dict[str, bytes | None]) -> None:
    """Make a tree as `cuts` describes it, in an empty folder."""
    root.mkdir()
    for name, data in tree.items():
        if data is None:
            (root / name).mkdir()
        else:
            (root / name).write_bytes(data)
