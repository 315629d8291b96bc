"""The confidence level of the intervals on all pages, and the number of launches that it requires.

A rule that compares many figures at once uses a stricter level of its own (`analysis/compare.py`, `analysis/findings`).
"""

from __future__ import annotations

import math
from statistics import NormalDist

LEVEL = 0.95
LAUNCHES = math.ceil(math.log2(2 / (1 - LEVEL)))
"""The fewest launches with a nonparametric two-sided interval of the median: 1 - 2 * 2**-n >= LEVEL."""
DEVIATIONS = NormalDist().inv_cdf((1 + LEVEL) / 2)
"""Standard deviations of a normal distribution in half of an interval."""
TEXT = f"{100 * LEVEL:.4g} %"
INTERVAL = f"{TEXT} interval"
INTERVALS = f"{TEXT} intervals"
