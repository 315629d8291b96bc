"""Energy: the counters and gauges of this node that its user may read; one source per file.

A *counter* is a file with a whole number that grows with the energy that was used. Programs read it themselves,
directly before and after their samples. A *gauge* returns the present power. The launcher reads it while a program
runs. Of several sources the one with the least `PLACE` is used: sources overlap, so their energies are not added.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Annotated, Literal, NamedTuple, Protocol

import msgspec

from firstlight.core.units import MOST_SECONDS

MOST_COUNTERS = 16
"""Maximum number of counters of a node: as in the harness."""
FEWEST_UPDATES = 10
"""A span of fewer updates of its counters has no energy."""
NOTHING = "no energy counter is visible"

Positive = Annotated[float, msgspec.Meta(gt=0, le=1e18)]
Seconds = Annotated[float, msgspec.Meta(gt=0, le=MOST_SECONDS)]


class Counter(msgspec.Struct, frozen=True):
    """One counter: `joules` per unit. After `range` units, the counter begins at 0 again; 0: never."""

    name: str
    joules: Positive
    range: Annotated[int, msgspec.Meta(ge=0, le=1 << 62)] = 0


class Meter(msgspec.Struct, frozen=True):
    """The source of energy readings: `powercap`, `2 packages and memory`. `update`: seconds between two updates.

    A meter without `counters` is a power gauge, which the launcher reads. `part` is the part of a node that the meter
    covers: programs that compute elsewhere on the node have no energy.
    """

    source: str
    covers: str
    update: Seconds
    counters: Annotated[tuple[Counter, ...], msgspec.Meta(max_length=MOST_COUNTERS)] = ()
    part: Literal["node", "processors", "devices"] = "node"


class Energy(msgspec.Struct, frozen=True):
    """The energy meter of a run, and the power of the idle node in watts before its first launch.

    Without a meter, `why` is the reason and the remedy, in one line. `idle` is None if it was not measured.
    """

    meter: Meter | None = None
    idle: Annotated[float, msgspec.Meta(ge=0, le=1e9)] | None = None
    why: str = ""


class Reading(NamedTuple):
    """The power of the node in watts, and when it was read, in seconds of the monotonic clock."""

    time: float
    watts: float


class Gauge(Protocol):
    """A gauge of power."""

    def readings(self, stop: int, deadline: float | None = None) -> Iterator[Reading]:
        """Yield the power until the descriptor `stop` can be read, or until the deadline of the monotonic clock."""
        ...


class Source(NamedTuple):
    """A meter of this node with its counters' files, in their order, or with its gauge."""

    meter: Meter
    files: tuple[Path, ...] = ()
    gauge: Gauge | None = None


class Denied(NamedTuple):
    """A source that is here and that this user cannot read, and what helps."""

    what: str
    why: str
    fix: str

    def __str__(self) -> str:
        return f"{self.what}: {self.why}; {self.fix}"


class Kind(Protocol):
    """The module of a kind of source."""

    PLACE: int  # among the others, the least first

    def find(self, root: Path, command: str, interval: float) -> Source | Denied | None:
        """Return the source below `root`. `command` and `interval`: of the site file. None: this node has none."""
        ...


class Discovered(NamedTuple):
    """The source that is used, if any, and those that this user cannot read."""

    source: Source | None
    denied: tuple[Denied, ...]

    @property
    def energy(self) -> Energy:
        """Return what a run records about it, before its idle power is measured."""
        if self.source is not None:
            return Energy(self.source.meter)
        return Energy(why="; ".join(map(str, self.denied)) or NOTHING)


@cache
def every() -> Mapping[str, Kind]:
    """Return every kind of source that has a file, by name, in the order in which they are tried."""
    found = {m.name: import_module(f"{__name__}.{m.name}") for m in iter_modules(__path__)}
    kinds = {name: module for name, module in found.items() if hasattr(module, "PLACE")}
    return dict(sorted(kinds.items(), key=lambda kind: int(kind[1].PLACE)))


def discover(root: Path = Path("/"), command: str = "", interval: float = 1.0) -> Discovered:
    """Return the sources of energy below `root`, which is "/" except in tests. Never raises, and needs no root user."""
    found = [kind.find(root, command, interval) for kind in every().values()]
    usable = [one for one in found if isinstance(one, Source)]
    return Discovered(usable[0] if usable else None, tuple(one for one in found if isinstance(one, Denied)))


def waited(stop: int, until: float) -> bool:
    """Wait until the clock shows `until`; return whether the descriptor `stop` can be read, which ends the wait."""
    return bool(select.select([stop], [], [], max(0.0, until - time.monotonic()))[0])


def first(gauge: Gauge, seconds: float) -> Reading | None:
    """Return the first reading within so many seconds, None if there is none. Raises OSError as the gauge does."""
    stop, hold = os.pipe()
    try:
        readings = gauge.readings(stop, time.monotonic() + seconds)
        return next(readings, None)
    finally:
        os.close(hold)
        os.close(stop)
