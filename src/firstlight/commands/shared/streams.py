"""The standard streams: there in any case, and what goes to stderr is never the reason why a command ends.

A terminal may be closed, a log's disk be full, a reader of a pipe go away while hours of measuring are under way. Then
progress messages, which go to stderr, are dropped; results go to stdout, where a loss is reported as an error.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_FIRST = ((0, "stdin", os.O_RDONLY), (1, "stdout", os.O_WRONLY), (2, "stderr", os.O_WRONLY))


class _Stream(io.RawIOBase):
    """Writes to a descriptor; an error bears a name."""

    def __init__(self, descriptor: int, name: str) -> None:
        self._descriptor, self._name = descriptor, name

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def write(self, data: ReadableBuffer, /) -> int:
        left = whole = memoryview(data)
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError as error:
            raise OSError(error.errno, error.strerror, self._name) from error
        return whole.nbytes


class _Heedless(_Stream):
    """Drops what the descriptor does not take."""

    def write(self, data: ReadableBuffer, /) -> int:
        with contextlib.suppress(OSError):
            return super().write(data)
        return memoryview(data).nbytes


def prepare() -> None:
    """Open what the caller closed (`>&-`), lest a file of ours become the stream of a child; make stderr heedless.

    Characters that the user's encoding lacks are written as escapes, and so are names of files that are no text.
    """
    for descriptor, name, mode in _FIRST:
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, mode)  # takes the lowest number that is free: this one
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(descriptor, "r" if mode == os.O_RDONLY else "w", closefd=False))
    sys.stdout = _text(_Stream(1, "standard output"), sys.stdout, each=sys.stdout.isatty())
    sys.stderr = _text(_Heedless(2, "standard error"), sys.stderr, each=True)


def _text(raw: _Stream, before: TextIO, each: bool) -> TextIO:
    """`each`: every line is written at once."""
    buffer = io.BufferedWriter(raw)
    return io.TextIOWrapper(buffer, before.encoding, "backslashreplace", line_buffering=each, write_through=each)


def settle() -> OSError | None:
    """Write what stdout still holds; the error where it takes nothing more, and what it held is dropped then.

    Without that Python would try once more at its end, and make of the failure an exit status of its own.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, sys.stdout.fileno())
        os.close(sink)
        sys.stdout.flush()
        return error
    return None


def show(write: Callable[[], None]) -> OSError | None:
    """Write what is stored elsewhere, too; the error of a stdout that does not take it, which ends nothing."""
    try:
        write()
        sys.stdout.flush()
    except OSError as error:
        settle()
        return error
    return None
