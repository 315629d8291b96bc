"""The disk: every file operation of the store is here, relative to an open folder.

A name is looked up in the folder that was opened, even if its path leads elsewhere by now, and no link is ever
followed. A file is created only if there is none. Tests inject their faults here.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
from pathlib import Path
from types import TracebackType
from typing import Self

PLAIN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""Flags to open a name that may be anything: a link is not followed, and a pipe is not waited for."""


class Held:
    """An open descriptor that is closed at the end of its `with`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the descriptor. May be called twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class File(Held):
    """An open file. Its inode number is not reused while it is open, so no other file can be mistaken for it."""

    def status(self) -> os.stat_result:
        return os.fstat(self._descriptor)

    def read(self, bound: int) -> bytes:
        """Return at most `bound` bytes from the beginning. Raises OSError."""
        parts: list[bytes] = []
        left = bound
        while left > 0 and (part := os.pread(self._descriptor, min(left, 1 << 20), bound - left)):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def append(self, data: bytes) -> None:
        """Append `data`. Raises OSError; part of `data` may be written then."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]

    def cut(self, size: int) -> None:
        """Keep only the first `size` bytes. Raises OSError."""
        os.ftruncate(self._descriptor, size)

    def permit(self, mode: int) -> None:
        """Set the permissions of `mode` again. Raises OSError."""
        os.fchmod(self._descriptor, stat.S_IMODE(mode))

    def sync(self) -> None:
        """Wait until the content is on the disk. Raises OSError."""
        os.fsync(self._descriptor)


class Folder(Held):
    """A folder that stays open; `path` is for messages, and for programs that need a path."""

    def __init__(self, path: Path, descriptor: int) -> None:
        super().__init__(descriptor)
        self.path = path

    @staticmethod
    def at(path: Path) -> Folder:
        """Return the folder that a user named: here, and only here, links are followed. Raises OSError."""
        return Folder(path, os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))

    def folder(self, name: str) -> Folder:
        """Return a folder in it. Raises OSError, NotADirectoryError for a link too."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        return Folder(self.path / name, os.open(name, flags, dir_fd=self._descriptor))

    def make(self, name: str) -> None:
        """Make a folder in it that others cannot write. Raises OSError, FileExistsError for whatever is there."""
        os.mkdir(name, 0o755, dir_fd=self._descriptor)

    def create(self, name: str) -> File:
        """Create a new file. Raises OSError, FileExistsError for whatever is there."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | PLAIN
        return File(os.open(name, flags, 0o644, dir_fd=self._descriptor))

    def open(self, name: str, *, append: bool = False) -> File:
        """Open what is there, to read, or to read and append. It need not be a plain file. Raises OSError."""
        flags = os.O_RDWR | os.O_APPEND if append else os.O_RDONLY
        return File(os.open(name, flags | PLAIN, dir_fd=self._descriptor))

    def status(self, name: str | None = None) -> os.stat_result | None:
        """Return the status of that name (no link is followed), None if missing; without a name, of the folder."""
        if name is None:
            return os.fstat(self._descriptor)
        try:
            return os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def is_plain(self, name: str) -> bool:
        status = self.status(name)
        return status is not None and stat.S_ISREG(status.st_mode)

    def names(self, most: int) -> list[str]:
        """Return the names in it, at most `most` + 1. Raises OSError."""
        found: list[str] = []
        with os.scandir(self._descriptor) as entries:
            for entry in entries:
                found.append(entry.name)
                if len(found) > most:
                    break
        return found

    def free(self) -> int:
        """Return the bytes that may still be written here. Raises OSError."""
        state = os.statvfs(self._descriptor)
        return state.f_bavail * state.f_frsize

    def rename(self, old: str, new: str) -> None:
        """Rename, also over an existing `new`. Raises OSError."""
        os.rename(old, new, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def link(self, old: str, new: str) -> None:
        """Give a file a second name. Raises OSError, FileExistsError for whatever is there."""
        held = self._descriptor
        os.link(old, new, src_dir_fd=held, dst_dir_fd=held, follow_symlinks=False)

    def touch(self, name: str) -> None:
        """Set the time of a file to now, by the clock of its file system. Raises OSError."""
        os.utime(name, dir_fd=self._descriptor, follow_symlinks=False)

    def remove(self, name: str) -> None:
        """Remove whatever is there, if anything, and a folder with all that is in it. Raises OSError."""
        try:
            os.unlink(name, dir_fd=self._descriptor)
        except FileNotFoundError:
            pass
        except OSError as error:
            if error.errno not in (errno.EISDIR, errno.EPERM):  # POSIX specifies EPERM for a folder
                raise
            found = self.status(name)
            if found is None or not stat.S_ISDIR(found.st_mode):
                raise
            shutil.rmtree(name, dir_fd=self._descriptor)

    def try_to_remove(self, name: str) -> None:
        """Free space after an error that is reported anyway; a failure here is ignored."""
        with contextlib.suppress(OSError):
            self.remove(name)

    def sync(self) -> None:
        """Wait until the names in it are on the disk. Raises OSError."""
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            if error.errno != errno.EINVAL:  # some network file systems have no fsync of a folder
                raise

    def replace(self, name: str, data: bytes) -> None:
        """Write a whole file, durably: another reader sees the old content or the new one. Raises OSError."""
        part = being_written(name)
        try:
            with self.create(part) as file:
                file.append(data)
                file.sync()
            self.rename(part, name)
        except BaseException:
            self.try_to_remove(part)
            raise
        self.sync()


def being_written(name: str) -> str:
    """Return a unique name for what will be called `name`, so that two writers do not collide."""
    return f".{name}.{secrets.token_hex(4)}.part"


def same(one: os.stat_result, other: os.stat_result) -> bool:
    """Return whether both are one file."""
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)


def read(path: Path, bound: int) -> bytes | None:
    """Return the first `bound` bytes of a plain file, None for anything else that can be opened. Raises OSError."""
    with File(os.open(path, os.O_RDONLY | PLAIN)) as file:
        return file.read(bound) if stat.S_ISREG(file.status().st_mode) else None


def make_folders(path: Path) -> None:
    """Make a folder and those above it that are missing, durably. Raises OSError."""
    missing = [p for p in (path, *path.parents) if not p.exists()]
    for folder in reversed(missing):
        with Folder.at(folder.parent) as parent:
            with contextlib.suppress(FileExistsError):  # another process made it just now
                os.mkdir(folder.name, dir_fd=parent._descriptor)
            parent.sync()
