"""Interrupts: a Ctrl-C during the start of a command waits until the caller can end the command.

Python raises KeyboardInterrupt between any two steps of the main thread, also within Popen after the fork: the caller
would then not know the process that is already running.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


class Held:
    """An interrupt that arrived meanwhile, if one did."""

    def __init__(self) -> None:
        self._pending = False

    def note(self, _number: int, _frame: FrameType | None) -> None:
        self._pending = True

    def deliver(self) -> None:
        """Raise a noted SIGINT again for the handler that is installed now, which usually raises KeyboardInterrupt."""
        if self._pending:
            self._pending = False
            signal.raise_signal(signal.SIGINT)


@contextlib.contextmanager
def held() -> Iterator[Held]:
    """Note SIGINT while the body runs; call `deliver()` afterwards, when the caller can end the command. In threads
    other than the main one, and if Python handles no SIGINT, this has no effect: no KeyboardInterrupt is raised there.
    """
    waiting = Held()
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield waiting
        return
    signal.signal(signal.SIGINT, waiting.note)
    try:
        yield waiting
    finally:
        signal.signal(signal.SIGINT, before)
