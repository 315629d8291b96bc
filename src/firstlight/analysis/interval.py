"""Intervals without a distribution: the median of a sample, and the ratio of two samples.

Everything here is exact for the sample sizes of a run (tens of launches) and plain Python, so importing it is cheap.
For thousands of launches, time and memory are proportional to their number.

Sources: H. A. David and H. N. Nagaraja, Order Statistics, 3rd ed., section 7.1 (interval of a quantile);
J.-Y. Le Boudec, Performance Evaluation of Computer and Communication Systems, section 2.2 (the same, for measurements);
J. L. Hodges and E. L. Lehmann, Ann. Math. Stat. 34 (1963) 598 (shift estimate); H. B. Mann and D. R. Whitney,
Ann. Math. Stat. 18 (1947) 50 (its distribution).
"""

from __future__ import annotations

import math
import operator
import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from statistics import NormalDist, median
from typing import NamedTuple

from firstlight.analysis.verdict import Estimate
from firstlight.core.confidence import LAUNCHES, LEVEL

ZERO = 1000.0  # how many times smaller than the smallest positive value a zero counts in a ratio
_ROUNDING = 1e-12  # of 1 - confidence, which may be met exactly
_LISTED = 1 << 16  # list all differences only up to this m * n
_EXACT = 3600  # the largest m * n for which the Mann-Whitney distribution is counted out


class Ratio(NamedTuple):
    """The ratio b / a of two samples: the Hodges-Lehmann estimate and its interval.

    `low` and `high` are None if the samples are too small for the requested confidence.
    """

    value: float
    low: float | None
    high: float | None


def estimate(values: Sequence[float]) -> Estimate:
    """Return the median of `values` (one per launch, in the order of time) with its interval, if they suffice for one.

    Raises ValueError for an empty sample.
    """
    if not values:
        raise ValueError("an empty sample has no median")
    low, high = median_interval(values) or (None, None)
    return Estimate(float(median(values)), low, high, tuple(float(v) for v in values))


def median_interval(values: Sequence[float], confidence: float = LEVEL) -> tuple[float, float] | None:
    """Return the order statistics x(k), x(n+1-k) that enclose the median with at least `confidence`, or None.

    The number of values below the median is binomial (n, 1/2), whatever the distribution; with ties the coverage only
    grows.
    """
    n = len(values)
    k = _binomial_rank(n, confidence)
    if n < LAUNCHES or k == 0:
        return None
    ordered = sorted(values)
    return float(ordered[k - 1]), float(ordered[n - k])


@cache
def _binomial_rank(n: int, confidence: float) -> int:
    """Return the largest k with P(Bin(n, 1/2) <= k - 1) <= (1 - confidence) / 2; 0 if there is none."""
    allowed, term, below, k = (1 - confidence) / 2 + _ROUNDING, 1, 1, 0  # term: n over k, from the previous one
    while k <= n // 2 and below / 2**n <= allowed:
        term = term * (n - k) // (k + 1)
        below += term
        k += 1
    return k


