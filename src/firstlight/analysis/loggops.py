"""Fit: LogGOPS parameters of this machine's messages from the verified ping-pong figures of a run.

A. Alexandrov et al., JPDC 44 (1997) 71 (LogGP); T. Hoefler, T. Schneider, A. Lumsdaine, LogGOPSim, HPDC 2010 (O, S);
T. Kielmann, H. Bal, K. Verstoep, Fast Measurement of LogP Parameters, IPDPS 2000 Workshops (a gap for each size).
Half a round trip of m bytes, one alone, lasts L + 2 o + (m - 1) max(G, O). The shortest one is L + 2 o, which ping-
pong cannot separate: a convention sets both, and the result names it. The extra time of a longer one
is G of that size, so every measured size comes out as it was measured (`rising`): the hand-over from short to long
messages (S) and the ends of caches are in it. If several ways send messages of one size, the fastest counts, as
for the executor of schedules. An exchange, in which both ends send and receive, lasts (m - 1) O longer, which defines
O of that size.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from firstlight.analysis import Judgement
from firstlight.analysis.roles import RoleFigure, advice, played, players
from firstlight.analysis.states import states
from firstlight.analysis.verdict import Limit, States
from firstlight.core.confidence import LAUNCHES
from firstlight.core.errors import UsageError
from firstlight.core.roles import EXCHANGE_IN_A_ROW, EXCHANGED_MESSAGE, MESSAGE, MESSAGE_IN_A_ROW, WRITTEN_MESSAGE
from firstlight.model.catalogue import Workload
from firstlight.results.record import Run

COPYING = "copy_bandwidth"
"""The name of the ceiling that is a core's copy bandwidth."""
ALONE = (MESSAGE, EXCHANGED_MESSAGE)
"""The roles of messages one way and both ways, one at a time after a pause: for single operations."""
IN_A_ROW = (MESSAGE_IN_A_ROW, EXCHANGE_IN_A_ROW)
"""The roles of the same messages, one right after the other: for steps that follow one another."""
FEWEST = 3
"""The number of sizes that a fit needs."""
FASTEST = 0.0
"""The percentile of the fastest launch."""
TAILS = (5.0, 95.0)
"""The percentiles of launches between which an interval of predictions is."""
LEVEL_TEXT = f"{TAILS[1] - TAILS[0]:.3g} %"
_NEAR = 1 << 20
_NEVER = 1e15  # bytes: no message waits for its receive, for the rates hold that already
_ON_NODE, _BETWEEN = 0.5, 0.25  # the share of L + 2 o that is one o


class Rate(msgspec.Struct, frozen=True):
    """Seconds per byte, G and O, of messages of this size."""

    bytes: int
    G: float
    O: float  # noqa: E741 (the name in LogGOPS)


class Messages(msgspec.Struct, frozen=True):
    """The one-way time in seconds of a message of this size: from the curve, and in the fastest and the slowest launch.

    `states`: both groups of bimodal launches. `launches`: their number.
    """

    bytes: int
    seconds: float
    fastest: float
    slowest: float
    states: States | None = None
    launches: int = 0


class Written(msgspec.Struct, frozen=True):
    """The one-way time in seconds per message of this size, in a sequence of messages with the same calls.

    `seconds`: the bytes are written before sending and read after arrival. `cached`: the same buffers are sent
    repeatedly.
    """

    bytes: int
    seconds: float
    cached: float


class Copying(msgspec.Struct, frozen=True):
    """Seconds per byte with which one core copies vectors of this size.

    Adding to existing data has the same time: two reads and a write. A copy also reads the lines that it writes.
    """

    bytes: float
    seconds: float


