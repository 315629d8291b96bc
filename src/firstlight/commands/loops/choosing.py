"""Choosing: decide which candidate runs at which trip counts. A range is between two measured trip counts.

A candidate is used in a range only if it was faster than golden, outside of its interval, at both ends. A range in
which the whole function is not faster goes back to golden.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import geometric_mean
from typing import NamedTuple

from firstlight.commands.loops import Pragma
from firstlight.commands.loops.change import Piece
from firstlight.commands.loops.dispatch import Version
from firstlight.commands.loops.judging import Judged
from firstlight.commands.loops.trial import points
from firstlight.core.units import significant

MARKS = 7
ANOTHER = 0.97  # what another candidate has to gain on the one of the range before: each costs code and a comparison


class Range(NamedTuple):
    """Trip counts from `low` to below `high`, which begins the next range; in the last range both are equal."""

    low: int
    high: int


Times = Mapping[str, Mapping[int, Judged]]
"""Candidates compared with golden, by label and by trip count."""


def marks(pragma: Pragma) -> list[int]:
    return points(pragma, MARKS)


def ranges(at: Sequence[int]) -> list[Range]:
    """Return ranges between neighbours and one for the last trip count: powers of two there behave unlike others."""
    return [Range(a, b) for a, b in zip(at, [*at[1:], at[-1]], strict=True)]


def middles(pragma: Pragma, some: Sequence[Range]) -> list[int]:
    """Return a trip count near the middle of each range, if candidates are made for any there."""
    found = []
    for low, high in some:
        about = round((low * high) ** 0.5)
        near = (t for d in range(65) for t in (about + d, about - d))
        found += [next((t for t in near if low < t < high and pragma.takes(t)), 0)]
    return [t for t in found if t]


def best(times: Times, some: Sequence[Range]) -> list[str]:
    """Return a label for each range: the fastest candidate that is faster at both ends, or "" for golden."""
    found: list[str] = []
    for low, high in some:
        means = {
            label: geometric_mean([by[low].ratio, by[high].ratio])
            for label, by in times.items()
            if by[low].faster and by[high].faster
        }
        label = min(means, key=lambda t: means[t], default="")
        before = found[-1] if found else ""
        found.append(before if before in means and means[before] * ANOTHER <= means[label] else label)
    return found


def place(some: Sequence[Range], trip: int) -> int:
    """Return the index of the range that contains the trip count."""
    return max(k for k, one in enumerate(some) if one.low <= trip or k == 0)


def given_back(chosen: Sequence[str], some: Sequence[Range], rows: Sequence[Judged]) -> list[str]:
    """Return the choice with golden in each range in which the whole function was not always faster."""
    found = list(chosen)
    for row in rows:
        if not row.faster:
            found[place(some, row.trip)] = ""
    return found


def versions(chosen: Sequence[str], some: Sequence[Range], pieces: Mapping[str, Piece], times: Times) -> list[Version]:
    """Return the versions for the dispatcher; neighbouring ranges with the same candidate become one version."""
    found: list[Version] = []
    for k, (label, one) in enumerate(zip(chosen, some, strict=True)):
        if k == 0 or label != chosen[k - 1]:
            gain = f"{label}: {significant(1 / times[label][one.low].ratio)} x at {one.low} turns" if label else ""
            found.append(Version(one.low, pieces[label] if label else None, gain))
    return found
