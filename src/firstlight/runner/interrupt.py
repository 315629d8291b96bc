"""Interrupts: Ctrl-C, a batch system or SIGKILL. No process that firstlight started is left behind."""

from __future__ import annotations

import os
import signal
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType

from firstlight.system.process import tree
from firstlight.system.process.guard import watching

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AGAIN = 0.01
"""Seconds until a KeyboardInterrupt is raised again that could not be raised, or that Python dropped."""


@contextmanager
def interruptible(first: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Raise KeyboardInterrupt in the body for SIGTERM (batch systems) and SIGHUP (closed terminals), as for Ctrl-C.

    Python drops exceptions in some places, above all while an object is deleted: there it is raised once more. An
    ignored signal (nohup) stays ignored. `first` is called before KeyboardInterrupt is raised. After a SIGHUP, others
    are ignored for good: kernel and shell both send one, and the report must still be written.
    """

    def stop_now(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            signal.signal(number, signal.SIG_IGN)
        if _drops(frame, dropped.__code__):
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
            return
        first()
        raise KeyboardInterrupt

    def dropped(what: sys.UnraisableHookArgs) -> None:
        if issubclass(what.exc_type, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
        else:
            previous_hook(what)

    previous_hook, sys.unraisablehook = sys.unraisablehook, dropped
    before = {number: signal.getsignal(number) for number in SIGNALS}
    before = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    before[signal.SIGALRM] = signal.getsignal(signal.SIGALRM)
    for number in before:
        signal.signal(number, stop_now)
    try:
        yield
    finally:
        left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = previous_hook
        for number, handler in before.items():
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, handler)
        if left and callable(before[signal.SIGALRM]):  # it is for the interruptible around this one
            signal.setitimer(signal.ITIMER_REAL, left)


def _drops(frame: FrameType | None, hook: CodeType) -> bool:
    """Return whether Python drops what is raised here: while subprocess forks, and in the `hook` for such exceptions.

    Libraries register functions that are called at a fork (logging does). The hook may be interrupted by the signal
    that it sent itself, if the processor is busy for longer than `AGAIN`.
    """
    while frame is not None:
        if frame.f_code.co_name == "_execute_child" or frame.f_code is hook:
            return True
        frame = frame.f_back
    return False


@contextmanager
def leaving_nothing() -> Iterator[None]:
    """End every process that the body starts (compilers, CMake, Ninja, pip) if the body is stopped.

    Threads that wait for such a process see it end immediately. If one starts another process, that ends too.
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
