"""Fit: LogGOPS parameters of this machine's messages from the verified ping-pong figures of a run.

A. Alexandrov et al., JPDC 44 (1997) 71 (LogGP); T. Hoefler, T. Schneider, A. Lumsdaine, LogGOPSim, HPDC 2010 (O, S).
Half a round trip of m bytes takes L + 2 o + (m - 1) max(G, O). So ping-pong alone tells the sum L + 2 o and the slope,
not their parts: those are set by a convention that is told with the result. An exchange, in which both ends send and
receive (pingpong.mpi_bidirectional), has the slope O + max(G, O), which gives O. The hand-over from short to long
messages (S) is not one parameter here but two regimes, each with parameters of its own, found as by
`judge.hockney.regimes`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

from firstlight.errors import UsageError
from firstlight.judge import Judgement, hockney
from firstlight.judge.verdict import Figure, Limit, Verified
from firstlight.record import Run

VARIANTS = ("mpi_persistent", "mpi_blocking", "mpi_nonblocking")
"""Whose latency is fitted, best first: schedules run with persistent requests."""
_NEAR = 1 << 20
_NEVER = 1e15  # bytes: no message waits for its receive, for the regimes hold that already
_ON_NODE, _BETWEEN = 0.5, 0.25  # the share of L + 2 o that is one o


class Regime(msgspec.Struct, frozen=True):
    """LogGOPS parameters in seconds, and seconds a byte for G and O, of messages of `low` to `high` bytes.

    `misfit`: the root mean square relative error of the fit, over `sizes` sizes.
    """

    low: float
    high: float
    L: float
    o: float
    g: float
    G: float
    O: float  # noqa: E741 (the name in LogGOPS)
    misfit: float
    sizes: int


class Copying(msgspec.Struct, frozen=True):
    """Seconds a byte that one core copies, or adds to what is there, at the measured bandwidth of copying."""

    copy: float
    reduce: float


class Fitted(msgspec.Struct, frozen=True):
    """What was fitted, for which MPI library, from which run. `switch`: bytes between the regimes; None: only one."""

    run: str
    mpi: str
    label: str
    variant: str
    nodes: int
    regimes: tuple[Regime, ...]
    switch: float | None
    separated: tuple[str, ...]  # what ping-pong cannot tell apart, and how it was decided
    copying: Copying | None = None  # None: the run did not measure it, and it counts as nothing

    def word(self, regime: Regime) -> str:
        """A regime's parameters as firstlight-simulate takes them."""
        return word(regime, self.copying)

    def regime(self, size: float) -> Regime:
        """The one that a message of `size` bytes belongs to."""
        return self.regimes[0] if self.switch is None or size < self.switch else self.regimes[-1]

    def groups(self, sizes: Iterable[int]) -> list[tuple[Regime, list[int]]]:
        """The sizes by regime, ascending."""
        ordered = sorted(sizes)
        return [(r, some) for r in self.regimes if (some := [s for s in ordered if self.regime(s) is r])]

    @property
    def source(self) -> str:
        """In words."""
        return f"fitted to pingpong.{self.variant} of {self.label} in run {self.run}"


def fitted(judgement: Judgement, mpi: str | None = None) -> list[Fitted]:
    """One fit for every MPI library whose ping-pong is verified at three sizes or more, sorted by name.

    `mpi`: only that one. Raises UsageError where there is none, saying what measures it.
    """
    run, figures = judgement.run, judgement.figures
    copying = _copying(judgement.limits)
    found = [fit for name in _names(figures, mpi) if (fit := _fit(run, figures, name, copying)) is not None]
    if not found:
        of = f" with {mpi}" if mpi else ""
        raise UsageError(
            f"run {run.id} has no verified ping-pong{of} at {hockney.FEWEST} sizes or more; "
            f"`./fl run pingpong collectives{' --mpi ' + mpi if mpi else ''}` measures it"
        )
    return found


def _names(figures: Sequence[Figure], mpi: str | None) -> list[str]:
    names = sorted({f.identity.mpi for f in _latencies(figures) if f.identity.mpi})
    return [n for n in names if mpi is None or n == mpi]


def _latencies(figures: Iterable[Figure]) -> list[Verified]:
    """Verified half round trips between two ranks; oversubscribed ones tell about the scheduler."""
    return [
        f
        for f in figures
        if isinstance(f, Verified)
        and (f.identity.workload, f.identity.metric) == ("pingpong", "latency")
        and f.identity.placement.ranks == 2
        and not f.oversubscribed
    ]


