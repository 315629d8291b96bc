"""Interrupts: a Ctrl-C that comes while a command is being started waits until somebody can end what was started.

Python raises KeyboardInterrupt between any two steps of the main thread, also within Popen after the fork: nobody would
then know the process that is already running.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


class Held:
    """An interrupt that came meanwhile, if one did."""

    def __init__(self) -> None:
        self._pending = False

    def note(self, _number: int, _frame: FrameType | None) -> None:
        self._pending = True

    def deliver(self) -> None:
        """To the handler that is installed now, which as a rule raises KeyboardInterrupt."""
        if self._pending:
            self._pending = False
            signal.raise_signal(signal.SIGINT)


@contextlib.contextmanager
def held() -> Iterator[Held]:
    """Inside, SIGINT is only noted; call `deliver()` afterwards, where what was started is ended. In other threads than
    the main one, and where Python handles no SIGINT, nothing is held: no KeyboardInterrupt comes there.
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
