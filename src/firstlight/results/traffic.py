"""Traffic: messages and bytes between each two ranks, by phase and kind of call, and the share of time in MPI."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from firstlight.execute.recorder.calls import Group

SCHEMA = 1
PROFILE = "profile.json"
"""The file name of a profile in its folder."""


class Pair(msgspec.Struct, frozen=True, array_like=True):
    """The traffic from rank `source` to rank `target` (ranks of MPI_COMM_WORLD). In JSON, a list of four numbers."""

    source: int
    target: int
    messages: int
    bytes: int


class Size(msgspec.Struct, frozen=True, array_like=True):
    """Messages whose length has `digits` binary digits: 0 B, 1 B, 2 - 3 B, 4 - 7 B, ... A list of three in JSON."""

    digits: int
    messages: int
    bytes: int

    @property
    def least(self) -> int:
        """Return the length of the shortest such message in bytes."""
        return 1 << (self.digits - 1) if self.digits else 0


class Kind(msgspec.Struct, frozen=True):
    """One MPI function, summed over all ranks. `bytes`: sent or contributed by the callers.

    `group`: point-to-point, one-sided and neighbourhood calls name their peers and are in the pairs. Collective calls
    are not in the pairs, because MPI prescribes no route for them. Receives, waits, setup and file calls send nothing.
    `waiting`: a lower bound of the seconds that ranks waited in this function, if known (see `waiting`).
    """

    name: str
    group: Group
    calls: int
    bytes: int
    seconds: float
    waiting: float | None = None


class Phase(msgspec.Struct, frozen=True):
    """The messages and calls of one phase, which MPI_Pcontrol(level) starts. A program starts in phase 1."""

    level: int
    seconds: float  # the longest of any rank
    kinds: tuple[Kind, ...]
    pairs: tuple[Pair, ...]  # by source, then target
    unknown: Pair | None = None  # with processes outside MPI_COMM_WORLD; source and target are -1
    sizes: tuple[Size, ...] = ()  # of all messages that name their peer, ascending

    @property
    def bytes(self) -> int:
        return sum(p.bytes for p in self.pairs)

    @property
    def messages(self) -> int:
        return sum(p.messages for p in self.pairs)


class Rank(msgspec.Struct, frozen=True):
    """The time of one rank over all phases: `seconds` from MPI_Init to its end (`how`), `mpi` of them inside MPI calls.

    node: the same number for all ranks of a node, without other meaning. cpus: ranges of processors that the rank may
    use. processor: seconds of processor time, over all threads of the rank.
    """

    rank: int
    seconds: float
    recorded: float  # while recording was on
    mpi: float
    complete: bool
    how: str
    node: str = ""
    cpus: tuple[tuple[int, int], ...] = ()
    processor: float | None = None


class Cost(msgspec.Struct, frozen=True):
    """The time of a message on this machine: (bytes, seconds), ascending; the run that measured it; and its number
    of nodes.
    """

    source: str
    nodes: int
    curve: tuple[tuple[int, float], ...]


class Traffic(msgspec.Struct, frozen=True):
    """The profile of one job. `missing`: ranks without a record, because they were killed or could not write it."""

    id: str
    firstlight: str
    command: tuple[str, ...]
    status: int  # exit status of the command; negative: ended by that signal
    mpi: str  # as the library calls itself
    ranks: int
    times: tuple[Rank, ...]
    phases: tuple[Phase, ...]
    missing: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    cost: Cost | None = None
    schema: int = SCHEMA

    @property
    def complete(self) -> bool:
        return not self.missing and all(r.complete for r in self.times)


def whole(traffic: Traffic) -> Phase:
    """Combine all phases into one."""
    if len(traffic.phases) == 1:
        return traffic.phases[0]
    kinds: dict[str, list[Kind]] = {}
    pairs: dict[tuple[int, int], list[Pair]] = {}
    for phase in traffic.phases:
        for kind in phase.kinds:
            kinds.setdefault(kind.name, []).append(kind)
        for pair in phase.pairs:
            pairs.setdefault((pair.source, pair.target), []).append(pair)
    unknown = [p.unknown for p in traffic.phases if p.unknown is not None]
    return Phase(
        0,
        sum(p.seconds for p in traffic.phases),
        tuple(
            Kind(
                name,
                some[0].group,
                sum(k.calls for k in some),
                sum(k.bytes for k in some),
                sum(k.seconds for k in some),
                None if any(k.waiting is None for k in some) else sum(k.waiting or 0.0 for k in some),
            )
            for name, some in kinds.items()
        ),
        tuple(_sum(a, b, some) for (a, b), some in sorted(pairs.items())),
        _sum(-1, -1, unknown) if unknown else None,
        add_sizes(size for phase in traffic.phases for size in phase.sizes),
    )


def add_sizes(some: Iterable[Size]) -> tuple[Size, ...]:
    """Add up the messages of each class of sizes, in ascending order."""
    found: dict[int, tuple[int, int]] = {}
    for s in some:
        messages, size = found.get(s.digits, (0, 0))
        found[s.digits] = messages + s.messages, size + s.bytes
    return tuple(Size(digits, *found[digits]) for digits in sorted(found))


def _sum(source: int, target: int, some: list[Pair]) -> Pair:
    return Pair(source, target, sum(p.messages for p in some), sum(p.bytes for p in some))
