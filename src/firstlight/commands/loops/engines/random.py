"""Random: draw random candidates, each change with a probability of 1/3; a baseline for the other engines."""

from __future__ import annotations

from random import Random

from firstlight.commands.loops.engines import Score, Space

SHARE = 1 / 3
DRAWS = 10_000  # a small space is through long before


def search(space: Space, score: Score, random: Random) -> None:
    seen = set()
    for _ in range(DRAWS):
        point = {name: random.choice(values[1:]) for name, values in space.items() if random.random() < SHARE}
        key = tuple(sorted(point.items()))
        if point and key not in seen:
            seen.add(key)
            score(point)