def _fit(run: Run, figures: Sequence[Figure], mpi: str, copying: Copying | None) -> Fitted | None:
    mine = [f for f in _latencies(figures) if f.identity.mpi == mpi]
    nodes = max(f.identity.placement.nodes for f in mine)  # what joins nodes, where that was measured
    mine = [f for f in mine if f.identity.placement.nodes == nodes]
    curves = {v: times(f for f in mine if f.identity.variant == v) for v in (*VARIANTS, "mpi_bidirectional")}
    variant = next((v for v in VARIANTS if len(curves[v]) >= hockney.FEWEST), None)
    if variant is None:
        return None
    some = hockney.regimes(curves[variant])
    label = next((m.label for m in run.toolbox.mpis if m.name == mpi), mpi)
    switch = (some[0].high * some[1].low) ** 0.5 if len(some) == 2 else None
    if switch is not None and some[0].high == 0:
        switch = some[1].low
    both = curves["mpi_bidirectional"]
    return Fitted(
        run.id,
        mpi,
        label,
        variant,
        nodes,
        tuple(_regime(r, nodes, both) for r in some),
        switch,
        tuple(_separated(nodes, bool(both), copying)),
        copying,
    )


def _copying(limits: Sequence[Limit]) -> Copying | None:
    """From the bandwidth at which one core copies (STREAM); adding moves half as much again.

    What has just arrived lies in a cache, but not in the nearest one: of working sets that nearest to 1 MiB counts.
    """
    some = [x for x in limits if x.name == "copy_bandwidth" and x.cores == 1 and x.value > 0]
    if not some:
        return None
    best = min(some, key=lambda x: abs(math.log((x.working_set or _NEAR) / _NEAR)))
    return Copying(2 / best.value, 3 / best.value)


def times(figures: Iterable[Verified]) -> list[tuple[float, float]]:
    """(bytes, seconds of half a round trip), ascending; the least of several toolchains."""
    found: dict[float, float] = {}
    for f in figures:
        size = dict(f.identity.parameters).get("bytes")
        seconds = f.estimate.median * {"us": 1e-6, "s": 1.0, "ns": 1e-9, "ms": 1e-3}.get(f.unit, 0.0)
        if isinstance(size, int | float) and seconds > 0:
            found[float(size)] = min(seconds, found.get(float(size), seconds))
    return sorted(found.items())


def _regime(r: hockney.Regime, nodes: int, both: Sequence[tuple[float, float]]) -> Regime:
    share = _ON_NODE if nodes == 1 else _BETWEEN
    o = share * r.alpha
    overhead = r.beta if nodes == 1 else 0.0
    exchanged = [(m, t) for m, t in both if r.low <= m <= r.high]
    if len(exchanged) >= 2:
        overhead = min(max(hockney.fit(exchanged).beta - r.beta, 0.0), r.beta)
    return Regime(r.low, r.high, r.alpha - 2 * o, o, o, r.beta, overhead, r.misfit, r.sizes)


def _separated(nodes: int, exchanged: bool, copying: Copying | None) -> list[str]:
    said = [
        "ping-pong tells only the sum L + 2 o; "
        + (
            "on one node processors carry messages, so all of it counts as o"
            if nodes == 1
            else "half of it counts as L, a quarter as each o"
        ),
        "the gap g of messages in a row is not measured; it is set to o",
    ]
    if exchanged:
        said.append("O is what an exchange takes longer a byte than a message one way")
    elif nodes == 1:
        said.append("O is set to G: on one node the processors copy")
    else:
        said.append("O is set to 0: between nodes the interfaces copy")
    if copying is None:
        said.append("adding and copying within a rank count as nothing: the run has no `stream`")
    return said


def word(regime: Regime, copying: Copying | None = None) -> str:
    """The parameters as firstlight-simulate takes them: nanoseconds, nanoseconds a byte, bytes a second.

    A network with links knows an overhead for each message and the bandwidth of a link instead of L, o, g, G.
    """
    found = {name: 1e9 * getattr(regime, name) for name in ("L", "o", "g", "G", "O")}
    found |= {"S": _NEVER, "overhead": 1e9 * (regime.L + 2 * regime.o)}
    if regime.G > 0:
        found["bandwidth"] = 1 / regime.G
    if copying is not None:
        found |= {"copy": 1e9 * copying.copy, "reduce": 1e9 * copying.reduce}
    return ",".join(f"{name}={value:.4g}" for name, value in found.items())
