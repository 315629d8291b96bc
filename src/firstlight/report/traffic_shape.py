"""Shape: a description of a communication matrix, in numbers and in one sentence each."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence

from firstlight.core.units import count, percent
from firstlight.results.traffic import Pair, Phase, Traffic

NEAR = 0.5
"""The share of the bytes from which on a sentence mentions a set of distances."""


def others(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs of two different ranks."""
    return [p for p in pairs if p.source != p.target]


def neighbours(phase: Phase, ranks: int) -> list[int]:
    """Return how many other ranks each rank sends to."""
    counted = Counter(p.source for p in others(phase.pairs))
    return [counted.get(rank, 0) for rank in range(ranks)]


def distances(phase: Phase, ranks: int) -> list[tuple[int, float]]:
    """Return (`d`, share of the bytes to rank r + d or r - d, with wrap-around), the largest share first."""
    amounts: Counter[int] = Counter()
    for p in others(phase.pairs):
        away = abs(p.source - p.target)
        amounts[min(away, ranks - away)] += p.bytes
    total = amounts.total()
    return [(d, n / total) for d, n in sorted(amounts.items(), key=lambda i: (-i[1], i[0]))] if total else []


def one_sidedness(phase: Phase) -> float:
    """Return the share of the bytes between ranks without a counterpart in return: 0 symmetric, 1 one way only."""
    amounts = {(p.source, p.target): p.bytes for p in others(phase.pairs)}
    total = sum(amounts.values())
    back = sum(min(n, amounts.get((b, a), 0)) for (a, b), n in amounts.items())
    return 1 - back / total if total else 0.0


def imbalance(phase: Phase, ranks: int) -> float:
    """Return the bytes of the busiest sender relative to the mean of all ranks; 0 if nothing is sent."""
    sent: Counter[int] = Counter()
    for p in others(phase.pairs):
        sent[p.source] += p.bytes
    return max(sent.values()) * ranks / sent.total() if sent.total() else 0.0


def peers_sentence(phase: Phase, ranks: int) -> str:
    """Return `Each rank sends to 4 others`."""
    counts = neighbours(phase, ranks)
    if not any(counts):
        return "No rank sends to another rank"
    if min(counts) == max(counts):
        return f"Each rank sends to {count(counts[0], 'other')}"
    middle = int(statistics.median_low(counts))
    return f"Ranks send to {min(counts)} to {count(max(counts), 'other')} (half of them to at most {middle})"


def distance_sentence(phase: Phase, ranks: int) -> str:
    """Return `92 % of the bytes go to ranks r ± 1`; "" if it would be trivial."""
    found = distances(phase, ranks)
    if not found or ranks <= 3:  # everyone is a neighbour then
        return ""
    taken, share = [], 0.0
    for distance, part in found[:3]:
        taken.append(distance)
        share += part
        if share >= 0.9:
            break
    if share < NEAR or (len(found) <= 3 and len(taken) == ranks // 2 > 1):
        return (
            f"the bytes go to ranks at {len(found)} distances, the most ({percent(found[0][1])}) to r ± {found[0][0]}"
        )
    where = (
        " and ".join(f"r ± {d}" for d in sorted(taken))
        if len(taken) < 3
        else ", ".join(f"r ± {d}" for d in sorted(taken))
    )
    return f"{percent(share)} of the bytes go to ranks {where}"


def itself_sentence(phase: Phase) -> str:
    """Return `63 % of all bytes go from a rank to itself`; "" if no rank sends to itself."""
    own, total = (sum(p.bytes for p in some) for some in (set(phase.pairs) - set(others(phase.pairs)), phase.pairs))
    return f"{percent(own / total)} of all bytes go from a rank to itself" if own else ""


def symmetry_sentence(phase: Phase) -> str:
    """Return a sentence on whether traffic is symmetric."""
    share = one_sidedness(phase)
    if not others(phase.pairs):
        return "there is no traffic between ranks"
    if share < 0.005:
        return "every pair of ranks sends the same amount in both directions"
    return f"{percent(share)} of the bytes have no counterpart in the other direction"


def title(phase: Phase, ranks: int) -> str:
    """Return the title of the matrix: its peers and its distances."""
    parts = [peers_sentence(phase, ranks), distance_sentence(phase, ranks), itself_sentence(phase)]
    return "; ".join(part for part in parts if part)


def mpi_share(traffic: Traffic) -> float:
    """Return the share of the recorded time of all ranks that was spent inside MPI."""
    recorded = sum(r.recorded for r in traffic.times)
    return sum(r.mpi for r in traffic.times) / recorded if recorded else 0.0


def blocks(pairs: Sequence[Pair], ranks: int, most: int) -> tuple[int, dict[tuple[int, int], tuple[int, int]]]:
    """Return (`width`, {(row, column): (messages, bytes)}): at most `most` x `most` blocks of `width` ranks each."""
    width = max(1, -(-ranks // most))
    sums: dict[tuple[int, int], tuple[int, int]] = {}
    for p in pairs:
        place = p.source // width, p.target // width
        messages, size = sums.get(place, (0, 0))
        sums[place] = messages + p.messages, size + p.bytes
    return width, sums
