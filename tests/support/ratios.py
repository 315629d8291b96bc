"""Ratios computed again: of two medians, and the exact interval of Hodges and Lehmann over the launches.

Nothing of firstlight is imported."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist
from typing import Any

CONFIDENCE = 0.95
EXACT = 3600  # the largest number of pairs for which the distribution of the statistic is counted


def of_medians(a: Any, b: Any) -> float:
    """Return b / a; a zero counts as a thousandth of the other."""
    x, y = float(a), float(b)
    least = min((v for v in (x, y) if v > 0), default=1.0) / 1000
    return (y or least) / (x or least)


def low(a: Any, b: Any) -> float:
    return min(_ends(a, b))


def high(a: Any, b: Any) -> float:
    return max(_ends(a, b))


def _ends(a: Any, b: Any) -> list[float]:
    """Return the ends of the interval of b / a, the ratio of the medians, and those of the states of the launches."""
    some = sorted(math.exp(y - x) for x in _logs(a.launches, b.launches) for y in _logs(b.launches, a.launches))
    k = _rank(len(a.launches), len(b.launches))
    ends = [some[k - 1], some[len(some) - k], of_medians(a, b)]
    if a.row.get("states") or b.row.get("states"):
        both = [f.row.get("states") or {"lower": float(f), "upper": float(f)} for f in (a, b)]
        ends += [of_medians(both[0][level], both[1][level]) for level in ("lower", "upper")]
    return ends


def _logs(values: list[float], others: list[float]) -> list[float]:
    least = min((v for v in (*values, *others) if v > 0), default=1.0) / 1000
    return [math.log(v or least) for v in values]


def _rank(m: int, n: int) -> int:
    """Return the largest k such that k - 1 or fewer pairs are as likely as half of what the confidence leaves."""
    return max(k for k in range(1, m * n // 2 + 1) if _below(k - 1, m, n) <= (1 - CONFIDENCE) / 2 + 1e-12)


def _below(u: int, m: int, n: int) -> float:
    """Return the probability that at most u of the pairs are in order, if both samples are alike."""
    if m * n <= EXACT:
        return sum(_orders(m, n)[: u + 1]) / math.comb(m + n, m)
    return NormalDist(m * n / 2, math.sqrt(m * n * (m + n + 1) / 12)).cdf(u + 0.5)


@cache
def _orders(m: int, n: int) -> tuple[int, ...]:
    """Return the number of orders of m + n values by the number of pairs in order: the last value is of either."""
    if m == 0 or n == 0:
        return (1,)
    one, other = _orders(m - 1, n), _orders(m, n - 1)
    found = [0] * (m * n + 1)
    for u, ways in enumerate(one):
        found[u + n] += ways
    for u, ways in enumerate(other):
        found[u] += ways
    return tuple(found)
