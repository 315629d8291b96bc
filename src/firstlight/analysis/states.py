"""States: launches that fall into two well separated groups, each steady in itself.

The placement of ranks, the pages of a process or the activity of a neighbour often change from launch to launch: a
message lasts 154 ns in some launches and 471 ns in others, and no launch is near the median's interval. Two groups
are called states if the gap between them is wide compared with the groups. In logarithms, with launches sorted:

    gap > GAP                           the states differ by more than a factor of 1.15
    gap > times(n) * the wider group    for groups of three launches and more
    gap > FEW * the wider group         for a group of two, which heavy tails make as well

`times` falls with the number of launches, for the range of a group grows with it. At most 5 % of samples with one
mode are called bimodal: normal, uniform, Laplace, Student's t (2), exponential, lognormal (1), and 10 or 20 % of
launches disturbed by an exponential tail, for 6 to 30 launches. With 8 launches that scatter by 5 %, two
equally frequent states 2.5 x apart are detected in nine of ten samples.
`tests/unit/analysis/test_judge_states.py` counts both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from firstlight.analysis import interval
from firstlight.analysis.interval import Ratio, quotient
from firstlight.analysis.verdict import Numbered, States, Verified
from firstlight.core.confidence import LAUNCHES
from firstlight.core.units import either

GAP = 1.15
FEW = 4.0
LEAST = 8  # a group is at least an eighth of the launches, or what it holds are outliers


def states(launches: Sequence[float]) -> States | None:
    """Return the two states of these launches; None if they have one, or fewer than LAUNCHES, which decide nothing."""
    n = len(launches)
    if n < LAUNCHES or not all(0 < x < math.inf for x in launches):
        return None
    ordered = sorted(launches)
    logs = [math.log(x) for x in ordered]
    least = max(2, -(-n // LEAST))
    k = max(range(least, n - least + 1), key=lambda k: logs[k] - logs[k - 1])
    gap = logs[k] - logs[k - 1]
    wider = max(logs[k - 1] - logs[0], logs[-1] - logs[k])
    if gap <= math.log(GAP) or gap <= (FEW if min(k, n - k) < 3 else _times(n)) * wider:
        return None
    return States(median(ordered[:k]), median(ordered[k:]), k, n - k)


def _times(n: int) -> float:
    return 0.75 + 7.5 / n


def levels(figure: Numbered) -> tuple[float, float]:
    """Return the lower and the upper state; the median twice if there is one state."""
    s = figure.states
    return (s.lower, s.upper) if s is not None else (figure.estimate.median, figure.estimate.median)


def ratio(a: Verified, b: Verified, confidence: float = 0.99) -> Ratio:
    """Return how much larger b is than a, as `interval.ratio` does for launches."""
    return spanning(interval.ratio(a.estimate.launches, b.estimate.launches, confidence), a, b)


def least(a: Verified, b: Verified) -> float:
    """Return how much larger b is than a by the medians; by the nearer of the states if there are two."""
    if a.states is None and b.states is None:
        return quotient(b.estimate.median, a.estimate.median)
    both = [quotient(y, x) for x, y in zip(levels(a), levels(b), strict=True)]
    return min(both, key=lambda r: abs(math.log(r)))


def spanning(found: Ratio, a: Numbered, b: Numbered) -> Ratio:
    """Return the ratio of b to a with an interval that spans the ratios of their states.

    How many launches of each had which state may be chance or a passing condition of the machine. So one of two
    figures is called better only if it is better in both states; equal figures stay equal for any shares of the states.
    """
    if (a.states is None and b.states is None) or found.low is None or found.high is None:
        return found
    both = [quotient(y, x) for x, y in zip(levels(a), levels(b), strict=True)]
    return found._replace(low=min(found.low, *both), high=max(found.high, *both))


def describe_states(s: States, unit: str) -> str:
    """Return `154 or 471 ns, 8 of 13 in the lower`."""
    return f"{either(s.lower, s.upper, unit)}, {s.in_lower} of {s.in_lower + s.in_upper} in the lower"
