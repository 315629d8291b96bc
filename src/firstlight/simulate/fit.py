"""Fit: LogGOPS parameters of this machine's messages from the verified ping-pong figures of a run.

A. Alexandrov et al., JPDC 44 (1997) 71 (LogGP); T. Hoefler, T. Schneider, A. Lumsdaine, LogGOPSim, HPDC 2010 (O, S);
T. Kielmann, H. Bal, K. Verstoep, Fast Measurement of LogP Parameters, IPDPS 2000 Workshops (a gap for each size).
Half a round trip of m bytes takes L + 2 o + (m - 1) max(G, O). The shortest one is L + 2 o, which ping-pong does not
tell apart: they are set by a convention that is told with the result. What a longer message takes beyond it is G of
that size, so every measured size comes out as it was measured (`rising`): the hand-over from short to long messages
(S) and the ends of caches are in it. An exchange, in which both ends send and receive, takes (m - 1) O longer, which
gives O as a share of G.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

import msgspec

from firstlight.catalogue import Workload
from firstlight.errors import UsageError
from firstlight.judge import Judgement
from firstlight.judge.roles import Played, advice, played, players
from firstlight.judge.verdict import Limit
from firstlight.record import Run
from firstlight.roles import EXCHANGED_MESSAGE, MESSAGE

COPYING = "copy_bandwidth"
"""The ceiling that tells how fast a core copies."""
FEWEST = 3
"""Sizes that a fit needs."""
_NEAR = 1 << 20
_NEVER = 1e15  # bytes: no message waits for its receive, for the rates hold that already
_ON_NODE, _BETWEEN = 0.5, 0.25  # the share of L + 2 o that is one o


class Rate(msgspec.Struct, frozen=True):
    """Seconds a byte, G and O, of messages of so many bytes."""

    bytes: int
    G: float
    O: float  # noqa: E741 (the name in LogGOPS)


class Copying(msgspec.Struct, frozen=True):
    """Seconds a byte that one core copies, or adds to what is there, at the measured bandwidth of copying."""

    copy: float
    reduce: float


class Fitted(msgspec.Struct, frozen=True):
    """What was fitted, for which MPI library, from which run. L, o and g in seconds; `rates` by ascending size.

    `misfit`: the root mean square relative error where a longer message was measured to take less time (`rising`).
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
    separated: tuple[str, ...]  # what ping-pong cannot tell apart, and how it was decided
    copying: Copying | None = None  # None: the run did not measure it, and it counts as nothing
    workload: str = ""  # of the variant

    @property
    def word(self) -> str:
        """The parameters as firstlight-simulate takes them: nanoseconds, nanoseconds a byte.

        A network with links knows an overhead for each message instead of L, o and g.
        """
        found = {name: 1e9 * getattr(self, name) for name in ("L", "o", "g")}
        found |= {"S": _NEVER, "overhead": 1e9 * (self.L + 2 * self.o)}
        if self.copying is not None:
            found |= {"copy": 1e9 * self.copying.copy, "reduce": 1e9 * self.copying.reduce}
        rates = "/".join(f"{r.bytes}:{1e9 * r.G:.4g}:{1e9 * r.O:.4g}" for r in self.rates)
        return ",".join([*(f"{name}={value:.4g}" for name, value in found.items()), f"rates={rates}"])

    @property
    def source(self) -> str:
        """In words."""
        return f"fitted to {self.workload}.{self.variant} of {self.label} in run {self.run}"


def fitted(judgement: Judgement, workloads: Mapping[str, Workload], mpi: str | None = None) -> list[Fitted]:
    """One fit for every MPI library whose messages are verified at FEWEST sizes or more, sorted by name.

    `mpi`: only that one. Raises UsageError where there is none, saying what measures it.
    """
    run = judgement.run
    messages, exchanged = (_messages(judgement, workloads, role, mpi) for role in (MESSAGE, EXCHANGED_MESSAGE))
    copying = _copying(judgement.limits)
    hint = "" if copying is not None else advice(workloads, [], [COPYING])
    names = sorted({p.identity.mpi for p in messages if p.identity.mpi})
    found = [fit for name in names if (fit := _fit(run, messages, exchanged, name, copying, hint)) is not None]
    if not found:
        of = f" with {mpi}" if mpi else ""
        raise UsageError(
            f"run {run.id} has no verified ping-pong{of} at {FEWEST} sizes or more; "
            + advice(workloads, [MESSAGE], [COPYING], mpi)
        )
    return found


