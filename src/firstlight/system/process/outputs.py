"""Outputs: read what a process prints without blocking it, and wait for its end at most until a deadline."""

from __future__ import annotations

import contextlib
import os
import selectors
import time
from collections.abc import Callable, Sequence
from typing import IO, Protocol

_PART = 65536


class HasFileno(Protocol):
    def fileno(self) -> int: ...


class Outputs:
    """The bytes of pipes that a process writes to; the last `most` bytes of each are kept, None: all.

    `overflowed`: some pipe had more.
    """

    def __init__(self, streams: Sequence[IO[bytes]], most: int | None = None) -> None:
        self._streams = streams
        self._kept = {stream.fileno(): bytearray() for stream in self._streams}
        self._most = most
        self.overflowed = False
        for descriptor in self._kept:
            os.set_blocking(descriptor, False)

    @property
    def descriptors(self) -> Sequence[int]:
        return tuple(self._kept)

    def read(self, descriptor: int) -> bool:
        """Read what is there (at most 64 KiB, so that a flood does not delay the deadline); return False at the end."""
        try:
            part = os.read(descriptor, _PART)
        except BlockingIOError:
            return True
        kept = self._kept[descriptor]
        kept += part
        if self._most is not None and len(kept) > self._most:
            self.overflowed = True
            del kept[: -self._most]
        return bool(part)

    def rest(self) -> list[bytes]:
        """Return the output of each pipe, with what is still in it, and close the pipes.

        Other processes may keep a pipe open and write on: at most what a pipe can contain is still read.
        """
        for descriptor in self._kept:
            for _ in range(64):
                if not self.read(descriptor):
                    break
        self.close()
        return [bytes(kept) for kept in self._kept.values()]

    def close(self) -> None:
        for stream in self._streams:
            stream.close()


def until(
    done: Callable[[], bool],
    pid: int | None,
    others: Sequence[HasFileno],
    enough: Callable[[], bool] = lambda: False,
    outputs: Outputs | None = None,
    deadline: float | None = None,
) -> bool:
    """Wait until `done` (True), or until `enough` or the deadline (False); meanwhile read the outputs.

    `done` and `enough` are called when the process `pid` ends, when one of `others` can be read, and after every part
    of the outputs. `deadline` is a time of time.monotonic, None for none.
    """
    reads = outputs.descriptors if outputs is not None else ()
    with selectors.DefaultSelector() as selector, contextlib.ExitStack() as stack:
        step = None
        if pid is not None:
            try:
                handle = os.pidfd_open(pid)
                stack.callback(os.close, handle)
                selector.register(handle, selectors.EVENT_READ)
            except OSError:  # Linux before 5.3: look every 20 ms instead
                step = 0.02
        for other in others:
            selector.register(other.fileno(), selectors.EVENT_READ)
        for descriptor in reads:
            selector.register(descriptor, selectors.EVENT_READ)
        while not done():
            left = None if deadline is None else deadline - time.monotonic()
            if (left is not None and left <= 0) or enough():
                return False
            patience = min((one for one in (left, step) if one is not None), default=None)
            for key, _ in selector.select(patience):
                if outputs is not None and key.fd in reads and not outputs.read(key.fd):
                    selector.unregister(key.fd)
    return True


def ended(pid: int) -> bool:
    """Return whether the child has ended, without waiting for it."""
    return bool(os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT))
