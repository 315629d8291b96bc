"""Kernels of a device on a processor: a fiber a thread, barriers that are there and such that are missing."""

from __future__ import annotations

import subprocess
import sys
from ctypes import CDLL, byref, c_bool, c_double, c_int
from math import prod

import pytest

import drivers
from firstlight import ROOT

pytestmark = pytest.mark.native

THREADS = 32


@pytest.fixture(scope="module")
def block() -> CDLL:
    flags = ("-O1", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/native/harness/include")
    return drivers.library(ROOT / "tests/native/block_functions.cpp", *flags)


def shifted(block: CDLL, blocks: tuple[int, int, int], times: int, apart: int, barriers: int) -> list[int]:
    out = (c_int * (prod(blocks) * times * THREADS))()
    block.run_shifted(*blocks, times, apart, barriers, out)
    return list(out)


def wanted(blocks: tuple[int, int, int], times: int, apart: int) -> list[int]:
    one = [1000 * (n + 1) + (me + apart) % THREADS for n in range(times) for me in range(THREADS)]
    return one * prod(blocks)


@pytest.mark.parametrize("blocks", [(1, 1, 1), (3, 2, 1), (2, 1, 3)])
@pytest.mark.parametrize("apart", [1, 7, 31])
def test_a_thread_reads_what_another_wrote_before_the_barrier(
    block: CDLL, blocks: tuple[int, int, int], apart: int
) -> None:
    assert shifted(block, blocks, 5, apart, barriers=2) == wanted(blocks, 5, apart)


@pytest.mark.parametrize("apart", [1, 31])
@pytest.mark.parametrize("barriers", [0, 1])
def test_a_barrier_that_is_missing_shows(block: CDLL, apart: int, barriers: int) -> None:
    """Before the values are read, and before they are written anew."""
    assert shifted(block, (1, 1, 1), 5, apart, barriers) != wanted((1, 1, 1), 5, apart)


@pytest.mark.parametrize("writer", [0, 17, 31])
def test_a_value_that_one_thread_writes_and_all_read_needs_a_barrier(block: CDLL, writer: int) -> None:
    """Whichever thread writes it, also the first and the last."""
    out = (c_int * (4 * THREADS))()
    block.run_race(0, writer, out)
    assert {1000 + writer} < set(out)


def test_threads_that_write_to_one_place_end_in_another_order_each_time(block: CDLL) -> None:
    out = (c_int * (4 * THREADS))()
    block.run_race(1, 0, out)
    blocks = [set(out[k : k + THREADS]) for k in range(0, 4 * THREADS, THREADS)]
    assert all(len(values) == 1 for values in blocks) and len(set.union(*blocks)) > 1


@pytest.mark.parametrize("blocks", [(1, 1, 1), (3, 2, 1), (2, 1, 3)])
def test_without_shared_memory_every_thread_runs_once(block: CDLL, blocks: tuple[int, int, int]) -> None:
    visits = (c_int * (prod(blocks) * THREADS))()
    block.run_visits(*blocks, visits)
    assert set(visits) == {1}


@pytest.mark.parametrize(("run", "each"), [("run_chain", THREADS), ("run_chain_of_blocks", 1)])
def test_threads_and_blocks_that_rely_on_their_order_show(block: CDLL, run: str, each: int) -> None:
    """What a thread leaves for the next one, or a block for the next one, is in no order on a device."""
    values = (c_int * (16 * each))()
    getattr(block, run)(16, values)
    assert list(values) != list(range(1, 16 * each + 1))


def test_the_sum_of_a_block_is_there_for_each_thread(block: CDLL) -> None:
    for barriers in (True, False):
        out = (c_double * THREADS)()
        block.run_sum(c_bool(barriers), out)
        assert (set(out) == {sum(k * k for k in range(THREADS)) + THREADS}) == barriers


def test_every_thread_of_every_block_adds(block: CDLL) -> None:
    to = c_double(0.5)
    block.run_adding(byref(to))
    assert to.value == 0.5 + 12 * sum(range(THREADS))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("run_leaving()", "block: some threads left their block while others wait at a barrier"),
        ("run_outside()", "block: a barrier outside of each_block()"),
        ("run_waiting_without_memory()", "block: a barrier outside of each_block()"),
        *(
            (f"run_beyond({place})", "block: a thread wrote next to the shared memory of its block")
            for place in (-THREADS, -1, THREADS, 2 * THREADS)
        ),
    ],
)
def test_what_no_device_could_do_ends_the_program(block: CDLL, call: str, message: str) -> None:
    program = f"import ctypes; ctypes.CDLL({block._name!r}).{call}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode < 0 and done.stderr.splitlines()[0] == message
