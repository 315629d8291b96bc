"""Account for the time of the tests, by kind and by workload, and list the slowest compilations."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import msgspec

BUILD, LAUNCH, WAIT = "building programs", "launching programs", "waiting for processors"


class Time(msgspec.Struct, frozen=True):
    """Seconds: those that went by, and those of processors, the children's that were waited for included."""

    wall: float = 0.0
    cpu: float = 0.0

    def __add__(self, other: Time) -> Time:
        return Time(self.wall + other.wall, self.cpu + other.cpu)

    def __sub__(self, other: Time) -> Time:
        return Time(self.wall - other.wall, self.cpu - other.cpu)


_elsewhere = 0.0


def now() -> Time:
    return Time(monotonic(), sum(os.times()[:4]) + _elsewhere)


def elsewhere(processors: float) -> None:
    """Return the CPU seconds spent for this process but not below it: by a launch, whose parent is its keeper."""
    global _elsewhere
    _elsewhere += processors


charged: dict[tuple[str, str], Time] = {}
"""Times by (kind, workload), since the worker last reported them."""


def total() -> Time:
    """Return the sum of all charges."""
    return sum(charged.values(), Time())


@contextmanager
def charge(kind: str, workload: str) -> Iterator[None]:
    """Charge the time inside, except what is charged by an inner block."""
    before, start = total(), now()
    try:
        yield
    finally:
        own = now() - start - (total() - before)
        charged[kind, workload] = charged.get((kind, workload), Time()) + own


def take() -> dict[str, Time]:
    """Return all charges as `kind/workload`, and forget them."""
    charges = {f"{kind}/{workload}": time for (kind, workload), time in charged.items()}
    charged.clear()
    return charges


def table(charges: Mapping[str, Time], part: Callable[[str], str], most: int = 24) -> list[str]:
    """Return a line for each part of the names, those with most CPU time first."""
    sums: dict[str, Time] = {}
    for name, time in charges.items():
        of = part(name) or "(no workload)"
        sums[of] = sums.get(of, Time()) + time
    whole = sum(sums.values(), Time())
    order = sorted(sums.items(), key=lambda item: -item[1].cpu)
    rest = sum((time for _, time in order[most:]), Time())
    lines = [(name, time) for name, time in order[:most]] + ([("the rest", rest)] if order[most:] else [])
    return [
        f"{time.cpu:8.1f} CPU s {100 * time.cpu / (whole.cpu or 1.0):5.1f} % {time.wall:8.1f} s  {name}"
        for name, time in lines
    ]


def slowest_compiled(cache: Path, since: float, most: int = 10) -> list[str]:
    """Return a line for each of the slowest compilations since then, from Ninja's logs in the trees of this cache:
    seconds, compiler and MPI library, the program and its source.
    """
    found: list[tuple[float, str]] = []
    for log in cache.glob("build/*/.ninja_log"):
        sanitized = ", sanitized" if "FL_SANITIZE:STRING=address" in (log.parent / "CMakeCache.txt").read_text() else ""
        tree = log.parent.name.rpartition("-")[0] + sanitized
        for line in log.read_text().splitlines()[1:]:  # start and end in ms, start in ns since 1970, file, hash
            start, end, began, made, _ = line.split("\t")
            if made.endswith(".o") and not made.startswith("/") and int(began) >= since * 1e9:
                target = made.removeprefix("CMakeFiles/").partition(".dir/")[0]
                found.append(((int(end) - int(start)) / 1e3, f"{tree}: {target}, {Path(made).name.removesuffix('.o')}"))
    return [f"{seconds:8.1f} s  {what}" for seconds, what in sorted(found, reverse=True)[:most]]
