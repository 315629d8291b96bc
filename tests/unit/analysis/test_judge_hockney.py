"""Hockney's fit on synthetic messages: one regime and two are recovered exactly, noise makes no switch."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.analysis import hockney

SIZES = [0.0, *(2.0**k for k in range(3, 23))]


@given(st.floats(1e-7, 1e-4), st.floats(1e-11, 1e-8))
def test_one_regime_is_recovered(alpha: float, beta: float) -> None:
    (fit,) = hockney.regimes([(m, alpha + beta * m) for m in SIZES])
    assert fit.alpha == pytest.approx(alpha, rel=1e-6)
    assert fit.beta == pytest.approx(beta, rel=1e-4)
    assert fit.half == pytest.approx(alpha / beta, rel=1e-3)
    assert (fit.low, fit.high, fit.sizes) == (0.0, 2.0**22, len(SIZES))
    assert fit.misfit < 1e-6


@pytest.mark.parametrize("last", [512.0, 4096.0, 16384.0, 2.0**19])
def test_two_regimes_and_their_switch_are_recovered(last: float) -> None:
    first, second = hockney.regimes([(m, 5e-7 + 3e-10 * m if m <= last else 2e-4 + 1e-10 * m) for m in SIZES])
    assert (first.high, second.low) == (last, 2 * last)
    assert (first.alpha, first.beta) == (pytest.approx(5e-7, rel=1e-6), pytest.approx(3e-10, rel=1e-3))
    assert (second.alpha, second.beta) == (pytest.approx(2e-4, rel=1e-6), pytest.approx(1e-10, rel=1e-3))


@pytest.mark.parametrize("scatter", [0.005, 0.05, 0.2])
def test_noise_makes_no_switch(scatter: float) -> None:
    split = 0
    for seed in range(100):
        chance = random.Random(seed)
        found = hockney.regimes([(m, (5e-7 + 1e-10 * m) * chance.lognormvariate(0, scatter)) for m in SIZES])
        split += len(found) > 1
    assert split <= 5


def test_a_switch_is_found_under_noise() -> None:
    for seed in range(50):
        chance = random.Random(seed)
        exact = [(m, 5e-7 + 3e-10 * m if m <= 16384 else 2e-5 + 1e-10 * m) for m in SIZES]
        found = hockney.regimes([(m, t * chance.lognormvariate(0, 0.05)) for m, t in exact])
        assert [r.high for r in found] == [16384, 2.0**22]


def test_short_messages_count_as_much_as_long_ones() -> None:
    """Absolute errors would be ruled by the longest message, which is off here, and would miss the latency."""
    times = [(m, 1e-6 + 1e-10 * m) for m in SIZES[:-1]] + [(SIZES[-1], 1.3 * (1e-6 + 1e-10 * SIZES[-1]))]
    assert hockney.fit(times).alpha == pytest.approx(1e-6, rel=0.05)


@given(st.lists(st.floats(1e-9, 1.0), min_size=3, max_size=20))
def test_no_regime_is_negative_or_short(times: list[float]) -> None:
    found = hockney.regimes([(8.0 * 2**k, t) for k, t in enumerate(times)])
    assert 1 <= len(found) <= 2
    for r in found:
        assert r.alpha >= 0 and r.beta >= 0 and r.sizes >= 3 and math.isfinite(r.error)


def test_the_fit_is_the_least_error() -> None:
    chance = random.Random(7)
    times = [(m, (5e-7 + 1e-10 * m) * chance.lognormvariate(0, 0.2)) for m in SIZES]
    best = hockney.fit(times)

    def error(alpha: float, beta: float) -> float:
        return sum(((alpha + beta * m - t) / t) ** 2 for m, t in times)

    assert error(best.alpha, best.beta) == pytest.approx(best.error)
    for a, b in ((1.01, 1), (0.99, 1), (1, 1.01), (1, 0.99), (1.01, 0.99)):
        assert error(a * best.alpha, b * best.beta) > best.error


def test_two_sizes_are_not_fitted_and_five_not_split() -> None:
    assert hockney.regimes([(8, 1e-6), (16, 1e-6)]) == []
    assert len(hockney.regimes([(8, 1e-6), (16, 1e-6), (32, 1e-6), (64, 1e-3), (128, 1e-3)])) == 1
