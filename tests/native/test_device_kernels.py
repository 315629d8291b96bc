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
WORKLOADS = ("stream", "peak", "kernel_launch", "random_access", "tensor")
OPERATIONS = ("copy", "scale", "add", "triad", "load")
LENGTH, A, B = 1024, 1 - 2.0**-10, 4 * 2.0**-10


@pytest.fixture(scope="module")
def functions() -> ctypes.CDLL:
    folders = [native.workloads[name].folder for name in WORKLOADS]
    include = (
        f"-I{ROOT}/native/harness/include",
        *(f"-I{f}" for f in (*dict.fromkeys(f.parent for f in folders), *folders)),
    )
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


def after(a: int) -> int:
    return (a << 1 & (1 << 64) - 1) ^ (7 if a >> 63 else 0)


@pytest.mark.parametrize("words", [1, 2, 1024])
@pytest.mark.parametrize("updates", [1, 63, 64, 65, 1000])
def test_threads_make_the_updates_of_the_stream_in_their_parts(
    functions: ctypes.CDLL, words: int, updates: int
) -> None:
    first, a, wanted = 12, 1 << 12, list(range(words))
    for _ in range(updates):
        wanted[a % words] ^= a
        a = after(a)
    table = (ctypes.c_uint64 * words)(*range(words))
    functions.run_updates(Index(words), Index(updates), ctypes.c_uint64(first), table)
    assert list(table) == wanted


def test_a_kernel_that_is_missing_or_doubled_breaks_its_row(functions: ctypes.CDLL) -> None:
    broken = (1 << 64) - 2

    def left_by(*numbers: int, begin: int = (1 << 64) - 1) -> int:
        count = ctypes.c_uint64(begin)
        for number in numbers:
            functions.count_one(ctypes.byref(count), ctypes.c_uint64(number))
        return count.value

    assert left_by(7, 8, 9, 10) == left_by(7, 8, 9, 10, begin=0x7FF8DEADBEEF0000) == left_by(8, 9, 10, begin=7) == 10
    assert left_by(7, 8, 10) == left_by(7, 8, 8) == left_by(7, 9, 8) == left_by(7, 8, 10, 11) == broken


@pytest.mark.parametrize("in_a_row", [1, 2, 100])
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_a_graph_counts_its_steps_and_one_without_a_kernel_shows(
    functions: ctypes.CDLL, in_a_row: int, steps: int
) -> None:
    def left_by(first: int) -> int:
        count = ctypes.c_uint64()
        functions.count_in_graph(ctypes.byref(count), Index(in_a_row), Index(first), Index(steps))
        return count.value

    assert left_by(0) == in_a_row * steps
    assert left_by(1) != in_a_row * steps


# How PTX spreads the elements of a tile over the threads of a warp: `group` is a thread's number divided by 4, `mine`
# the remainder, n the number of the element among those of the thread.
FORMATS = {"fp64": (8, 4, 1), "tf32": (16, 8, 1), "fp16": (16, 16, 2), "bf16": (16, 16, 2), "fp8": (16, 32, 4)}
"""Rows and columns of A, elements per register."""


def place_in_a(name: str, group: int, mine: int, n: int) -> tuple[int, int]:
    if name == "fp64":
        return group, mine
    if name == "tf32":
        return group + 8 * (n in (1, 3)), mine + 4 * (n >= 2)
    if name == "fp8":
        return group + 8 * (4 <= n < 8 or n >= 12), 4 * mine + n % 4 + 16 * (n >= 8)
    return group + 8 * (n in (2, 3, 6, 7)), 2 * mine + n % 2 + 8 * (n >= 4)


def place_in_b(name: str, group: int, mine: int, n: int) -> tuple[int, int]:
    packed = FORMATS[name][2]
    return packed * mine + n % packed + 4 * packed * (n // packed), group


def number(name: str, bits: int) -> float:
    """Decode the number of a format; NumPy has neither bfloat16 nor E4M3."""
    if name == "fp64":
        return float(np.uint64(bits).view(np.float64))
    if name == "fp16":
        return float(np.uint16(bits).view(np.float16))
    if name == "fp8":
        exponent, mantissa = bits >> 3 & 15, bits & 7
        magnitude = 2.0 ** (exponent - 7) * (1 + mantissa / 8) if exponent else 2.0**-6 * mantissa / 8
        return -magnitude if bits >> 7 else magnitude
    return float(np.uint32(bits << (16 if name == "bf16" else 0)).view(np.float32))


def tile(functions: ctypes.CDLL, name: str, matrix: str, chain: int, party: int, shift: int) -> np.ndarray:
    """Return the tile that the registers of 32 threads contain, as PTX reads them."""
    rows, depth, packed = FORMATS[name]
    shape, place = ((depth, 8), place_in_b) if matrix == "b" else ((rows, depth), place_in_a)
    found, width = np.full(shape, np.nan), (64 if name == "fp64" else 32) // packed
    for lane in range(32):
        for n in range(shape[0] * shape[1] // 32):
            words = (
                list(FORMATS).index(name),
                ctypes.c_char(matrix.encode()),
                chain,
                party,
                ctypes.c_uint32(shift),
                lane,
            )
            bits = functions.tensor_register(*words, n // packed)
            found[place(name, lane // 4, lane % 4, n)] = number(name, bits >> (n % packed * width) & (1 << width) - 1)
    return found


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(("party", "shift"), [(0, 0), (4095, 0xDEADBEEF)])
def test_registers_contain_the_tiles_as_the_instruction_reads_them(
    functions: ctypes.CDLL, name: str, party: int, shift: int
) -> None:
    functions.tensor_register.restype = ctypes.c_uint64
    a, other = (tile(functions, name, matrix, 0, party, shift) for matrix in "ao")
    assert set(np.unique(a)) == {-2, -1, 0, 1, 2} and set(np.unique(a + other)) == {0, 1}
    for chain in (0, 7):
        b = tile(functions, name, "b", chain, party, shift)
        assert set(np.unique(b)) == {-1, 0, 1}
        product = a @ b + other @ b
        form = list(FORMATS).index(name)
        wanted = [
            [functions.tensor_element(form, party, ctypes.c_uint32(shift), i, 8 * chain + j) for j in range(8)]
            for i in range(len(a))
        ]
        assert (product == wanted).all()


def test_the_registers_of_sums_cover_a_tile_once(functions: ctypes.CDLL) -> None:
    """Register n of a thread is in row `group`, from 2 on 8 rows below, and in column 2 mine + n % 2."""
    for lane in range(32):
        for n in range(4):
            wanted = 8 * (lane // 4 + 8 * (n >= 2)) + 2 * (lane % 4) + n % 2
            assert functions.tensor_position(lane, n) == wanted
