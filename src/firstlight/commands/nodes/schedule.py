"""Schedule: form rounds of pairs of nodes; the pairs of a round run simultaneously.

The circle method (as for tournaments, E. Lucas, Recreations mathematiques, 1883): node 0 stays, the others rotate. Each
of n nodes meets every other one in n - 1 rounds if n is even, and in n rounds if n is odd.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

MOST_ROUNDS = 63
"""Maximum number of measured rounds: all rounds of up to 64 nodes, a random sample of the rounds of more nodes."""

Pair = tuple[int, int]


def rounds(nodes: int) -> list[list[Pair]]:
    """Return rounds of disjoint pairs, the lower number first; every pair of 0 .. nodes - 1 occurs once."""
    ring: list[int | None] = [*range(nodes), *([None] if nodes % 2 else [])]
    made = []
    for _ in range(len(ring) - 1):
        half = len(ring) // 2
        met = zip(ring[:half], reversed(ring[half:]), strict=True)
        made.append(sorted((min(a, b), max(a, b)) for a, b in met if a is not None and b is not None))
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return made


def sampled(nodes: int, seed: int, most: int = MOST_ROUNDS) -> tuple[list[list[Pair]], int]:
    """Return at most `most` randomly selected rounds in their order, and the number of rounds that were left out."""
    every: Sequence[list[Pair]] = rounds(nodes)
    kept = sorted(random.Random(seed).sample(range(len(every)), min(most, len(every))))
    return [every[k] for k in kept], len(every) - len(kept)