class Fitted(msgspec.Struct, frozen=True):
    """The fitted parameters, their MPI library and their run. L, o and g are in seconds; `rates` are in ascending order
    of size.

    `variant`: the variants that were the fastest at some size. `copying`: in ascending order of size; empty if the run
    did not measure copies, which then count as 0. `misfit`: the root mean square relative error of longer messages that
    were faster than shorter ones (`rising`).
    """

    run: str
    mpi: str
    label: str
    variant: str
    nodes: int
    L: float
    o: float
    g: float
    rates: tuple[Rate, ...]
    misfit: float
    separated: tuple[str, ...]  # what ping-pong cannot distinguish, and how it was decided
    copying: tuple[Copying, ...] = ()
    workload: str = ""  # of the variants
    messages: tuple[Messages, ...] = ()  # by ascending size
    exchanged: tuple[Messages, ...] = ()  # while one as long goes the other way
    written: tuple[Written, ...] = ()  # by ascending size; empty where the run did not measure it

    @property
    def spanned(self) -> bool:
        """Return whether predictions have an interval: each message had the launches that a conclusion needs."""
        return all(m.launches >= LAUNCHES for m in (*self.messages, *self.exchanged))

    @property
    def word(self) -> str:
        """Return the parameters as firstlight-simulate reads them, for an unknown size."""
        return self.at(_NEAR)

    def at(self, size: float) -> str:
        """Return the parameters for vectors of `size` bytes, in nanoseconds and nanoseconds per byte.

        A network with links has an overhead for each message instead of L, o and g.
        """
        found = {name: 1e9 * getattr(self, name) for name in ("L", "o", "g")}
        found |= {"S": _NEVER, "overhead": 1e9 * (self.L + 2 * self.o)}
        if self.copying:
            found |= dict.fromkeys(("copy", "reduce"), 1e9 * self.copied(size))
        rates = "/".join(f"{r.bytes}:{1e9 * r.G:.4g}:{1e9 * r.O:.4g}" for r in self.rates)
        return ",".join([*(f"{name}={value:.4g}" for name, value in found.items()), f"rates={rates}"])

    def copied(self, size: float) -> float:
        """Return the seconds per byte of copying vectors of `size` bytes; 0 if the run did not measure it."""
        known = [(math.log(c.bytes), math.log(c.seconds)) for c in self.copying]
        if not known:
            return 0.0
        x = min(max(math.log(max(size, 1)), known[0][0]), known[-1][0])
        return math.exp(_between(known, x))

    @property
    def source(self) -> str:
        """Return the source of the fit in words."""
        return f"fitted to {self.workload}.{self.variant} of {self.label} in run {self.run}"


def fitted(
    judgement: Judgement,
    workloads: Mapping[str, Workload],
    mpi: str | None = None,
    roles: tuple[str, str] = ALONE,
    way: str = "",
    percentile: float | None = None,
) -> list[Fitted]:
    """Return one fit for every MPI library whose messages are verified at FEWEST sizes or more, sorted by name.

    `mpi`: only that one. `roles`: ALONE (the fastest of several variants counts) or IN_A_ROW (one variant counts: `way`
    if it was measured, else the first declared). `percentile`: of the launches of each message, instead of the median.
    Raises UsageError if there is none, with the command that measures it.
    """
    run = judgement.run
    messages, exchanged = (_messages(judgement, workloads, role, mpi) for role in roles)
    if roles == IN_A_ROW:
        messages = [m for name in {m.identity.mpi for m in messages} for m in _one_way(messages, name, way)]
    written, cached = (_messages(judgement, workloads, role, mpi) for role in (WRITTEN_MESSAGE, MESSAGE_IN_A_ROW))
    copying = _copying(judgement.limits)
    hint = "" if copying else advice(workloads, [], [COPYING])
    names = sorted({p.identity.mpi for p in messages if p.identity.mpi})
    found = [
        msgspec.structs.replace(fit, written=tuple(_written(written, cached, fit)))
        for name in names
        if (fit := _fit(run, messages, exchanged, name, copying, hint, percentile))
    ]
    if not found:
        of = f" with {mpi}" if mpi else ""
        raise UsageError(
            f"run {run.id} has no verified ping-pong{of} at {FEWEST} sizes or more; "
            + advice(workloads, [roles[0]], [COPYING], mpi)
        )
    return found


def _messages(judgement: Judgement, workloads: Mapping[str, Workload], role: str, mpi: str | None) -> list[RoleFigure]:
    """Return the verified messages between two ranks, preferred ones first."""
    some = played(judgement.figures, players(workloads, role), judgement.run.machine)
    mine = [p for p in some if p.identity.placement.ranks == 2 and mpi in (None, p.identity.mpi)]
    return sorted(mine, key=lambda p: (p.place, p.program))


def _one_way(messages: Sequence[RoleFigure], mpi: str | None, way: str) -> list[RoleFigure]:
    """Return the messages of one variant: `way` if it has enough sizes, else the first that has."""
    mine = [p for p in messages if p.identity.mpi == mpi]
    known = [v for v in dict.fromkeys(p.identity.variant for p in mine) if len(times(_of(mine, v))) >= FEWEST]
    chosen = way if way in known else next(iter(known), "")
    return _of(mine, chosen)


