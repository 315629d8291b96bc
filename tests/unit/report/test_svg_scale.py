"""Scales and ticks of a chart: few, round, inside of the range, with labels that differ."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from firstlight.report.svg.scale import Scale, labels, spread, ticks

FINITE = st.floats(-1e12, 1e12, allow_nan=False)
POSITIVE = st.floats(1e-12, 1e12, allow_nan=False)


@given(FINITE, st.floats(1e-6, 1e12), st.integers(2, 9))
@example(10_000.0, 0.5, 2)
def test_linear_ticks_are_few_rising_inside_and_distinct(low: float, wide: float, most: int) -> None:
    high = low + max(wide, abs(low) * 1e-6)
    found = ticks(low, high, log=False, most=most)
    values = [v for v, _ in found]
    assert len(found) <= most and values == sorted(set(values))
    assert all(low - 1e-6 * (high - low) <= v <= high + 1e-6 * (high - low) for v in values)
    assert len({label for _, label in found}) == len(found)


@given(POSITIVE, st.floats(1.01, 1e15), st.integers(2, 9))
def test_logarithmic_ticks_are_few_rising_inside_and_distinct(low: float, factor: float, most: int) -> None:
    found = ticks(low, low * factor, log=True, most=most)
    values = [v for v, _ in found]
    assert len(found) <= most and values == sorted(set(values))
    assert all(low * (1 - 1e-6) <= v <= low * factor * (1 + 1e-6) for v in values)
    assert len({label for _, label in found}) == len(found)


@given(POSITIVE, st.floats(100, 1e15))
def test_two_decades_have_at_least_two_ticks(low: float, factor: float) -> None:
    assert len(ticks(low, low * factor, log=True)) >= 2


@pytest.mark.parametrize(
    ("low", "high", "log", "expected"),
    [
        (0, 100, False, ["0", "20", "40", "60", "80", "100"]),
        (-1, 1, False, ["−1", "−0.5", "0", "0.5", "1"]),
        (1, 1e6, True, ["10⁰", "10¹", "10²", "10³", "10⁴", "10⁵", "10⁶"]),
        (0.5, 30, True, ["0.5", "1", "2", "5", "10", "20"]),
        (1000, 3000, False, ["1,000", "1,500", "2,000", "2,500", "3,000"]),
        (1e-9, 1e9, True, ["10⁻⁹", "10⁻⁶", "10⁻³", "10⁰", "10³", "10⁶", "10⁹"]),
    ],
)
def test_ticks_of_some_ranges(low: float, high: float, log: bool, expected: list[str]) -> None:
    assert [label for _, label in ticks(low, high, log)] == expected


def test_labels_get_as_many_digits_as_they_need() -> None:
    assert labels([1.0001, 1.0002]) == ["1.0001", "1.0002"]
    assert labels([20_000, 40_000]) == ["20,000", "40,000"]
    assert labels([0, 2e6]) == ["0", "2·10⁶"] and labels([]) == []


@given(st.lists(POSITIVE, min_size=1, max_size=20), st.booleans())
def test_the_range_contains_the_values(values: list[float], log: bool) -> None:
    low, high = spread(values, log)
    assert low < high and low < min(values) and max(values) < high
    assert low > 0 or not log


@given(POSITIVE, st.floats(1.5, 1e6), st.floats(0, 1))
def test_a_scale_keeps_the_order_and_its_ends(low: float, factor: float, share: float) -> None:
    scale = Scale(low, low * factor, 10, 410, log=True)
    assert math.isclose(scale.at(low), 10, abs_tol=1e-6) and math.isclose(scale.at(low * factor), 410, abs_tol=1e-6)
    value = low * factor**share
    assert scale.contains(value, slack=1e-6)
    pixels = [scale.at(v) for v in (low, low * factor**0.3, low * factor**0.6)]
    assert all(a < b for a, b in pairwise(pixels))


def test_what_cannot_be_shown_is_no_number_of_the_scale() -> None:
    assert not Scale(1, 2, log=True).shows(0) and not Scale(1, 2).shows(math.nan) and not Scale(1, 2).shows(None)
    assert Scale(1, 2).shows(-3)
