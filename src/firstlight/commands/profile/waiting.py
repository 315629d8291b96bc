"""Waiting: find shared processors, and the time inside MPI that cannot have been spent moving data.

Only the total time of a call that ends when its partner is ready is known. Two bounds are valid nevertheless:

- In a collective from which no rank returns before all have entered (barrier, allreduce, ...), the last rank to enter
  does not wait, so the least time of any rank bounds the duration of the call itself. The time of a rank beyond the
  least sum over its calls is waiting.
- Messages between two ranks last no longer than the ping-pong of this machine shows, once at each end, unless messages
  are in each other's way. Time beyond that in sends, receives and waits is waiting for a partner, or contention.

Both are lower bounds of waiting, and neither means anything if ranks wait for a processor.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence

import msgspec

from firstlight.results.traffic import Cost, Phase, Rank, Size, Traffic, whole

SYNCHRONISING = frozenset(
    f"MPI_{name}"
    for name in (
        "Barrier", "Allreduce", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw", "Reduce_scatter",
        "Reduce_scatter_block",
    )
)  # fmt: skip
"""Collectives from which no rank returns before all ranks have entered."""
_BETWEEN_TWO = ("point-to-point", "receiving", "waiting")
_MOST_SETS = 512  # of processors on a node that are looked at one by one


class Crowd(msgspec.Struct, frozen=True):
    """`ranks` of one node may use `processors` only, fewer than they are."""

    ranks: int
    processors: int


class Split(msgspec.Struct, frozen=True):
    """Seconds of all ranks: inside the calls that were looked at, and of these at least so many waiting.

    `transfer`: the maximum time of moving the data, at both ends; None for collectives.
    """

    inside: float
    waiting: float
    transfer: float | None = None


def processors(rank: Rank) -> frozenset[int]:
    """Return the processors that a rank may use; empty if it could not determine them."""
    return frozenset(cpu for first, last in rank.cpus for cpu in range(first, last + 1))


def crowds(times: Sequence[Rank]) -> list[Crowd]:
    """Return the most crowded set of processors of each node that has more ranks than processors in a set."""
    nodes: dict[str, Counter[frozenset[int]]] = defaultdict(Counter)
    for rank in times:
        if rank.node and rank.cpus:
            nodes[rank.node][processors(rank)] += 1
    found = []
    for sets in nodes.values():
        union: frozenset[int] = frozenset().union(*sets)
        tried = [union, *sets] if len(sets) <= _MOST_SETS else [union]
        here = [Crowd(sum(n for s, n in sets.items() if s <= one), len(one)) for one in tried]
        worst = max(here, key=lambda c: c.ranks / c.processors)
        if worst.ranks > worst.processors:
            found.append(worst)
    return found


def nodes(traffic: Traffic) -> int:
    """Return the number of nodes of the ranks; 0 if they could not determine it."""
    return len({r.node for r in traffic.times if r.node})


def in_collectives(phase: Phase) -> Split | None:
    """Split the time in collectives that all ranks call equally often; return None if there is none."""
    some = [k for k in phase.kinds if k.waiting is not None]
    if not some:
        return None
    return Split(sum(k.seconds for k in some), sum(k.waiting or 0.0 for k in some))


def between_two(traffic: Traffic) -> tuple[Split | None, str]:
    """Split the time in messages between two ranks; or return None and the reason why it cannot be split."""
    total = whole(traffic)
    inside = sum(k.seconds for k in total.kinds if k.group in _BETWEEN_TWO)
    if not inside or not total.sizes:
        return None, ""
    other = [k.name for k in total.kinds if k.calls and _waited_for_elsewhere(k.name, k.group)]
    if other:
        return None, f"waits may also complete {other[0]}, so their time cannot be split"
    if traffic.cost is None:
        return (
            None,
            "the newest run here did not measure messages",
        )
    if nodes(traffic) > 1 and traffic.cost.nodes < 2:
        return (
            None,
            "the newest run here did not measure messages between nodes",
        )
    transfer = 2 * sum(s.messages * cost_of(traffic.cost, s) for s in total.sizes)
    return Split(inside, max(0.0, inside - transfer), transfer), ""


def _waited_for_elsewhere(name: str, group: str) -> bool:
    """Return whether MPI_Wait completes such calls although they are not messages between two ranks."""
    stem = name.removeprefix("MPI_")
    if group in ("collective", "neighbourhood"):
        return stem.startswith("I") or stem.endswith("_init")
    return (group == "one-sided" and stem.startswith("R")) or (group == "files" and stem.startswith("File_i"))


def cost_of(cost: Cost, size: Size) -> float:
    """Return the seconds of one message of a class of sizes, at its mean size; interpolate between measured sizes."""
    at = size.bytes / size.messages if size.messages else 0.0
    xs = [b for b, _ in cost.curve]
    k = bisect_left(xs, at)
    if k == 0:
        return cost.curve[0][1]
    if k == len(xs):
        return cost.curve[-1][1] * at / xs[-1] if xs[-1] else cost.curve[-1][1]
    (x0, t0), (x1, t1) = cost.curve[k - 1], cost.curve[k]
    return t0 + (t1 - t0) * (at - x0) / (x1 - x0)
