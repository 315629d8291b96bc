"""Numbers for people: digits, prefixes, conversions."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.report.quantity import binary, convert, duration, interval, percent, quantity, scale, significant


@pytest.mark.parametrize(
    ("value", "text"),
    [(14.24, "14.2"), (0.3096, "0.310"), (98.2, "98.2"), (9.996, "10.0"), (1774, "1770"), (0, "0"), (999.6, "1000")],
)
def test_three_significant_digits(value: float, text: str) -> None:
    assert significant(value) == text


@given(st.floats(1e-12, 1e12))
def test_significant_is_within_half_a_digit(value: float) -> None:
    assert math.isclose(float(significant(value)), value, rel_tol=5.001e-3)


@given(st.floats(1e-6, 1e6), st.sampled_from(["Gflop/s", "GB/s", "ns", "us", "s", "Mbit/s", "iterations"]))
def test_quantity_says_the_same_number(value: float, unit: str) -> None:
    number, new = quantity(value, unit).split(" ", 1)
    back = convert(float(number), new, unit)
    assert back is not None
    assert math.isclose(back, value, rel_tol=6e-3)


@given(st.floats(1e-6, 1e6))
def test_scaled_numbers_lie_between_one_and_a_thousand(value: float) -> None:
    factor, _ = scale(value, "GB/s")
    assert 0.999 <= value * factor <= 1000.001


def test_conversion_between_different_measures_is_refused() -> None:
    assert convert(1.0, "GB/s", "Gflop/s") is None
    assert convert(36.0, "us", "ns") == pytest.approx(36000.0)


def test_interval_uses_the_unit_of_its_median() -> None:
    assert quantity(0.31, "us") == "310 ns"
    assert interval(0.305, 0.3131, 0.31, "us") == "305 – 313"
    assert interval(None, None, 0.31, "us") == "too few"


def test_sizes_durations_shares() -> None:
    assert [binary(x) for x in (8, 32768, 1 << 20, 24 * 2**30)] == ["8 B", "32 KiB", "1 MiB", "24 GiB"]
    assert [duration(x) for x in (0.5, 42, 141, 7200)] == ["0.500 s", "42 s", "2 min 21 s", "2 h 0 min"]
    assert [percent(x) for x in (0.71, 0.029)] == ["71 %", "2.9 %"]
