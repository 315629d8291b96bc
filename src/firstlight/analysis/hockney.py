"""Hockney's model of a message, t(m) = alpha + beta m, in one regime or in two.

R. Hockney, Parallel Computing 20 (1994) 389. Fitted by least squares of the relative error, sum ((alpha + beta m - t) /
t)^2, so that a microsecond counts as much for a short message as a millisecond for a long one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

FEWEST = 3  # sizes a regime
CLEARLY = 0.5  # two regimes must leave less than this share of the error of one, for each degree of freedom
NEGLIGIBLE = 0.01  # a root mean square relative error that leaves nothing to explain

Times = Sequence[tuple[float, float]]  # bytes, seconds; ascending in bytes


class Regime(NamedTuple):
    """`alpha` in seconds, `beta` in seconds per byte, for messages of `low` to `high` bytes.

    `error`: the sum of squared relative errors that the fit leaves over `sizes` messages.
    """

    alpha: float
    beta: float
    low: float
    high: float
    error: float
    sizes: int

    def time(self, size: float) -> float:
        """Return the seconds of a message of `size` bytes."""
        return self.alpha + self.beta * size

    @property
    def misfit(self) -> float:
        """Return the root mean square relative error: 0.1 if the fit misses by 10 %."""
        return math.sqrt(self.error / self.sizes)

    @property
    def half(self) -> float | None:
        """Return the bytes at which half of the bandwidth 1 / beta is reached; None if alpha or beta may be 0."""
        return self.alpha / self.beta if self.alpha > 0 and self.beta > 0 else None


def regimes(times: Times) -> list[Regime]:
    """Return one regime, or two if they leave clearly less error; none for fewer than three sizes.

    The switch is between two measured sizes, with at least three on each side. Two regimes have three parameters
    more than one (the place of the switch counts as one); errors are compared for each degree of freedom, because
    with few sizes two regimes would always fit better.
    """
    if len(times) < FEWEST:
        return []
    one = fit(times)
    if one.misfit <= NEGLIGIBLE:
        return [one]
    pairs = [[fit(times[:k]), fit(times[k:])] for k in range(FEWEST, len(times) - FEWEST + 1)]
    if not pairs:
        return [one]
    two = min(pairs, key=_error)
    n = len(times)
    return two if _error(two) / (n - 5) < CLEARLY * one.error / (n - 2) else [one]


def _error(some: Sequence[Regime]) -> float:
    return sum(r.error for r in some)


def fit(times: Times) -> Regime:
    """Fit alpha, beta >= 0 with the least relative error. Times must be positive; at least one."""
    s1 = sum(1 / t**2 for _, t in times)
    sm = sum(m / t**2 for m, t in times)
    smm = sum(m * m / t**2 for m, t in times)
    st, smt = sum(1 / t for _, t in times), sum(m / t for m, t in times)
    determinant = s1 * smm - sm * sm
    alpha, beta = st / s1, 0.0
    if determinant > 1e-12 * s1 * smm:
        alpha, beta = (st * smm - smt * sm) / determinant, (smt * s1 - st * sm) / determinant
    if beta < 0:
        alpha, beta = st / s1, 0.0
    if alpha < 0:
        alpha, beta = 0.0, smt / smm
    error = sum(((alpha + beta * m - t) / t) ** 2 for m, t in times)
    return Regime(alpha, beta, times[0][0], times[-1][0], error, len(times))
