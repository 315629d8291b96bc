"""Exhaustive: try every combination, those with few changes first, until the budget is spent."""

from __future__ import annotations

from itertools import combinations, product
from random import Random

from firstlight.commands.loops.engines import Score, Space


def search(space: Space, score: Score, random: Random) -> None:
    for count in range(1, len(space) + 1):
        for some in combinations(space, count):
            for values in product(*(space[name][1:] for name in some)):
                score(dict(zip(some, values, strict=True)))
