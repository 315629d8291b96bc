"""Keep the standard streams open, and let no failed write to stderr end a command.

During hours of measuring, a terminal may close, the disk of a log may be full, or the reader of a pipe may end. Then
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
    """Write to a descriptor; an error contains the name of the stream."""

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
    """Drop what the descriptor does not accept."""

    def write(self, data: ReadableBuffer, /) -> int:
        with contextlib.suppress(OSError):
            return super().write(data)
        return memoryview(data).nbytes


def prepare() -> None:
    """Open streams that the caller closed (`>&-`), lest a file of ours become a child's stream; make stderr heedless.

    Characters that the user's encoding lacks are written as escapes, and so are names of files that are not text.
    """
    for descriptor, name, mode in _FIRST:
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, mode)  # gets the lowest number that is free: this one
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(descriptor, "r" if mode == os.O_RDONLY else "w", closefd=False))
    sys.stdout = _text(_Stream(1, "standard output"), sys.stdout, each=sys.stdout.isatty())
    sys.stderr = _text(_Heedless(2, "standard error"), sys.stderr, each=True)


def _text(raw: _Stream, before: TextIO, each: bool) -> TextIO:
    """Return a text stream for `raw`, with the encoding of `before`. `each`: every line is written immediately."""
    buffer = io.BufferedWriter(raw)
    return io.TextIOWrapper(buffer, before.encoding, "backslashreplace", line_buffering=each, write_through=each)


def settle() -> OSError | None:
    """Flush stdout. If that fails, drop the rest of its output and return the error.

    Otherwise Python would flush again at its end, and a failure would set an exit status of its own.
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
    """Write output that is also stored elsewhere. Return an error of stdout instead of raising it."""
    try:
        write()
        sys.stdout.flush()
    except OSError as error:
        settle()
        return error
    return None
