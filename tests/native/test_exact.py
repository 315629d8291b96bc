"""The inputs of a checked exchange have a different word on every rank, and sums that no other contributions have."""

from __future__ import annotations

from ctypes import CDLL, c_double, c_int, c_longlong

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import drivers
from firstlight import ROOT

pytestmark = pytest.mark.native

RANKS = 1 << 20
words = st.integers(0, 1 << 31)
iterations = st.integers(0, 1 << 40)
ranks = st.integers(0, RANKS - 1)


@pytest.fixture(scope="module")
def exact() -> CDLL:
    functions = drivers.library(
        ROOT / "tests/native/exact_functions.cpp", f"-I{ROOT / 'native/harness/include'}", "-O1"
    )
    functions.value.restype = functions.sum.restype = c_double
    functions.value.argtypes = functions.sum.argtypes = [c_int, c_longlong, c_longlong]
    functions.values.argtypes = [c_int, c_longlong, c_longlong, np.ctypeslib.ndpointer(np.float64)]
    return functions


def of_ranks(exact: CDLL, count: int, word: int, iteration: int) -> np.ndarray:
    found = np.empty(count)
    exact.values(count, word, iteration, found)
    return found


@pytest.mark.parametrize(("word", "iteration"), [(0, 0), (1, 7), (12345, 1 << 40), ((1 << 31) - 1, 3)])
def test_no_two_ranks_hold_the_same_word(exact: CDLL, word: int, iteration: int) -> None:
    values = of_ranks(exact, RANKS, word, iteration)
    assert len(np.unique(values)) == RANKS
    assert values.sum() == exact.sum(RANKS, word, iteration), "a sum is exact in any order"
    assert values[::-1].sum() == exact.sum(RANKS, word, iteration)
    assert np.abs(values).sum() < 2**53


def test_the_ranks_that_once_held_the_same_differ(exact: CDLL) -> None:
    assert all(exact.value(2, word, 0) != exact.value(30, word, 0) for word in range(64))


@given(rank=ranks, word=words, iteration=iterations, apart=st.integers(1, (1 << 24) - 1))
def test_neither_another_iteration_nor_another_word_holds_the_same(
    exact: CDLL, rank: int, word: int, iteration: int, apart: int
) -> None:
    assert exact.value(rank, word, iteration) != exact.value(rank, word, iteration + apart)


@given(count=st.integers(2, 64), word=words, iteration=iterations, data=st.data())
def test_a_sum_tells_which_ranks_are_in_it(
    exact: CDLL, count: int, word: int, iteration: int, data: st.DataObject
) -> None:
    values = of_ranks(exact, count, word, iteration)
    rank, other = data.draw(st.permutations(range(count)))[:2]
    twice_and_never = values.sum() + values[rank] - values[other]
    assert twice_and_never != exact.sum(count, word, iteration)


def test_other_pairs_have_other_sums(exact: CDLL) -> None:
    """No two pairs of 64 ranks, where a pair may have the same rank twice, agree in the sums of all four words."""
    lines = [of_ranks(exact, 64, word, 5) for word in range(4)]
    first, second = np.triu_indices(64)
    sums = np.stack([values[first] + values[second] for values in lines], axis=1)
    assert len(np.unique(sums, axis=0)) == len(sums)
