"""The kernels of the device ceilings as plain loops against their formulas."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import drivers
import native
from firstlight import ROOT

pytestmark = pytest.mark.native

Index, Real = ctypes.c_int64, ctypes.c_double
OPERATIONS = ("copy", "scale", "add", "triad", "load")
LENGTH, A, B = 1024, 1 - 2.0**-10, 4 * 2.0**-10


@pytest.fixture(scope="module")
def functions() -> ctypes.CDLL:
    folders = [native.workloads[name].folder for name in ("stream", "peak", "kernel_launch")]
    include = (f"-I{ROOT}/native/harness/include", *(f"-I{f}" for f in (folders[0].parent, *folders)))
    flags = ("-O1", "-Wall", "-Wextra", "-Wno-psabi", "-Werror", *include)
    return drivers.library(Path(__file__).with_name("ceiling_functions.cpp"), *flags)


def pointer(array: np.ndarray) -> ctypes.Array:
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
@given(op=st.sampled_from(OPERATIONS), n=st.integers(1, 300), threads=st.integers(1, 70), last=st.floats(-4, 4))
def test_every_element_is_touched_once_by_any_number_of_threads(
    functions: ctypes.CDLL, op: str, n: int, threads: int, last: float
) -> None:
    grid = np.random.default_rng(n).integers(0, 1 << 20, (2, n)) * 2.0**-20 + 1
    x, y, out = grid[0], grid[1], np.full(n, np.nan)
    last = round(last * 1024) / 1024
    functions.run_stream(
        OPERATIONS.index(op), Index(n), Index(threads), pointer(x), pointer(y), Real(last), pointer(out)
    )
    seen = np.append(x[:-1], last)  # the last element follows the iteration
    wanted = {"copy": seen, "scale": 3 * seen, "add": seen + y, "triad": seen + 3 * y}
    if op == "load":
        assert out[0] == seen.sum()
    else:
        assert (out == wanted[op]).all()


@pytest.mark.parametrize(("bits", "epsilon"), [(32, 2.0**-23), (64, 2.0**-52)])
@pytest.mark.parametrize("laps", [1, 3])
def test_chains_arrive_where_the_closed_form_says(functions: ctypes.CDLL, bits: int, epsilon: float, laps: int) -> None:
    start, total = 1 + np.arange(48) * 2.0**-12, np.full(48, np.nan)
    functions.run_peak(bits, Index(48), Index(laps), pointer(start), Real(0.5), pointer(total))
    wanted = laps * (4 + A**LENGTH * (start + 0.5 - 4)) + A**LENGTH * 2**-12 * laps * (laps - 1) / 2
    assert np.abs(total / wanted - 1).max() < LENGTH * epsilon
    assert np.abs(total / (wanted * (laps + 1) / laps) - 1).min() > 0.2


def test_a_kernel_that_is_missing_or_doubled_breaks_its_row(functions: ctypes.CDLL) -> None:
    broken = (1 << 64) - 2

    def left_by(*numbers: int, begin: int = (1 << 64) - 1) -> int:
        count = ctypes.c_uint64(begin)
        for number in numbers:
            functions.count_one(ctypes.byref(count), ctypes.c_uint64(number))
        return count.value

    assert left_by(7, 8, 9, 10) == left_by(7, 8, 9, 10, begin=0x7FF8DEADBEEF0000) == left_by(8, 9, 10, begin=7) == 10
    assert left_by(7, 8, 10) == left_by(7, 8, 8) == left_by(7, 9, 8) == left_by(7, 8, 10, 11) == broken
