"""Judging: golden and candidates launched in turn, in random order, and compared as everything else is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from statistics import median

import msgspec

from firstlight.analysis.compare import EQUIVALENCE, Outcome, outcome_of
from firstlight.analysis.interval import ratio
from firstlight.commands.loops.trial import PLACES, Bench, Place

Launches = Mapping[str, list[float]]
"""By name: the seconds of a call, one value a launch."""


class Judged(msgspec.Struct, frozen=True):
    """A candidate beside golden at one trip count: time over time with its 99 % interval, None for too few launches.

    `label` (stored as `told`): the change that ran there, "golden" where the dispatcher calls the original loop.
    """

    trip: int
    golden: float  # seconds of a call, the median
    mine: float
    ratio: float
    low: float | None
    high: float | None
    outcome: Outcome
    label: str = msgspec.field(default="", name="told")

    @property
    def faster(self) -> bool:
        """Outside of its interval, by however little."""
        return self.high is not None and self.high < 1

    @property
    def slower(self) -> bool:
        return self.low is not None and self.low > 1


def launched(
    bench: Bench,
    some: Mapping[str, Path],
    trip: int,
    launches: int,
    seconds: float,
    random: Random,
    place: Place = "malloc",
) -> Launches:
    """Each executable `launches` times: every round has all of them once, in an order of its own."""
    found: dict[str, list[float]] = {name: [] for name in some}
    for _ in range(launches):
        for name in random.sample(sorted(some), len(some)):
            found[name].append(bench.time(some[name], trip, seconds, place))
    return found


def judged(golden: list[float], mine: list[float], trip: int, label: str = "") -> Judged:
    """Launches that alternate share what disturbs the machine: no drift is allowed for."""
    found, narrow = ratio(golden, mine), ratio(golden, mine, EQUIVALENCE)
    a, b = median(golden), median(mine)
    outcome = outcome_of(found, b / a, narrow, "lower", drift=0.0)
    return Judged(trip, a, b, b / a, found.low, found.high, outcome, label)


def beside(launched: Callable[[int, int, Place], Launches], trip: int, label: str) -> Judged:
    """`mine` beside `golden` at a trip count, in that place of the arrays where it gains less.

    launched: what (trip, how many times as long, place) takes. What seems slower is measured anew, longer: of many
    intervals some are wrong. Golden beside itself is so wherever arrays lie: one place is enough.
    """
    found = []
    for place in PLACES if label != "golden" else PLACES[:1]:
        for longer in (1, 2):
            times = launched(trip, longer, place)
            row = judged(times["golden"], times["mine"], trip, label)
            if not row.slower:
                break
        found.append(row)
    return max(found, key=lambda row: row.ratio)
