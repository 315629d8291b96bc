"""Numbers for people: digits, prefixes, conversions."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.core.errors import UsageError
from firstlight.core.units import (
    MOST_BYTES,
    MOST_SECONDS,
    binary,
    convert,
    declared,
    duration,
    interval,
    minutes,
    parse_duration,
    parse_in,
    parse_share,
    parse_size,
    parse_sizes,
    percent,
    quantity,
    scale,
    significant,
)


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
    assert quantity(3.7e9, "Hz") == "3.70 GHz"
    assert parse_in("180 GB/s", "B/s") == 180e9 and parse_in("3700 MHz", "Hz") == 3.7e9
    assert quantity(0.31, "us") == "310 ns"
    assert interval(0.305, 0.3131, 0.31, "us") == "305 – 313"
    assert interval(None, None, 0.31, "us") == "too few"


def test_sizes_durations_shares() -> None:
    assert [binary(x) for x in (8, 32768, 1 << 20, 24 * 2**30)] == ["8 B", "32 KiB", "1 MiB", "24 GiB"]
    assert [duration(x) for x in (0.5, 42, 141, 7200)] == ["0.500 s", "42 s", "2 min 21 s", "2 h 0 min"]
    assert [percent(x) for x in (0.71, 0.029)] == ["71 %", "2.9 %"]


@pytest.mark.parametrize(
    ("text", "value"),
    [("24", 24), ("1KiB", 1024), ("1.5 MiB", 3 << 19), ("64k", 65536), ("1MB", 10**6), ("0", 0), ("2GiB", 1 << 31)],
)
def test_sizes_as_people_write_them(text: str, value: int) -> None:
    assert parse_size(text) == value


@pytest.mark.parametrize("text", ["", "x", "-1", "1.5", "1e3", "3TiBs", "2000000GiB", "1..2..3", "8..4", "0..8"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_sizes(text)


@given(st.integers(1, 1 << 30), st.integers(1, 1 << 30))
def test_a_range_doubles_from_its_first_to_its_last(a: int, b: int) -> None:
    low, high = sorted((a, b))
    found = parse_sizes(f"{low}..{high}")
    assert (found[0], found[-1]) == (low, high)
    assert all(y == 2 * x for x, y in pairwise(found[:-1]))
    assert all(x < y <= 2 * x for x, y in pairwise(found))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("150", 150), ("150s", 150), ("10m", 600), ("2h", 7200), ("1h30m", 5400), (" 0.5m ", 30), ("2H", 7200)],
)
def test_budgets(text: str, seconds: float) -> None:
    assert parse_duration(text, "budget") == seconds


@pytest.mark.parametrize("text", ["", "0", "0s", "-5m", "ten", "5 apples", "5m3", "1e9h", "nan", "99999999h", "5mm"])
def test_bad_budgets(text: str) -> None:
    with pytest.raises(UsageError, match="is not a budget"):
        parse_duration(text, "budget")


@given(st.integers(0, MOST_BYTES))
def test_a_printed_size_is_read_as_the_same_to_three_digits(number: int) -> None:
    text = binary(number)
    assert re.fullmatch(r"[0-9.]+ [KMGTP]?i?B", text)
    assert parse_size(text) == pytest.approx(number, rel=0.0051)


@given(st.integers(0, 1023), st.integers(0, 4))
def test_a_whole_number_of_a_unit_survives_printing_exactly(number: int, power: int) -> None:
    assert parse_size(binary(number << 10 * power)) == number << 10 * power


@given(st.floats(1e-3, MOST_SECONDS / 2))
def test_a_printed_time_is_read_as_the_same(seconds: float) -> None:
    text = duration(seconds)
    assert parse_duration(text) == pytest.approx(seconds, rel=0.01, abs=0.5 if 1 <= seconds < 3600 else 0)
    assert duration(parse_duration(text)) == text


@given(st.floats(0, MOST_SECONDS - 60))
def test_whole_minutes_are_more_than_was_asked_for(seconds: float) -> None:
    assert seconds < parse_duration(minutes(seconds)) <= seconds + 60


@given(st.lists(st.integers(1, MOST_BYTES), min_size=1, max_size=8))
def test_a_list_of_sizes_is_read_in_order_and_once_each(some: list[int]) -> None:
    assert parse_sizes(",".join(map(str, some))) == sorted(set(some))


@given(st.text(max_size=12))
def test_any_other_text_is_refused_in_words(text: str) -> None:
    for parse in (parse_size, parse_duration):
        try:
            assert parse(text) >= 0
        except UsageError as error:
            assert "write a value such as" in str(error) or "whole numbers of bytes" in str(error)


@pytest.mark.parametrize(("text", "share"), [("5%", 0.05), ("0.05", 0.05), ("2.5%", 0.025), ("0", 0)])
def test_a_share_is_written_in_percent_or_as_a_fraction(text: str, share: float) -> None:
    assert parse_share(text, zero=True) == pytest.approx(share)


@pytest.mark.parametrize("text", ["0", "0%", "100%", "1", "-1%", ".5 % %", "nan", ""])
def test_what_is_not_a_share_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a share; write a value such as 2%"):
        parse_share(text)


@pytest.mark.parametrize(("share", "text"), [(0.05, "5 %"), (0.015, "1.5 %"), (0.99, "99 %"), (0.0, "0 %")])
def test_a_declared_share_has_only_its_own_decimals(share: float, text: str) -> None:
    assert declared(share) == text
