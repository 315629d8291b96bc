"""Decide which tests may run at the same time if several workers (pytest-xdist) share them.

A test marked `alone` runs while no other does: it measures, or kills what is late. Processes that work together take
as many tokens as they occupy processors: two parties on the same ones would wait for each other's time slices, unless
they give way.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout

import spent
from firstlight import ROOT

T = TypeVar("T")
WORKERS = 6
"""This many at most, also on larger machines: the builds and the parallel programs among the tests use several
processors themselves.
"""

ROOM = 1.5e9
"""Bytes of memory a worker, for the two compilers of its build: where there is less, fewer share the tests."""

PATIENCE = 900
"""Seconds for what may have to wait for other tests: for their builds in the same tree, or for processors."""

FOLDER = Path(os.environ.get("FIRSTLIGHT_CACHE", ROOT / ".fl"))
CPUS = len(os.sched_getaffinity(0))


def workers() -> int:
    """Return how many workers share the tests on this machine: four more than processors if memory allows, because they
    wait half of their time (for hangs, processors, builds and launches).
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(WORKERS, CPUS + 4, int(memory / ROOM)))


def await_(condition: Callable[[], object], what: str) -> None:
    """Wait until the condition is true."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.02)


def cut_short(attempt: Callable[[float], T], begun: Callable[[T], object]) -> T:
    """Return the result of `attempt` with a time-out in seconds that it must exceed after it has begun. If a second is
    too short on a busy machine, a longer time-out follows.
    """
    for timeout in (1, 8, 64):
        found = attempt(timeout)
        if begun(found):
            return found
    raise AssertionError("had not begun after 64 s")


@contextmanager
def turn(alone: bool) -> Iterator[None]:
    """Reserve the right to run a test: the worker's place in the room, or all places.

    Who waits for all others to end holds the gate meanwhile, so that nobody overtakes.
    """
    own = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    count = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    with ExitStack() as room:
        with _lock("gate"):
            for place in range(count) if alone else [own]:
                room.enter_context(_lock(f"place.{place}"))
        yield


@contextmanager
def party(size: int, yielding: bool = False) -> Iterator[None]:
    """Reserve the right to start `size` processes or threads that wait for one another: a token each, at most all there
    are.

    If they give way while they wait (`yielding`), two parties may share processors: half as many tokens.
    """
    with ExitStack() as tokens:
        if size > 1:
            wanted = min(size, CPUS)
            with (
                spent.charge(spent.WAIT, ""),
                _lock("tokens"),
            ):  # one test at a time collects tokens: no test waits for the tokens of another
                _collect(tokens, (wanted + 1) // 2 if yielding else wanted)
        yield


def _collect(tokens: ExitStack, left: int) -> None:
    while left > 0:
        for number in range(CPUS):
            if left > 0 and _taken(tokens, f"token.{number}"):
                left -= 1
        if left > 0:
            time.sleep(0.01)


def _taken(tokens: ExitStack, name: str) -> bool:
    try:
        tokens.enter_context(_lock(name, blocking=False))
    except Timeout:
        return False
    return True


def _lock(name: str, blocking: bool = True) -> AbstractContextManager[object]:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return nullcontext()
    FOLDER.mkdir(parents=True, exist_ok=True)
    return FileLock(FOLDER / f"tests.{name}", poll_interval=0.01).acquire(blocking=blocking)
