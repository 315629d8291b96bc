"""Nodes: outliers among nodes that should be alike.

The logarithms of the values of n nodes scatter about their median. A robust measure of this scatter is 1.4826 times
the median absolute deviation (F. R. Hampel, J. Am. Stat. Assoc. 69 (1974) 383). A node is an outlier if it is more
than c times that away, and more than the practical threshold. The farthest of n equal nodes with normal scatter
exceeds c in a share `alpha` of the cases; c is simulated, because the deviation of few nodes is itself uncertain
(n = 4: about 15 at 1 %; n = 64: about 4.6). If nodes seem more alike by chance, the scatter is replaced with
that of the launches on one node, and with `FLOOR` at least: the level of a machine moves by that between two runs
(analysis/compare.py). `alpha` is 5 % divided by the number of tests on a page, so that at most 5 % of all pages of
equal nodes name any node (S. Holm's first step, which is Bonferroni's).

With fewer than four nodes nothing is named: if two differ, either may be the wrong one.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist, median
from typing import Protocol

import msgspec

from firstlight.analysis.compare import THRESHOLD
from firstlight.core import confidence

FEWEST = 4
ALPHA = 0.05
FLOOR = 0.02
_NORMAL = 1.4826  # deviation of a normal distribution by its median absolute deviation
_MOST = 128  # nodes that are simulated; of more, the deviation is known well enough
_DRAWS = 120_000
_BEYOND = 40  # draws beyond a quantile that still determine it


class Interval(Protocol):
    """Anything with the interval of a median; None: too few launches."""

    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


class NodeSpread(msgspec.Struct, frozen=True):
    """The distribution of one figure over `of` nodes or pairs.

    `centre`: the median. `low` and `high`: minimum and maximum. `deviation`: the standard deviation of the logarithms.
    `limit`: the ratio to the centre from which a node is an outlier (None: too few nodes). `named`: the outliers.
    """

    of: int
    centre: float
    low: float
    high: float
    deviation: float
    limit: float | None
    named: tuple[int, ...] = ()


def spread(
    values: Sequence[float], estimates: Sequence[Interval], looked_at: int = 1, threshold: float = THRESHOLD
) -> NodeSpread:
    """Return the spread of positive `values`, one per node, and the outliers among them.

    `estimates`: what each value comes from; `looked_at`: how many such questions a page looks at.

    Raises ValueError for no values, or for one that is not positive.
    """
    if not values or min(values) <= 0:
        raise ValueError("the values of nodes must be positive")
    centre = median(values)
    away = [math.log(value / centre) for value in values]
    scatter = _NORMAL * median(map(abs, away))
    within = median([d for e in estimates if (d := _uncertainty(e)) is not None] or [0.0])
    deviation = max(scatter, within, FLOOR)
    limit: float | None = None
    named: list[int] = []
    if len(values) >= FEWEST:
        far = max(math.log1p(threshold), deviation * farthest(len(values), ALPHA / max(1, looked_at)))
        limit = math.exp(far)
        named = [k for k, d in enumerate(away) if abs(d) > far]
    return NodeSpread(len(values), centre, min(values), max(values), scatter, limit, tuple(named))


def _uncertainty(estimate: Interval) -> float | None:
    """Return the standard deviation of the logarithm of a median, from its interval."""
    low, high = estimate.low, estimate.high
    if low is None or high is None or low <= 0:
        return None
    return math.log(high / low) / (2 * confidence.DEVIATIONS)


def farthest(n: int, alpha: float) -> float:
    """Return the distance that the farthest of n equal nodes exceeds with probability alpha, in deviations."""
    if n > _MOST:  # 1.2: of _MOST nodes, simulation is above the result of a known deviation by this factor
        return 1.2 * -NormalDist().inv_cdf(alpha / (2 * n))
    drawn = _drawn(n)
    few = min(1.0, _BEYOND / len(drawn))  # the least share whose quantile the draws determine
    found = drawn[math.ceil((1 - max(alpha, few)) * len(drawn)) - 1]
    # Beyond: half of the nodes must be close together by chance for their deviation to be too small.
    return found * math.pow(max(1.0, few / alpha), 1 / (n // 2))


@lru_cache(maxsize=_MOST)
def _drawn(n: int) -> list[float]:
    draw = random.Random(n).gauss
    found = []
    for _ in range(max(2000, _DRAWS // n)):
        values = sorted([draw(0, 1) for _ in range(n)])
        centre = (values[(n - 1) // 2] + values[n // 2]) / 2
        away = sorted([abs(v - centre) for v in values])
        found.append(2 * away[-1] / (_NORMAL * (away[(n - 1) // 2] + away[n // 2])))
    return sorted(found)
