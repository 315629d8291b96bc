"""Changes: where the level of a figure moved in a series of runs, and how much such a series moves by itself.

The input is the logarithms of the runs' medians, oldest first. A change is a move of the level that lasts:
SHORTEST runs at least on either side. Steps, each a published method:

1. A run unlike its neighbours (one disturbed night) is brought back to REACH deviations from the median of the five
   runs around it: the Hampel filter (R. K. Pearson, Y. Neuvo, J. Astola, M. Gabbouj, EURASIP J. Adv. Signal Process.
   2016:87). Levels that last keep their edges.
2. The deviation from run to run is measured from differences, by their median, so that neither outliers nor a few
   changes widen it (P. J. Rousseeuw, C. Croux, J. Am. Stat. Assoc. 88 (1993) 1273); it is at least that of
   the runs' own intervals. A machine that drifts makes neighbouring runs alike, and then differences understate
   how far means move: the correlation phi is taken from differences of two lags, and the deviation multiplied by
   sqrt((1 + phi) / (1 - phi)), that of the mean of an AR(1) process.
3. Candidates: the CUSUM statistic in seeded intervals, the narrowest interval above the threshold first (S. Kovacs,
   P. Buehlmann, H. Li, A. Munk, Biometrika 110 (2023) 249; R. Baranowski, Y. Chen, P. Fryzlewicz, J. R. Stat. Soc. B 81
   (2019) 649), so that changes that cancel each other do not hide. Places are then refined between neighbours.
4. A change is reported only if the statistic between its neighbouring changes is above CERTAIN, and if the medians of
   the two segments differ by more than the practical threshold; the least sure are dropped first. If a figure has two
   states, both states must have moved, the same way.

`tests/unit/analysis/test_judge_changes.py` counts false and missed changes. A library for this (ruptures) would need
numpy and scipy, and finds segments for a penalty, not changes at an error rate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, partial
from itertools import count, groupby, pairwise
from statistics import median

import msgspec

from firstlight.analysis.interval import shift_p
from firstlight.core import confidence

SHORTEST = 3  # runs of a level
AROUND = 2  # runs before and after a run from which its expected level is taken
REACH = 3.0  # deviations
CERTAIN = 4.5  # deviations of the CUSUM statistic: of 1000 series that do not change, about one shows a change
THRESHOLD = 0.05  # the smallest change that matters, as a share
CHANCE = 0.05  # that ranks alone make one of the changes of a series
NEARLY = 0.8  # of the threshold: where even the runs' surroundings differ by less, no level does
LEAST = 0.001  # deviation from run to run that is taken for granted
LAG = 5  # runs; far enough for a drift to show
MOST_ALIKE = 0.9  # phi
_NORMAL = 1.4826  # standard deviations of a normal distribution in one median of absolute deviations


class Value(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A figure in one run: median and interval (None: too few launches); both states, where it has two."""

    median: float
    low: float | None = None
    high: float | None = None
    lower: float | None = None
    upper: float | None = None

    @property
    def levels(self) -> tuple[float, float]:
        """Return both states; the median twice if there is only one."""
        return (
            self.median if self.lower is None else self.lower,
            self.median if self.upper is None else self.upper,
        )


class Change(msgspec.Struct, frozen=True):
    """The level moved before run `at` (0 is the oldest), the first of the new one.

    `before`, `after`: medians of the runs' medians of the two levels; `certainty`: deviations of the statistic.
    """

    at: int
    before: float
    after: float
    certainty: float

    @property
    def ratio(self) -> float:
        return self.after / self.before


