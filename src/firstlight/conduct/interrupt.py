"""Being stopped: by Ctrl-C, by a batch system, or with SIGKILL. Nothing that firstlight started is left behind."""

from __future__ import annotations

import os
import signal
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from firstlight.launch import tree
from firstlight.launch.guard import watching

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interruptible(first: Callable[[], None] = lambda: None) -> Iterator[None]:
    """A batch system ends jobs with SIGTERM, a closed terminal with SIGHUP: both are treated like Ctrl-C.

    A signal that is ignored (nohup) stays ignored. `first` is called before KeyboardInterrupt is raised.
    """

    def stop_now(number: int, frame: FrameType | None) -> None:
        first()
        raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in SIGNALS}
    before = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    for number in before:
        signal.signal(number, stop_now)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def leaving_nothing() -> Iterator[None]:
    """While the body runs, whatever it starts (compilers, CMake, Ninja, pip) ends with it when it is stopped.

    Threads that wait for such a process see it end at once, and one that starts another sees that one end too.
    """
    identity, over = f"prepare-{uuid.uuid4().hex}", threading.Event()

    def end_all() -> None:
        while not over.is_set():
            tree.end(identity)
            over.wait(0.05)

    with watching(identity), interruptible(lambda: threading.Thread(target=end_all, daemon=True).start()):
        os.environ[tree.MARK] = identity
        try:
            yield
        except BaseException:
            tree.end(identity)
            raise
        finally:
            over.set()
            del os.environ[tree.MARK]
