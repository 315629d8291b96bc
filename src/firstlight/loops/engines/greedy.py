"""Greedy: one change after the other, of each the value that helps most on top of what was kept before."""

from __future__ import annotations

from random import Random

from firstlight.loops.engines import Score, Space

GAIN = 0.97  # what is kept has to be so much faster: a search among equals would follow noise


def search(space: Space, score: Score, random: Random) -> None:
    best: dict[str, str] = {}
    reached = 1.0
    for _ in range(2):  # what did not help alone may help beside what was kept later
        before = dict(best)
        for name, values in space.items():
            tried = {value: score({**best, name: value}) for value in values if value != best.get(name, "") and value}
            value = min(tried, key=lambda v: tried[v], default="")
            if value and tried[value] < GAIN * reached:
                best[name], reached = value, tried[value]
        if best == before:
            return
