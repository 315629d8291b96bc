"""Judging: launch golden and candidates alternately in random order, and compare them as `./fl compare` does."""

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
"""Seconds per call by name, one value per launch."""


class Judged(msgspec.Struct, frozen=True):
    """A candidate compared with the golden loop at one trip count: the ratio of times and its 99 % interval (None: too
    few launches).

    `label` (stored as `told`): the change that ran, "golden" if the dispatcher calls the original loop.
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
        """Return whether the candidate is faster, outside of its interval, by however little."""
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
    """Launch each executable `launches` times, all once per round in random order, and return the times."""
    found: dict[str, list[float]] = {name: [] for name in some}
    for _ in range(launches):
        for name in random.sample(sorted(some), len(some)):
            found[name].append(bench.time(some[name], trip, seconds, place))
    return found


def judged(golden: list[float], mine: list[float], trip: int, label: str = "") -> Judged:
    """Compare launches with golden. Alternating launches share every disturbance, so no drift is allowed for."""
    found, narrow = ratio(golden, mine), ratio(golden, mine, EQUIVALENCE)
    a, b = median(golden), median(mine)
    outcome = outcome_of(found, b / a, narrow, "lower", drift=0.0)
    return Judged(trip, a, b, b / a, found.low, found.high, outcome, label)


def beside(launched: Callable[[int, int, Place], Launches], trip: int, label: str) -> Judged:
    """Compare `mine` with `golden` at a trip count, with the placement of the arrays that has the smaller gain.

    launched: returns the launches for (trip count, factor of launches, placement). A result that seems slower is
    measured again, longer: of many intervals some are wrong. Golden compared with itself needs only one placement.
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
