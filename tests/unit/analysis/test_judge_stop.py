"""Stopping: enough launches, narrow intervals, or an end that is named."""

from __future__ import annotations

import random

import pytest

from firstlight.analysis.interval import estimate
from firstlight.analysis.stop import MOST, NARROW, SPENT, half_width, needs_more, reason

QUIET = estimate([100.0, 101.0, 99.0, 100.5, 99.5, 100.2])
NOISY = estimate([100.0, 130.0, 80.0, 110.0, 95.0, 120.0])


def test_half_width() -> None:
    assert half_width(QUIET) == pytest.approx((101 - 99) / 2 / 100.1)
    assert half_width(estimate([1.0, 1.0])) is None


def test_nothing_measured_needs_more() -> None:
    assert needs_more([], minimum=6)


def test_all_figures_must_be_narrow() -> None:
    assert not needs_more([QUIET, QUIET], minimum=6)
    assert needs_more([QUIET, NOISY], minimum=6)
    assert reason([QUIET, QUIET], 6) == NARROW


def test_the_minimum_holds() -> None:
    assert needs_more([QUIET], minimum=8)
    assert needs_more([estimate([1.0] * 5)], minimum=3)  # no interval yet


def test_the_ends_are_named() -> None:
    assert reason([NOISY], 6, maximum=6) == MOST
    assert not needs_more([NOISY], 6, maximum=6)
    assert reason([NOISY], 6, maximum=20, budget_spent=True) == SPENT
    assert reason([QUIET], 6, maximum=6, budget_spent=True) == NARROW
    assert reason([], 6, budget_spent=True) == SPENT
    assert reason([NOISY], 6, maximum=20) is None


def test_a_tighter_wish_takes_more() -> None:
    assert needs_more([QUIET], 6, precision=0.001)


def test_noise_decides_how_long() -> None:
    def launches(noise: float) -> int:
        rng = random.Random(11)
        values: list[float] = []
        while needs_more([estimate(values)] if values else [], minimum=6, maximum=60):
            values.append(rng.lognormvariate(0, noise))
        return len(values)

    assert launches(0.005) == 6 < launches(0.03) < launches(0.3) == 60