def _messages(judgement: Judgement, workloads: Mapping[str, Workload], role: str, mpi: str | None) -> list[Played]:
    """Verified messages between two ranks, those to be preferred first."""
    some = played(judgement.figures, players(workloads, role), judgement.run.machine)
    mine = [p for p in some if p.identity.placement.ranks == 2 and mpi in (None, p.identity.mpi)]
    return sorted(mine, key=lambda p: (p.place, p.program))


def _fit(
    run: Run, messages: Sequence[Played], exchanged: Sequence[Played], mpi: str, copying: Copying | None, hint: str
) -> Fitted | None:
    """`hint`: how to measure what copying takes, where the run did not."""
    mine = [p for p in messages if p.identity.mpi == mpi]
    nodes = max(p.identity.placement.nodes for p in mine)  # what joins nodes, where that was measured
    mine = [p for p in mine if p.identity.placement.nodes == nodes]
    curves = {name: times(p for p in mine if p.program == name) for name in dict.fromkeys(p.program for p in mine)}
    program = next((name for name, curve in curves.items() if len(curve) >= FEWEST), None)
    if program is None:
        return None
    curve = rising(curves[program])
    label = next((m.label for m in run.toolbox.mpis if m.name == mpi), mpi)
    ways = [p for p in exchanged if p.identity.mpi == mpi and p.identity.placement.nodes == nodes]
    both = dict(rising(times(ways)))
    shortest, share = curve[0][1], _share(curve, both, nodes)
    o = (_ON_NODE if nodes == 1 else _BETWEEN) * shortest
    workload, _, variant = program.partition(".")
    return Fitted(
        run=run.id,
        mpi=mpi,
        label=label,
        variant=variant,
        nodes=nodes,
        L=shortest - 2 * o,
        o=o,
        g=o,
        rates=tuple(_rates(curve, share)),
        misfit=_misfit(curves[program], curve),
        separated=tuple(_separated(nodes, bool(both), hint)),
        copying=copying,
        workload=workload,
    )


def _rates(curve: Sequence[tuple[float, float]], share: float) -> Iterable[Rate]:
    """G and O at every size of two bytes or more; O is a share of G."""
    shortest = curve[0][1]
    for m, seconds in curve:
        if m >= 2:
            gap = (seconds - shortest) / (m - 1)
            yield Rate(int(m), gap, share * gap)


def _share(curve: Sequence[tuple[float, float]], both: Mapping[float, float], nodes: int) -> float:
    """What an exchange takes longer than a message one way, over what bytes add to that: the median over the sizes.

    Sizes count at which bytes are most of the time. On one node processors copy, so without any exchange it is 1.
    """
    shortest = curve[0][1]
    some = [(both[m] - seconds) / (seconds - shortest) for m, seconds in curve if m in both and seconds > 2 * shortest]
    if not some:
        return 1.0 if nodes == 1 else 0.0
    return min(max(median(some), 0.0), 1.0)


def _copying(limits: Sequence[Limit]) -> Copying | None:
    """From the bandwidth at which one core copies (STREAM); adding moves half as much again.

    What has just arrived lies in a cache, but not in the nearest one: of working sets that nearest to 1 MiB counts.
    """
    some = [x for x in limits if x.name == COPYING and x.cores == 1 and x.value > 0]
    if not some:
        return None
    best = min(some, key=lambda x: abs(math.log((x.working_set or _NEAR) / _NEAR)))
    return Copying(2 / best.value, 3 / best.value)


def times(some: Iterable[Played]) -> list[tuple[float, float]]:
    """(bytes, seconds one way), ascending; the least of several toolchains and programs."""
    found: dict[float, float] = {}
    for p in some:
        size, seconds = p.size, p.seconds()
        if size is not None and seconds:
            found[size] = min(seconds, found.get(size, seconds))
    return sorted(found.items())


def rising(times: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The nearest curve, in the squares of logarithms, on which a longer message never takes less time.

    What falls was disturbed: neighbours that fall share their geometric mean (pool adjacent violators; M. Ayer et al.,
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
    errors = [taken / told - 1 for (_, told), (_, taken) in zip(measured, curve, strict=True)]
    return math.sqrt(sum(e * e for e in errors) / len(errors))


def _separated(nodes: int, exchanged: bool, hint: str) -> list[str]:
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
        said.append("O is a share of G: what an exchange takes longer than a message one way, the median over sizes")
    elif nodes == 1:
        said.append("O is set to G: on one node the processors copy")
    else:
        said.append("O is set to 0: between nodes the interfaces copy")
    if hint:
        said.append(f"adding and copying within a rank count as nothing: the run did not measure copying; {hint}")
    return said
