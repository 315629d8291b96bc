"""Who is with whom: pairs of nodes in rounds, those of a round all at once.

The circle method (as for tournaments, E. Lucas, Recreations mathematiques, 1883): node 0 stays, the others go round; of
n nodes each meets each in n - 1 rounds, in n of an odd number.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

MOST_ROUNDS = 63
"""Rounds that are measured: all of up to 64 nodes; of more nodes as many, drawn from all."""

Pair = tuple[int, int]


def rounds(nodes: int) -> list[list[Pair]]:
    """Disjoint pairs, the lower number first; every pair of 0 .. nodes - 1 once."""
    ring: list[int | None] = [*range(nodes), *([None] if nodes % 2 else [])]
    made = []
    for _ in range(len(ring) - 1):
        half = len(ring) // 2
        met = zip(ring[:half], reversed(ring[half:]), strict=True)
        made.append(sorted((min(a, b), max(a, b)) for a, b in met if a is not None and b is not None))
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return made


def sampled(nodes: int, seed: int, most: int = MOST_ROUNDS) -> tuple[list[list[Pair]], int]:
    """At most so many rounds, in the order in which they came, and how many were left out."""
    every: Sequence[list[Pair]] = rounds(nodes)
    kept = sorted(random.Random(seed).sample(range(len(every)), min(most, len(every))))
    return [every[k] for k in kept], len(every) - len(kept)
