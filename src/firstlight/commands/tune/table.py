"""Table: map collectives, numbers of ranks and sizes to algorithms; without an entry the library decides."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec

LIBRARY = "library"
"""The neutral choice: the library's own decision."""

BLOCKWISE = frozenset({"allgather", "reduce_scatter", "alltoall"})
"""Collectives whose size is that of one rank's block, not of the whole message."""


class Rule(msgspec.Struct, frozen=True):
    """`algorithm` for sizes of `low` up to, not including, `high` bytes on exactly `ranks` ranks."""

    collective: str
    ranks: int
    low: int
    high: int
    algorithm: str


class Table(msgspec.Struct, frozen=True):
    """Rules that do not overlap, none of them for the library's own choice. Made by `table`."""

    rules: tuple[Rule, ...] = ()

    def choose(self, collective: str, ranks: int, size: int) -> str:
        """Return the algorithm for this case; LIBRARY if no rule matches."""
        for rule in self.rules:
            if (rule.collective, rule.ranks) == (collective, ranks) and rule.low <= size < rule.high:
                return rule.algorithm
        return LIBRARY

    def of(self, collective: str, ranks: int) -> list[Rule]:
        return [r for r in self.rules if (r.collective, r.ranks) == (collective, ranks)]

    @property
    def collectives(self) -> list[str]:
        return sorted({r.collective for r in self.rules})

    def ranks(self, collective: str) -> list[int]:
        return sorted({r.ranks for r in self.rules if r.collective == collective})


Choices = Mapping[tuple[str, int], Mapping[int, str]]
"""The algorithm at each measured size, by collective and ranks."""


def table(choices: Choices) -> Table:
    """Return rules between measured sizes. Two neighbours that differ meet at their geometric mean.

    Nothing is chosen below the smallest and above the largest measured size, because nothing was measured there.
    """
    rules: list[Rule] = []
    for (collective, ranks), points in sorted(choices.items()):
        rules += _rules(collective, ranks, sorted(points.items()))
    return Table(tuple(rules))


def _rules(collective: str, ranks: int, points: Sequence[tuple[int, str]]) -> Iterable[Rule]:
    low = points[0][0] if points else 0
    for k, (size, algorithm) in enumerate(points):
        last = k + 1 == len(points)
        if not last and points[k + 1][1] == algorithm:
            continue
        high = size + 1 if last else _between(size, points[k + 1][0])
        if algorithm != LIBRARY:
            yield Rule(collective, ranks, low, high, algorithm)
        low = high


def _between(a: int, b: int) -> int:
    """Return the first size that belongs to the upper of two neighbours."""
    return min(b, max(a + 1, math.isqrt(a * b)))


def ranges(rules: Sequence[Rule], ranks: int, collective: str) -> list[tuple[int, str]]:
    """Return (first byte, algorithm) from 0 without gaps; bytes of blockwise collectives count all ranks together."""
    factor = ranks if collective in BLOCKWISE else 1
    found: list[tuple[int, str]] = [(0, LIBRARY)]
    for rule in sorted(rules, key=lambda r: r.low):
        _put(found, rule.low * factor, rule.algorithm)
        _put(found, (rule.high - 1) * factor + 1, LIBRARY)
    return found


def _put(found: list[tuple[int, str]], at: int, algorithm: str) -> None:
    if found[-1][0] == at:
        found.pop()
    if not found or found[-1][1] != algorithm:
        found.append((at, algorithm))