def ratio(a: Sequence[float], b: Sequence[float], confidence: float = 0.99) -> Ratio:
    """Return how much larger b is than a: exp of the Hodges-Lehmann shift of the logarithms, with its exact interval.

    An observed value may be 0; it counts as a thousandth of the smallest positive value of both samples. The interval
    inverts the two-sided Mann-Whitney test and is closed, so that with ties its coverage is at least the nominal one.
    Raises ValueError for an empty sample and for a negative value.
    """
    if not a or not b or min(a) < 0 or min(b) < 0:
        raise ValueError("a ratio requires two samples without negative values")
    logs_a, logs_b = _logs(a, b), _logs(b, a)
    many = len(a) * len(b)
    shift = _ordered(sorted(logs_a), sorted(logs_b))
    value = _exp(shift(many // 2) if many % 2 else (shift(many // 2 - 1) + shift(many // 2)) / 2)
    k = _whitney_rank(len(a), len(b), confidence)
    if k == 0:
        return Ratio(value, None, None)
    return Ratio(value, _exp(shift(k - 1)), _exp(shift(many - k)))


def _ordered(a: Sequence[float], b: Sequence[float]) -> Callable[[int], float]:
    """Return the function that maps k to the k-th smallest difference y - x, from 0. Both samples are sorted."""
    if len(a) * len(b) > _LISTED:
        return partial(_selected, a, b)
    return sorted(y - x for x in a for y in b).__getitem__


def _selected(a: Sequence[float], b: Sequence[float], k: int) -> float:
    """Select the k-th smallest y - x without a list of all differences: thousands of launches have too many.

    For each x, `first` and `last` bound the y whose difference can be the wanted one. A random difference among these
    splits them; the result does not depend on the random choice.
    """
    first, last, draw = [0] * len(a), [len(b)] * len(a), random.Random(k)
    while (left := sum(last) - sum(first)) > _LISTED:
        place = draw.randrange(left)
        pivot = 0.0
        for x, low, high in zip(a, first, last, strict=True):
            if place < high - low:
                pivot = b[low + place] - x
                break
            place -= high - low
        below, upto = _places(a, b, operator.lt, pivot), _places(a, b, operator.le, pivot)
        if k < sum(below):
            last = below
        elif k < sum(upto):
            return pivot
        else:
            first = upto
    rest = sorted(b[j] - x for x, low, high in zip(a, first, last, strict=True) for j in range(low, high))
    return rest[k - sum(first)]


def _places(a: Sequence[float], b: Sequence[float], is_: Callable[[float, float], bool], pivot: float) -> list[int]:
    """Return, for each x, how many of the smallest y have `is_(y - x, pivot)`. Both samples are sorted."""
    found, place = [], 0
    for x in a:
        while place < len(b) and is_(b[place] - x, pivot):
            place += 1
        found.append(place)
    return found


def _logs(values: Sequence[float], others: Sequence[float]) -> list[float]:
    least = min((x for x in (*values, *others) if x > 0), default=1.0)
    return [math.log(x) if x > 0 else math.log(least) - math.log(ZERO) for x in values]


def quotient(x: float, y: float) -> float:
    """Return x / y of two non-negative values; 0 counts as a thousandth of a positive other value, 0 / 0 is 1."""
    return ratio([y], [x]).value if x == 0 or y == 0 else x / y


def _exp(x: float) -> float:
    """Return exp, limited to the range of a float: foreign records may differ by any factor."""
    return math.exp(max(-700.0, min(700.0, x)))


def shift_p(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the two-sided exact Mann-Whitney p-value of "b is as large as a"; a tie is evidence for equality."""
    ordered, total = sorted(b), len(a) * len(b)
    above = sum(len(b) - bisect_right(ordered, x) for x in a)
    below = sum(bisect_left(ordered, x) for x in a)
    # U is the number of pairs that speak against the larger side; a tied pair is one of them.
    return min(1.0, 2 * _whitney_below(total - max(above, below), len(a), len(b)))


@cache
def _whitney_rank(m: int, n: int, confidence: float) -> int:
    """Return the largest k with P(U <= k - 1) <= (1 - confidence) / 2; 0 if there is none."""
    allowed = (1 - confidence) / 2 + _ROUNDING
    return bisect_left(range(m * n // 2), True, key=lambda k: _whitney_below(k, m, n) > allowed)


def _whitney_below(u: int, m: int, n: int) -> float:
    """Return P(U <= u) for continuous samples of sizes m and n: exact if small, else normal (continuity corrected)."""
    if m * n <= _EXACT:
        cumulative = _whitney_counts(min(m, n), max(m, n))
        return cumulative[min(u, m * n)] / cumulative[-1]
    mean, deviation = m * n / 2, math.sqrt(m * n * (m + n + 1) / 12)
    return NormalDist(mean, deviation).cdf(u + 0.5)


@lru_cache(maxsize=256)
def _whitney_counts(m: int, n: int) -> tuple[int, ...]:
    """Return how many of the C(m + n, m) orders have U <= u, for u = 0 .. m n.

    The generating function of U is the Gaussian binomial: the product over i = 1..m of (1 - q^(n+i)) / (1 - q^i).
    """
    size = m * n + 1
    counts = [1] + [0] * (size - 1)
    for i in range(1, m + 1):
        for u in range(size - 1, n + i - 1, -1):
            counts[u] -= counts[u - n - i]
        for u in range(i, size):
            counts[u] += counts[u - i]
    for u in range(1, size):
        counts[u] += counts[u - 1]
    return tuple(counts)
