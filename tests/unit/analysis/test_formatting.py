"""Parameters in words: a whole number is shown as it is typed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from firstlight.analysis import formatting


@given(st.integers(-(2**62), 2**62))
def test_a_whole_number_is_never_rounded(n: int) -> None:
    shown = formatting.value("n", n)
    assert int(shown) == n if shown.lstrip("-").isdigit() else float(shown) == n


def test_round_numbers_are_short() -> None:
    assert [formatting.value("n", n) for n in (1000, 100_000, 10**7, 2**23)] == ["1000", "100000", "1e7", "8388608"]
