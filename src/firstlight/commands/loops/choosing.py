"""Choosing: which candidate runs at which trip counts. A range lies between two trip counts that were measured.

A candidate is taken in a range only if it was faster than golden, outside of its interval, at both ends. What proves
otherwise when the whole function is tried goes back to golden, range by range.
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
    """Trip counts from `low` up to `high`, which belongs to the next range; of the last one both are the same."""

    low: int
    high: int


Times = Mapping[str, Mapping[int, Judged]]
"""Candidates beside golden: by what was changed, by trip count."""


def marks(pragma: Pragma) -> list[int]:
    return points(pragma, MARKS)


def ranges(at: Sequence[int]) -> list[Range]:
    """Between neighbours, and the last by itself: powers of two, which often end a range, behave as no others do."""
    return [Range(a, b) for a, b in zip(at, [*at[1:], at[-1]], strict=True)]


def middles(pragma: Pragma, some: Sequence[Range]) -> list[int]:
    """A trip count within each range, where it has one that candidates are made for."""
    found = []
    for low, high in some:
        about = round((low * high) ** 0.5)
        near = (t for d in range(65) for t in (about + d, about - d))
        found += [next((t for t in near if low < t < high and pragma.takes(t)), 0)]
    return [t for t in found if t]


def best(times: Times, some: Sequence[Range]) -> list[str]:
    """What to take in each range: the fastest of those that are faster at both ends; "": golden."""
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
    """The range that a trip count belongs to."""
    return max(k for k, one in enumerate(some) if one.low <= trip or k == 0)


def given_back(chosen: Sequence[str], some: Sequence[Range], rows: Sequence[Judged]) -> list[str]:
    """The choice with golden in each range in which the whole function was not faster at every trip count tried."""
    found = list(chosen)
    for row in rows:
        if not row.faster:
            found[place(some, row.trip)] = ""
    return found


def versions(chosen: Sequence[str], some: Sequence[Range], pieces: Mapping[str, Piece], times: Times) -> list[Version]:
    """For the dispatcher: neighbours that are the same are one."""
    found: list[Version] = []
    for k, (label, one) in enumerate(zip(chosen, some, strict=True)):
        if k == 0 or label != chosen[k - 1]:
            gain = f"{label}: {significant(1 / times[label][one.low].ratio)} x at {one.low} turns" if label else ""
            found.append(Version(one.low, pieces[label] if label else None, gain))
    return found
