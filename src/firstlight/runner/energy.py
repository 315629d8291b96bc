"""Energy during a run: which meter it uses, the power of the idle node, and a gauge that is read during a launch."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from firstlight.core.units import parse_duration
from firstlight.results.record import MOST_READINGS
from firstlight.system import energy, site
from firstlight.system.energy import Discovered, Energy, Meter, Source, files

IDLE = 1.0
"""Seconds of idling, at least, for the power of the idle node."""
TIMES = "times"
"""The value of --energy with which a program records only when its samples ran."""


def discover() -> Discovered:
    """Return the sources of energy of this node, with the command of the site file."""
    given = site.current().site.energy
    return energy.discover(command=given.command, interval=parse_duration(given.interval, "interval"))


def begin(found: Discovered) -> tuple[Energy, Source | None]:
    """Return what a new run records, and its source: the counters that count, and the power of the idle node.

    Some processors show counters that never change. Counting them would hide that something is missing.
    """
    source = found.source
    if source is None:
        return found.energy, None
    if source.gauge is not None:
        watts = _average(source)
        idle = replace(found.energy, idle=watts)
        return (
            (idle, source)
            if watts is not None
            else (Energy(why=f"{source.meter.source}: no reading is available"), None)
        )
    before, began = [files.number(path) for path in source.files], time.monotonic()
    time.sleep(max(IDLE, energy.FEWEST_UPDATES * source.meter.update))
    after, seconds = [files.number(path) for path in source.files], time.monotonic() - began
    moving = [k for k, (a, b) in enumerate(zip(before, after, strict=True)) if a is not None and b not in (None, a)]
    if not moving:
        return Energy(why=f"the counters of {source.meter.source} never change, as in many virtual machines"), None
    counters = tuple(source.meter.counters[k] for k in moving)
    joules = [_joules(source.meter, k, before[k], after[k]) for k in moving]
    chosen = Source(replace(source.meter, counters=counters), tuple(source.files[k] for k in moving))
    watts = None if None in joules else sum(j for j in joules if j is not None) / seconds
    return Energy(chosen.meter, watts), chosen


def _joules(meter: Meter, k: int, before: int | None, after: int | None) -> float | None:
    counter = meter.counters[k]
    if before is None or after is None or (after < before and not counter.range):
        return None
    return (after - before + (counter.range if after < before else 0)) * counter.joules


def _average(source: Source) -> float | None:
    assert source.gauge is not None
    with _stopping() as (stop, _):
        deadline = time.monotonic() + max(IDLE, 2 * source.meter.update)
        try:
            watts = [reading.watts for reading in source.gauge.readings(stop, deadline)]
        except OSError:
            return None
    return sum(watts) / len(watts) if watts else None


def again(recorded: Energy | None, found: Discovered) -> Source | None:
    """Return the source that a resumed run goes on with: the meter that it began with, None if that is not here."""
    meter, source = recorded.meter if recorded is not None else None, found.source
    if meter is None or source is None or replace(source.meter, counters=()) != replace(meter, counters=()):
        return None
    here = dict(zip(source.meter.counters, source.files, strict=False))
    if not all(counter in here for counter in meter.counters):
        return None
    return Source(meter, tuple(here[counter] for counter in meter.counters), source.gauge)


def options(source: Source | None) -> list[str]:
    """Return the options with which a program reads the counters."""
    return [] if source is None else ["--energy", ",".join(map(str, source.files)) or TIMES]


@contextlib.contextmanager
def read(source: Source | None) -> Iterator[list[tuple[float, float]]]:
    """Yield a list that is complete after the body: the readings of a gauge while it ran; empty with counters."""
    found: list[tuple[float, float]] = []
    if source is None or source.gauge is None:
        yield found
        return
    gauge = source.gauge
    with _stopping() as (stop, end):

        def follow() -> None:
            with contextlib.suppress(OSError):  # no readings: the figures have the reason
                for reading in gauge.readings(stop):
                    found.append((reading.time, reading.watts))
                    if len(found) > MOST_READINGS:
                        del found[1:-1:2]

        thread = threading.Thread(target=follow, daemon=True)
        thread.start()
        try:
            yield found
        finally:
            end()
            thread.join()


@contextlib.contextmanager
def _stopping() -> Iterator[tuple[int, Callable[[], object]]]:
    """Yield a descriptor, and a function after which it can be read."""
    stop, write = os.pipe()
    try:
        yield stop, lambda: os.write(write, b"x")
    finally:
        os.close(stop)
        os.close(write)
