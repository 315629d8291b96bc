"""What a process prints, read without ever making it wait, and waiting for its end at most until a deadline."""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import time
from collections.abc import Sequence

_PART = 65536


class Outputs:
    """The bytes of a process's pipes; of each the last `most` are kept, None: all."""

    def __init__(self, process: subprocess.Popen[bytes], most: int | None = None) -> None:
        self._streams = [stream for stream in (process.stdout, process.stderr) if stream is not None]
        self._kept = {stream.fileno(): bytearray() for stream in self._streams}
        self._most = most
        for descriptor in self._kept:
            os.set_blocking(descriptor, False)

    @property
    def descriptors(self) -> Sequence[int]:
        return tuple(self._kept)

    def read(self, descriptor: int) -> bool:
        """Take what is there (at most 64 KiB, so that a flood does not keep the deadline waiting); False at the end."""
        try:
            part = os.read(descriptor, _PART)
        except BlockingIOError:
            return True
        kept = self._kept[descriptor]
        kept += part
        if self._most is not None:
            del kept[: -self._most]
        return bool(part)

    def rest(self) -> list[bytes]:
        """Standard output and standard error as far as they were piped, with what still lies in the pipes.

        Others may hold a pipe open and write on: no more is taken than a pipe can hold.
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


def ended(pid: int, outputs: Outputs, deadline: float | None) -> bool:
    """Read the outputs until the child `pid` ends (True, not yet waited for) or the deadline passes (False).

    `deadline` as time.monotonic tells it; None: there is none.
    """
    with selectors.DefaultSelector() as selector, contextlib.ExitStack() as stack:
        step = None
        try:
            handle = os.pidfd_open(pid)
            stack.callback(os.close, handle)
            selector.register(handle, selectors.EVENT_READ)
        except OSError:  # Linux before 5.3: look every 20 ms instead
            step = 0.02
        for descriptor in outputs.descriptors:
            selector.register(descriptor, selectors.EVENT_READ)
        while not os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return False
            patience = min((one for one in (left, step) if one is not None), default=None)
            for key, _ in selector.select(patience):
                if key.fd in outputs.descriptors and not outputs.read(key.fd):
                    selector.unregister(key.fd)
    return True
