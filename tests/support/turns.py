"""Turns: which tests may run at the same time where several workers (pytest-xdist) share them.

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
"""At most so many, also on larger machines: the builds and the parties among the tests are parallel themselves."""

ROOM = 1.5e9
"""Bytes of memory a worker, for the two compilers of its build: where there is less, fewer share the tests."""

PATIENCE = 900
"""Seconds for what may have to wait for other tests: for their builds in the same tree, or for processors."""

FOLDER = Path(os.environ.get("FIRSTLIGHT_CACHE", ROOT / ".fl"))
CPUS = len(os.sched_getaffinity(0))


def workers() -> int:
    """How many workers share the tests on this machine: four more than processors where memory allows, for half their
    time they wait (for what is to hang, for a party's processors, for another's build, for a launch to begin)."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(WORKERS, CPUS + 4, int(memory / ROOM)))


def await_(condition: Callable[[], object], what: str) -> None:
    """Until it holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.02)


def cut_short(attempt: Callable[[float], T], begun: Callable[[T], object]) -> T:
    """What `attempt` gives with a time-out, in seconds, that it shall meet, but not before it has begun: where a second
    is not enough for that, on a busy machine, a longer one is tried."""
    for timeout in (1, 8, 64):
        found = attempt(timeout)
        if begun(found):
            return found
    raise AssertionError("had not begun after 64 s")


@contextmanager
def turn(alone: bool) -> Iterator[None]:
    """The right to run a test: the worker's place in the room, or all places.

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
    """The right to start `size` processes or threads that wait for one another: a token each, at most all there are.

    If they give way while they wait (`yielding`), two parties may share processors: half as many tokens.
    """
    with ExitStack() as tokens:
        if size > 1:
            wanted = min(size, CPUS)
            with (
                spent.charge(spent.WAIT, ""),
                _lock("tokens"),
            ):  # one at a time collects: nobody waits for another's rest
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
