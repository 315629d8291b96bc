"""Fourier transforms of lines without a library, in vectors of each width, against sums in long double."""

from __future__ import annotations

import random
from ctypes import CDLL, c_double, c_longlong
from math import log2
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drivers
from firstlight import ROOT

pytestmark = pytest.mark.native

HARNESS = ROOT / "native/harness/include"
WIDTHS = {"least": (), "avx2": ("-mavx2", "-mfma"), "native": ("-march=native",)}
LINES = [1, 2, 3, 4, 12, 16, 28, 35, 44, 64, 97, 100, 128, 192, 320, 448, 512, 704, 960, 1024, 1536]


@pytest.fixture(scope="module", params=WIDTHS)
def fourier(request: pytest.FixtureRequest) -> CDLL:
    if request.param == "avx2" and "avx2" not in Path("/proc/cpuinfo").read_text().split():
        pytest.skip("this processor has no AVX2")
    flags = ("-O2", "-Wall", "-Wextra", "-Wno-psabi", "-Werror", f"-I{HARNESS}", *WIDTHS[request.param])
    library = drivers.library(ROOT / "tests/native/fourier_functions.cpp", *flags)
    library.worst.restype = c_double
    return library


def error(fourier: CDLL, n: int, back: bool, seed: int) -> float:
    drawn = random.Random(seed)
    numbers = (c_double * (2 * n))(*(drawn.uniform(-1, 1) for _ in range(2 * n)))
    return fourier.worst(c_longlong(n), numbers, int(back))


@pytest.mark.parametrize("back", [False, True], ids=["there", "back"])
@pytest.mark.parametrize("n", LINES)
def test_lines_are_transformed(fourier: CDLL, n: int, back: bool) -> None:
    assert error(fourier, n, back, n) < 2e-16 * (2 + log2(n))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 7), st.sampled_from([1, 3, 5, 7, 9, 11, 13, 15, 21]), st.integers(0, 1 << 30))
def test_any_length_is_transformed(fourier: CDLL, twos: int, odd: int, seed: int) -> None:
    n = odd << twos
    assert error(fourier, n, seed % 2 == 1, seed) < 2e-16 * (4 + log2(n))


def test_lengths_in_vectors_are_those_that_the_square_of_their_lanes_divides(fourier: CDLL) -> None:
    suits = [n for n in LINES if fourier.suits(c_longlong(n))]
    assert {64, 192, 512, 704} <= set(suits) and not {1, 2, 3, 35, 97} & set(suits)