def _of(messages: Sequence[RoleFigure], variant: str) -> list[RoleFigure]:
    return [p for p in messages if p.identity.variant == variant]


def _fit(
    run: Run,
    messages: Sequence[RoleFigure],
    exchanged: Sequence[RoleFigure],
    mpi: str,
    copying: tuple[Copying, ...],
    hint: str,
    percentile: float | None,
) -> Fitted | None:
    """Return the fit of one MPI library, or None. `hint`: how to measure copying if the run did not."""
    mine = [p for p in messages if p.identity.mpi == mpi]
    nodes = max(p.identity.placement.nodes for p in mine)  # what joins nodes, where that was measured
    mine = [p for p in mine if p.identity.placement.nodes == nodes]
    of = {name: [p for p in mine if p.identity.workload == name] for name in (p.identity.workload for p in mine)}
    mine = next((some for some in of.values() if len(times(some)) >= FEWEST), [])
    if not mine:
        return None
    measured = times(mine, percentile)
    curve = rising(measured)
    library = run.toolbox.mpi(mpi)
    label = library.label if library else mpi
    ways = [p for p in exchanged if p.identity.mpi == mpi and p.identity.placement.nodes == nodes]
    both = dict(rising(times(ways, percentile)))
    shortest = curve[0][1]
    o = (_ON_NODE if nodes == 1 else _BETWEEN) * shortest
    return Fitted(
        run=run.id,
        mpi=mpi,
        label=label,
        variant=" and ".join(_fastest(mine)),
        nodes=nodes,
        L=shortest - 2 * o,
        o=o,
        g=o,
        rates=tuple(_rates(curve, both, nodes)),
        misfit=_misfit(measured, curve),
        separated=tuple(_separated(nodes, bool(both), hint)),
        copying=copying,
        workload=mine[0].identity.workload,
        messages=tuple(_messages_of(mine, curve)),
        exchanged=tuple(_messages_of(ways, rising(times(ways, percentile)))),
    )


def _messages_of(some: Sequence[RoleFigure], curve: Sequence[tuple[float, float]]) -> Iterable[Messages]:
    """Yield the messages at each size: the curve, and the launches of the variant that counts."""
    best = _best(some)
    for size, seconds in curve:
        launches = best[size].launches()
        yield Messages(int(size), seconds, min(launches), max(launches), states(launches), len(launches))


def _written(written: Sequence[RoleFigure], cached: Sequence[RoleFigure], fit: Fitted) -> Iterable[Written]:
    """Return the times of the first variant that was measured with both kinds of data."""
    mine, same = (
        [p for p in some if p.identity.mpi == fit.mpi and p.identity.placement.nodes == fit.nodes]
        for some in (written, cached)
    )
    for variant in dict.fromkeys(p.identity.variant for p in mine):
        known = dict(times(_of(same, variant)))
        both = [
            Written(int(size), seconds, known[size]) for size, seconds in times(_of(mine, variant)) if size in known
        ]
        if both:
            return both
    return []


def _fastest(some: Sequence[RoleFigure]) -> list[str]:
    """Return the variants that are the fastest at some size, preferred ones first."""
    best = dict(times(some))
    return list(dict.fromkeys(p.identity.variant for p in some if p.size is not None and best[p.size] == p.seconds()))


def _rates(curve: Sequence[tuple[float, float]], both: Mapping[float, float], nodes: int) -> Iterable[Rate]:
    """Yield G and O at every size of two bytes or more: the extra time of a message, and of an exchange beyond that.

    Between the sizes of exchanges O is interpolated. Without exchanges, processors copy on one node (O = G), and
    interfaces between nodes (O = 0).
    """
    shortest = curve[0][1]
    one = dict(curve)
    added = [(m, max(seconds - one[m], 0.0)) for m, seconds in sorted(both.items()) if m in one]
    for m, seconds in curve:
        if m >= 2:
            gap = (seconds - shortest) / (m - 1)
            share = gap if nodes == 1 else 0.0
            yield Rate(int(m), gap, min(_between(added, m) / (m - 1), gap) if added else share)


