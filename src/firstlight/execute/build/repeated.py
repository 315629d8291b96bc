"""Repeated: call a function at intervals while something else lasts."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def repeated(report: Callable[[], None], seconds: float) -> Iterator[None]:
    """Call `report` in a thread, every so many seconds, until the body ends."""
    over = threading.Event()

    def repeat() -> None:
        while not over.wait(seconds):
            report()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
