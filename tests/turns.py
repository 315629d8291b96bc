"""Turns: which tests may run at the same time where several workers (pytest-xdist) share them.

A test marked `alone` runs while no other does: it measures, or kills what is late. And processes that work together
are started one party at a time: two parties on the same processors wait for each other's time slices.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from firstlight import ROOT

WORKERS = 4
"""At most so many, also on larger machines: the builds and the parties among the tests are parallel themselves."""

PATIENCE = 900
"""Seconds for what may have to wait for other tests: for their builds in the same tree, or for processors."""

FOLDER = Path(os.environ.get("FIRSTLIGHT_CACHE", ROOT / ".fl"))


def workers() -> int:
    """How many workers share the tests on this machine: one more than processors, for many of them wait."""
    return min(WORKERS, len(os.sched_getaffinity(0)) + 1)


@contextlib.contextmanager
def turn(alone: bool) -> Iterator[None]:
    """The right to run a test. Who waits for all others to end holds the gate meanwhile, so that nobody overtakes."""
    with contextlib.ExitStack() as room:
        with _locked("gate", fcntl.LOCK_EX):
            room.enter_context(_locked("room", fcntl.LOCK_EX if alone else fcntl.LOCK_SH))
        yield


@contextlib.contextmanager
def party(size: int) -> Iterator[None]:
    """The right to start `size` processes or threads that wait for one another."""
    with _locked("party", fcntl.LOCK_EX) if size > 1 else contextlib.nullcontext():
        yield


@contextlib.contextmanager
def _locked(name: str, how: int) -> Iterator[None]:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / f"tests.{name}").open("w") as file:
        fcntl.flock(file, how)
        yield