@cache
def fewest() -> int:
    """Return the fewest runs in which a change can be detected: ranks of fewer runs are too often apart by chance."""
    return next(n for n in count(2 * SHORTEST) if shift_p(range(n // 2), range(n, 2 * n - n // 2)) <= CHANCE / n)


def changes(values: Sequence[Value], threshold: float = THRESHOLD, scale: float | None = None) -> list[Change]:
    """Return the changes in a series of runs, oldest first; none if any value is not a positive number.

    `scale`: the deviation between runs, if it is already known.
    """
    if len(values) < fewest() or not all(0 < v.median < math.inf for v in values):
        return []
    logs = [math.log(v.median) for v in values]
    around = _around(logs)
    if max(around) - min(around) < NEARLY * math.log1p(threshold):
        return []
    scale = deviation(values) if scale is None else scale
    level = [min(max(x, m - REACH * scale), m + REACH * scale) for x, m in zip(logs, around, strict=True)]
    sums = [0.0]
    for x in level:
        sums.append(sums[-1] + x)
    wanted = CERTAIN * scale * _stretch(logs)
    places = _refined(sums, _candidates(sums, wanted))
    certainty = cache(partial(_certainty, values, sums, threshold))
    while places:
        judged = [certainty(place) for place in _triples(places, len(values))]
        weakest = min(range(len(places)), key=lambda k: judged[k])
        if judged[weakest] > wanted:
            break
        places = _refined(sums, places[:weakest] + places[weakest + 1 :])
    bounds = [0, *places, len(values)]
    levels = [median(v.median for v in values[a:b]) for a, b in pairwise(bounds)]
    return [
        Change(at, before, after, _statistic(sums, a, at, b) / (wanted / CERTAIN))
        for (a, at, b), (before, after) in zip(_triples(places, len(values)), pairwise(levels), strict=True)
    ]


def deviation(values: Sequence[Value]) -> float:
    """Return the deviation of a figure from run to run: a standard deviation of logarithms, so 0.01 is 1 %.

    It is computed from differences of neighbours. It is at least that of the runs' own intervals, and at least LEAST.
    """
    logs = [math.log(v.median) for v in values if 0 < v.median < math.inf]
    own = [
        math.log(v.high / v.low) / 2 / confidence.DEVIATIONS
        for v in values
        if v.low is not None and v.high is not None and 0 < v.low <= v.high < math.inf
    ]
    return max(_of_lag(logs, 1), median(own) if own else 0.0, LEAST)


def _of_lag(logs: Sequence[float], lag: int) -> float:
    apart = [abs(b - a) for a, b in zip(logs, logs[lag:], strict=False)]
    return _NORMAL * median(apart) / math.sqrt(2) if apart else 0.0


def _around(logs: Sequence[float]) -> list[float]:
    """Return the median of the runs around each run; at the ends of the series the window is shifted inwards."""
    n, window = len(logs), min(2 * AROUND + 1, len(logs))
    starts = (min(max(k - AROUND, 0), n - window) for k in range(n))
    return [sorted(logs[s : s + window])[window // 2] for s in starts]


def _stretch(logs: Sequence[float]) -> float:
    """Return how much more the mean of many runs moves than with independent runs, from AR(1)'s phi."""
    near, far = _of_lag(logs, 1), _of_lag(logs, LAG)
    if len(logs) < 4 * LAG or far <= near:
        return 1.0
    # The variance of differences of lag k is 2 sigma^2 (1 - phi^k).
    wanted, low, high = (near / far) ** 2, 0.0, MOST_ALIKE
    for _ in range(20):
        phi = (low + high) / 2
        low, high = (phi, high) if (1 - phi) / (1 - phi**LAG) > wanted else (low, phi)
    return math.sqrt((1 + low) / (1 - low))


def _statistic(sums: Sequence[float], start: int, at: int, end: int) -> float:
    """Return the CUSUM statistic: the difference of the means before and after `at`, in units of a run's deviation."""
    m, n = at - start, end - at
    return abs((sums[at] - sums[start]) / m - (sums[end] - sums[at]) / n) * math.sqrt(m * n / (m + n))


def _best(sums: Sequence[float], start: int, end: int) -> tuple[float, int]:
    """Return the largest statistic of an interval and its place."""
    length, first = end - start, sums[start]
    mean = (sums[end] - first) / length
    inner = range(SHORTEST, length - SHORTEST + 1)
    found = [
        abs(x - first - k * mean) * weight
        for k, x, weight in zip(inner, sums[start + SHORTEST : end], _weights(length), strict=False)
    ]
    best = max(found)
    return best, start + SHORTEST + found.index(best)


@cache
def _weights(length: int) -> tuple[float, ...]:
    return tuple(math.sqrt(length / (k * (length - k))) for k in range(SHORTEST, length - SHORTEST + 1))


@cache
def seeded(n: int) -> tuple[tuple[int, int], ...]:
    """Return intervals of 0..n of all lengths, each shifted by at most half of its length, from long to short."""
    found: dict[tuple[int, int], None] = {}
    length = float(n)
    while length >= 2 * SHORTEST:
        number = 2 * math.ceil(n / length) - 1
        shift = (n - length) / (number - 1) if number > 1 else 0.0
        for k in range(number):
            found[math.floor(k * shift), min(n, math.ceil(k * shift + length))] = None
        length /= math.sqrt(2)
    return tuple(sorted(found, key=lambda interval: interval[0] - interval[1]))


def _candidates(sums: Sequence[float], wanted: float) -> list[int]:
    """Return candidates: the shortest interval over the threshold locates a change; intervals around it are done."""
    places: list[int] = []
    for _, some in groupby(reversed(seeded(len(sums) - 1)), key=lambda interval: interval[1] - interval[0]):
        found = []
        for start, end in some:
            if not any(start < p < end for p in places):
                value, at = _best(sums, start, end)
                if value > wanted:
                    found.append((-value, start, at, end))
        for _, start, at, end in sorted(found):
            if not any(start < p < end for p in places):
                places.append(at)
    return sorted(places)


def _refined(sums: Sequence[float], places: Sequence[int]) -> list[int]:
    """Move each change to its clearest place between its neighbours; drop those that leave a level too few runs."""
    better: list[int] = []
    ends = [*places[1:], len(sums) - 1]
    for end in ends[: len(places)]:
        start = better[-1] if better else 0
        if end - start >= 2 * SHORTEST:
            better.append(_best(sums, start, end)[1])
    return better


def _triples(places: Sequence[int], n: int) -> list[tuple[int, int, int]]:
    """Return each change with the one before and the one after, or the ends of the series."""
    return list(zip([0, *places], places, [*places[1:], n], strict=False))


def _certainty(values: Sequence[Value], sums: Sequence[float], threshold: float, place: tuple[int, int, int]) -> float:
    """Return the statistic of a change; 0 if it is too small, affects only one of two states, or may be chance."""
    start, at, end = place
    moves = []
    for side in (0, 1):
        before, after = (median(v.levels[side] for v in some) for some in (values[start:at], values[at:end]))
        if not (0 < before < math.inf and 0 < after < math.inf):
            return 0.0
        moves.append(math.log(after / before))
    least = min(abs(move) for move in moves)
    if least <= math.log1p(threshold) or (moves[0] > 0) != (moves[1] > 0):
        return 0.0
    ranked = shift_p([v.median for v in values[start:at]], [v.median for v in values[at:end]])
    return _statistic(sums, start, at, end) if ranked <= CHANCE / len(values) else 0.0