def _between(points: Sequence[tuple[float, float]], x: float) -> float:
    """Interpolate linearly; below the first point the value is constant, beyond the last proportional to x."""
    after = next((k for k, (at, _) in enumerate(points) if at >= x), None)
    if after is None:
        at, value = points[-1]
        return value * x / at
    if after == 0:
        return points[0][1]
    (low, least), (high, most) = points[after - 1], points[after]
    return (least * (high - x) + most * (x - low)) / (high - low)  # never below the lesser of both by rounding


def _copying(limits: Sequence[Limit]) -> tuple[Copying, ...]:
    """Return the seconds per byte of copying by vector size (half of the working set), from STREAM's copy bandwidth.

    If no core was measured alone, a core's share of the fewest cores is used. If one size was measured several times,
    the fastest counts.
    """
    known = [x for x in limits if x.name == COPYING and x.value > 0]
    fewest = min((x.cores for x in known), default=1)
    best: dict[float, float] = {}
    for x in known:
        if x.cores == fewest:
            size = (x.working_set or 2 * _NEAR) / 2 / fewest
            best[size] = max(x.value / fewest, best.get(size, 0.0))
    return tuple(Copying(size, 2 / rate) for size, rate in sorted(best.items()))


def times(some: Iterable[RoleFigure], percentile: float | None = None) -> list[tuple[float, float]]:
    """Return (bytes, seconds one way), ascending: the least median over toolchains and programs.

    `percentile`: of the launches with that median, instead of the median.
    """
    return [(size, _launch(p, percentile)) for size, p in sorted(_best(some).items())]


def ends(seconds: float, tails: Sequence[float]) -> tuple[float | None, float | None]:
    """Return the interval of a prediction from its seconds and those by the tails; None without these."""
    return (min(seconds, *tails), max(seconds, *tails)) if tails else (None, None)


def _best(some: Iterable[RoleFigure]) -> dict[float, RoleFigure]:
    """Return the figure with the least median by size in bytes; of equal ones the first."""
    found: dict[float, RoleFigure] = {}
    for p in some:
        size, seconds = p.size, p.seconds()
        if size is not None and seconds and (size not in found or seconds < (found[size].seconds() or 0.0)):
            found[size] = p
    return found


def _launch(p: RoleFigure, percentile: float | None) -> float:
    """Return the seconds of the launch at this percentile; with up to 20 launches, 5 and 95 are the extremes."""
    median, launches = p.seconds(), sorted(p.launches())
    assert median is not None
    if percentile is None or not launches:
        return median
    place = (len(launches) - 1) * percentile / 100
    return launches[math.floor(place) if percentile < 50 else math.ceil(place)]


def rising(times: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the nearest curve, by squares of logarithms, on which a longer message is never faster.

    Falling times are disturbed: such neighbours share their geometric mean (pool adjacent violators; M. Ayer et al.,
    Annals of Mathematical Statistics 26 (1955) 641).
    """
    pools: list[list[float]] = []  # sum of logarithms, how many
    for _, seconds in times:
        pools.append([math.log(seconds), 1])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
            total, count = pools.pop()
            pools[-1][0] += total
            pools[-1][1] += count
    means = [math.exp(total / count) for total, count in pools for _ in range(int(count))]
    return [(size, mean) for (size, _), mean in zip(times, means, strict=True)]


def _misfit(measured: Sequence[tuple[float, float]], curve: Sequence[tuple[float, float]]) -> float:
    errors = [taken / seconds - 1 for (_, seconds), (_, taken) in zip(measured, curve, strict=True)]
    return math.sqrt(sum(e * e for e in errors) / len(errors))


def _separated(nodes: int, exchanged: bool, hint: str) -> list[str]:
    notes = [
        "ping-pong shows only the sum L + 2 o; "
        + (
            "on one node the processors copy messages, so the whole sum counts as o"
            if nodes == 1
            else "half of the sum counts as L, a quarter as each o"
        ),
        "the gap g between consecutive messages is not measured and is set to o",
    ]
    if exchanged:
        notes.append("O is the extra time of a two-way exchange over a one-way message, by size")
    elif nodes == 1:
        notes.append("O is set to G: on one node the processors copy the data")
    else:
        notes.append("O is set to 0: between nodes the network interfaces copy the data")
    if hint:
        notes.append(f"adding and copying within a rank are not included: the run did not measure copying; {hint}")
    return notes
