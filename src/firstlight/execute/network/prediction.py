"""Prediction: the output of firstlight-simulate, one object per line. Times in seconds, sizes in bytes."""

from __future__ import annotations

import msgspec


class Algorithm(msgspec.Struct, frozen=True):
    """The facts about an algorithm in `list`. `pipelined`: segments matter; `torus`: it requires a torus or mesh."""

    name: str = msgspec.field(name="algorithm")
    title: str
    source: str
    collectives: tuple[str, ...]
    pipelined: bool = False
    torus: bool = False


class Verdict(msgspec.Struct, frozen=True):
    """The properties of the schedule, and of its routes on the topology, that the checker proved (None: not
    requested).
    """

    correct: bool | None = None
    deadlock_free: bool | None = None
    link_disjoint: bool | None = None
    contention_free: bool | None = None
    max_load: float | None = None
    why: str = ""


class Breakdown(msgspec.Struct, frozen=True):
    """The total time in seconds, by cause."""

    latency: float = 0.0
    bandwidth: float = 0.0
    contention: float = 0.0
    noise: float = 0.0


class Noise(msgspec.Struct, frozen=True):
    """Seconds over the runs with different seeds. `slowdown`: the median relative to the time without noise."""

    median: float
    least: float
    most: float
    slowdown: float


class AxisLoad(msgspec.Struct, frozen=True):
    """Bytes over the links of one axis (+x, -x, ...) or kind: on the busiest link, and the mean over all links."""

    axis: str
    most: float
    mean: float


class Loads(msgspec.Struct, frozen=True):
    """Bytes that cross each link. `histogram`: (bytes, links), ascending. `worst`: (link, bytes), the busiest first."""

    links: int
    used: int
    most: float
    histogram: tuple[tuple[float, int], ...] = ()
    axes: tuple[AxisLoad, ...] = ()
    worst: tuple[tuple[str, float], ...] = ()


class Carried(msgspec.Struct, frozen=True):
    """The algorithm with which groups of `members` execute a collective phase."""

    phase: str
    collective: str
    members: int
    bytes: int
    algorithm: str


class Prediction(msgspec.Struct, frozen=True):
    """One algorithm for one size on one topology. `refused`: why it does not solve this problem; there is then no time.

    `low`, `high`: seconds with message times at the percentiles of an interval; None without a fitted run. `machine`:
    the parameters that were used, key=value,... in nanoseconds, bytes per second and numbers. `any_interface`: the
    schedule names interfaces, but messages used any free one. `mismatches`: the number of messages whose receive has
    another size; `mismatch` describes the first one. The size of the send counts. For an iteration of a pattern also:
    the total bytes `sent`, the `sizes` of its messages, the number of `passes`, how many of them were `evaluated` in
    sequence, and the algorithms of its collective operations (`carried`).
    """

    algorithm: str
    collective: str = ""
    topology: str = ""
    ranks: int = 0
    bytes: float = 0
    segments: int | None = None
    seconds: float | None = None
    depth: int | None = None
    operations: int | None = None
    messages: int | None = None
    evaluator: str = ""
    verdict: Verdict | None = None
    breakdown: Breakdown | None = None
    noise: Noise | None = None
    wall_seconds: float = 0.0
    refused: str = ""
    machine: str = ""
    loads: Loads | None = None
    any_interface: bool = False
    mismatches: int = 0
    mismatch: str = ""
    sent: float | None = None
    passes: int | None = None
    evaluated: int | None = None
    carried: tuple[Carried, ...] = ()
    sizes: tuple[float, ...] = ()
    low: float | None = None
    high: float | None = None

    @property
    def expected(self) -> float | None:
        """Return the seconds; with noise, the median of its runs."""
        return self.seconds if self.noise is None else self.noise.median

    @property
    def judged(self) -> bool:
        """Return whether there is a verdict on what the schedule does."""
        return self.verdict is not None and not self.refused and self.collective != "other"

    @property
    def usable(self) -> bool:
        """Return whether there is a time, and the schedule does what it should."""
        return self.seconds is not None and not self.refused and not self.wrong

    @property
    def wrong(self) -> bool:
        """Return whether the checker found the schedule wrong. A schedule from a file has no known purpose; it only has
        to end.
        """
        if self.verdict is None or self.refused:
            return False
        if self.collective == "other":
            return self.seconds is None and self.verdict.deadlock_free is False
        return False in (self.verdict.correct, self.verdict.deadlock_free)
