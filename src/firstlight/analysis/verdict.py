"""Verdicts: a figure is verified, untimed, failed, unverified or reported.

Ranking, ceilings and findings accept `Verified` only. What another tool reported is `Reported`, a type of its own: it
is shown, and compared with what that tool reported in another run. The others have no median, so no code can use one
by accident.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from firstlight.model.plan import Placement
from firstlight.results.description import Better

Cause = Literal["check", "lost", "build", "record", "ceiling"]
Doubt = Literal["", "ceiling"]
Verdict = Literal["verified", "untimed", "failed", "unverified", "reported"]

ELSEWHERE = "wrong in another case"
"""The beginning of the reason of a figure whose program failed in another one of its cases."""
DISTURBED = 0.2
"""The share of samples whose processors were used by others, from which on a figure or a run is disturbed."""


class Identity(msgspec.Struct, frozen=True):
    """The identity of a figure: equal identities in two runs are the same figure. `parameters` are sorted by name."""

    workload: str
    variant: str
    toolchain: str
    mpi: str | None
    placement: Placement
    parameters: tuple[tuple[str, int | float | str], ...]
    metric: str


class Estimate(msgspec.Struct, frozen=True):
    """Median over launches with a nonparametric interval (None: too few launches)."""

    median: float
    low: float | None
    high: float | None
    launches: tuple[float, ...]  # one value a launch, in the order of time
    times: tuple[float, ...] = ()  # when each launch began, seconds since the epoch; empty where it is not known


class States(msgspec.Struct, frozen=True):
    """Two groups of launches, far apart, each steady in itself: their medians, and their numbers of launches."""

    lower: float
    upper: float
    in_lower: int
    in_upper: int


Together = Literal["together", "each", "unclear"]
"""Whether slow launches came in the same stretches of a run, each launch drew its own, or neither is clear."""


class Steadiness(msgspec.Struct, frozen=True):
    """How launches of one class (one core, several ranks, memory, ...) kept their level over the run.

    `slow` of `launches` took 1.3 times as long as usual or longer, in the median `slower` times. `with_states`: how
    many of the class's `figures` have two states.
    """

    name: str
    launches: int
    slow: int
    slower: float
    figures: int
    with_states: int
    together: Together
    about: tuple[Identity, ...] = ()  # the class's figures


class Ceiling(msgspec.Struct, frozen=True):
    """The measured limit in the figure's own unit, and the resource that sets it.

    `place`: the memory level of the bandwidth; "" if the limit depends on none. `source`: the figure that provides the
    limit, measured with `working_set` bytes; `rate`: its best launch, in bytes or flops per second, if that is the
    limit alone.
    """

    value: float
    low: float
    high: float
    resource: str  # load_bandwidth, flops_64, ...
    sure: bool = True  # false: measured in too few launches for an interval
    own: bool = False  # it is the best launch of the figure's own kind, which beat what was measured of the resource
    place: str = ""  # L1, L2, ..., memory; or two: L3 or memory
    working_set: float | None = None
    source: Identity | None = None
    rate: float | None = None


class Limit(msgspec.Struct, frozen=True):
    """A ceiling measured in this run: `value` of a quantity (bytes, flops) per second, reached by `cores` cores.

    `working_set` in bytes; None if the limit does not depend on it. `low`, `high`: the interval, or the median itself
    with too few launches (`sure` is then false). `source`: the figure that provides the ceiling. `diverged`: the share
    of that figure's samples in which other processes used the processors. `mixed`: data of
    two levels.
    """

    name: str  # load_bandwidth, flops_64, ...
    cores: int
    working_set: float | None
    value: float
    low: float
    high: float
    sure: bool
    source: Identity
    diverged: float = 0.0
    mixed: bool = False


class Verified(msgspec.Struct, frozen=True, tag="verified"):
    identity: Identity
    unit: str
    better: Better
    estimate: Estimate
    working_set: float
    cost: dict[str, float]
    ceiling: Ceiling | None
    diverged: float  # share of samples in which wall and CPU time diverged
    oversubscribed: bool = False  # marked, shown, never ranked or compared
    observed: bool = False  # a value that the program observed, not work over time: it has no ceiling and may be 0
    states: States | None = None  # where its launches fall into two

    @property
    def of_ceiling(self) -> float | None:
        """Return the share of the ceiling, 1 = at the ceiling, also for times (where lower is better)."""
        if self.ceiling is None:
            return None
        m, c = self.estimate.median, self.ceiling.value
        return m / c if self.better == "higher" else c / m


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """`cause`: check (a wrong result), lost (no launch ended well), build, record (unusable values), ceiling.

    `expected`: why its workload declares that the check fails with these flags; "" where it does not.
    """

    identity: Identity
    unit: str
    better: Better
    reason: str
    cause: Cause = "check"
    expected: str = ""


class Unverified(msgspec.Struct, frozen=True, tag="unverified"):
    """`cause`: "ceiling" if the results are correct but the speed is above a ceiling that was disturbed."""

    identity: Identity
    unit: str
    better: Better
    reason: str
    cause: Doubt = ""


class Untimed(msgspec.Struct, frozen=True, tag="untimed"):
    """Its results were checked as those of `Verified` and are right; its time is meaningless and is not kept."""

    identity: Identity
    unit: str
    better: Better
    reason: str


class Reported(msgspec.Struct, frozen=True, tag="reported"):
    """Another tool reported it: firstlight neither measured nor verified it. `reporter`: that tool and its version."""

    identity: Identity
    unit: str
    better: Better
    estimate: Estimate
    reporter: str
    states: States | None = None

    @property
    def reason(self) -> str:
        return f"reported by {self.reporter}, not verified here"


Numbered = Verified | Reported
"""The figures that have a number."""
Figure = Numbered | Untimed | Failed | Unverified
