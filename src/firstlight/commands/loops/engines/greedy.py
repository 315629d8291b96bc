"""Greedy: add one change after another, each with the values that help most on top of the changes kept before.

The search keeps the best few sets of changes: some changes help only together with one that has no effect alone.
"""

from __future__ import annotations

from random import Random

from firstlight.commands.loops.engines import Score, Space

GAIN = 0.97  # what is kept has to be so much faster: a search among equals would follow noise
BEAM = 2


def search(space: Space, score: Score, random: Random) -> None:
    kept: list[tuple[float, dict[str, str]]] = [(1.0, {})]
    for _ in range(2):  # a change that did not help alone may help together with a later one
        before = kept
        for name, values in space.items():
            tried = [(score(one), one) for _, point in kept for one in _with(point, name, values)]
            kept = _best([*kept, *tried])
        if kept == before:
            return


def _with(point: dict[str, str], name: str, values: tuple[str, ...]) -> list[dict[str, str]]:
    """Return the point with each other value of a change, and without the change; golden itself is left out."""
    rest = {key: value for key, value in point.items() if key != name}
    others = [{**rest, name: value} if value else rest for value in values if value != point.get(name, "")]
    return [one for one in others if one]


def _best(some: list[tuple[float, dict[str, str]]]) -> list[tuple[float, dict[str, str]]]:
    """Return the BEAM best points; of those within GAIN of the fastest, the one with the fewest changes is first."""
    first = min(some, key=lambda one: one[0])
    simple = min((one for one in some if GAIN * one[0] <= first[0]), key=lambda one: (len(one[1]), one[0]))
    others = sorted((one for one in some if one[1] != simple[1]), key=lambda one: (one[0], -len(one[1])))
    return [simple, *others[: BEAM - 1]]
