"""Random_access: HPC Challenge's stream by its definition; shares that nothing divides; what is lost and refused."""

from __future__ import annotations

from ctypes import CDLL, c_uint64
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import drivers
import native
from firstlight import ROOT
from firstlight.execute.build import Built
from native import COUNTED, Placement

MASK = (1 << 64) - 1
PERIOD = 1317624576693539401


def after(a: int) -> int:
    return (a << 1 & MASK) ^ (7 if a >> 63 else 0)


def starts(n: int) -> int:
    """HPC Challenge's jump, as its source has it: squares by a table of every second number."""
    n %= PERIOD
    if n == 0:
        return 1
    table, a = [], 1
    for _ in range(64):
        table.append(a)
        a = after(after(a))
    a = 2
    for i in range(n.bit_length() - 2, -1, -1):
        squared = 0
        for bit in range(64):
            squared ^= table[bit] if a >> bit & 1 else 0
        a = after(squared) if n >> i & 1 else squared
    return a


@pytest.fixture(scope="module")
def stream() -> CDLL:
    harness = ROOT / "native/harness/include"
    source = ROOT / "tests/workloads/dense/random_access_functions.cpp"
    library = drivers.library(source, "-O1", "-Wall", "-Wextra", "-Werror", f"-I{harness}", f"-I{ROOT}")
    library.number.restype = library.after.restype = c_uint64
    return library


def test_the_stream_begins_as_it_is_defined(stream: CDLL) -> None:
    a = 1
    for n in range(2000):
        assert stream.number(c_uint64(n)) == a
        assert stream.after(c_uint64(a)) == after(a)
        a = after(a)


@given(st.integers(0, MASK))
def test_a_jump_is_the_one_of_hpc_challenge(stream: CDLL, n: int) -> None:
    assert stream.number(c_uint64(n)) == starts(n)


@given(st.integers(0, PERIOD), st.integers(0, 200))
def test_a_jump_and_steps_are_a_longer_jump(stream: CDLL, n: int, steps: int) -> None:
    a = stream.number(c_uint64(n))
    for _ in range(steps):
        a = after(a)
    assert a == stream.number(c_uint64(n + steps))


def program(variant: str) -> Built:
    return native.plain("random_access", variant)


@pytest.mark.native
@pytest.mark.parametrize("variant", ["serial", "batched"])
def test_tables_of_any_size(variant: str, tmp_path: Path) -> None:
    native.verified(program(variant), Placement(), tmp_path, "words=1024,2048,131072", "per_word=1,3,4", effort=COUNTED)


@pytest.mark.native
@pytest.mark.parametrize("threads", [1, 3, 5])
def test_no_update_of_threads_is_lost(threads: int, tmp_path: Path) -> None:
    words = ("words=1024,65536", "per_word=1,4")
    output = native.verified(program("omp_atomic"), Placement(threads=threads), tmp_path, *words, effort=COUNTED)
    assert all(check["error"] == 0 for check in output.of("check"))


@pytest.mark.native
def test_threads_that_do_not_care_may_lose_one_in_a_hundred_words(tmp_path: Path) -> None:
    """One thread of them loses nothing."""
    alone = native.verified(program("omp"), Placement(), tmp_path, "words=65536", effort=COUNTED)
    assert {check["tolerance"] for check in alone.of("check")} == {0}
    output = native.run(program("omp"), Placement(threads=2), ("words=262144",), tmp_path, COUNTED)
    assert {check["tolerance"] for check in output.of("check")} == {2621.44}


@pytest.mark.native
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("variant", ["mpi_buckets", "mpi_hypercube", "mpi_accumulate"])
def test_processes_in_any_number(variant: str, ranks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are more updates than a process may hold, and fewer; `per_word=5` leaves a part of a batch.

    Open MPI 5.0.11 gets MPI_BXOR wrong where it uses a processor's atomics for it: then the check says so, and without
    them it is right.
    """
    words = ("words=1024,8192", "per_word=1,5")
    output = native.run(program(variant), Placement(ranks=ranks), words, tmp_path, COUNTED)
    if variant == "mpi_accumulate" and output.status == 1:
        assert any("words are wrong" in check["what"] for check in output.of("check"))
        monkeypatch.setenv("OMPI_MCA_osc_rdma_acc_use_amo", "0")
        words = ("words=8192,1024", "per_word=1,5")  # other words: outputs are stored by words, not by settings
        output = native.run(program(variant), Placement(ranks=ranks), words, tmp_path, COUNTED)
    refused = (variant, ranks) in {("mpi_hypercube", 3), ("mpi_accumulate", 1)}
    assert output.status == (2 if refused else 0), (output.reason, output.stderr)
    assert all(check["error"] == 0 for check in output.of("check"))
    assert not refused or "needs" in output.stderr


@pytest.mark.native
@pytest.mark.parametrize(("word", "why"), [("words=0", "from 1 to"), ("words=3000", "a power of two, not 3000")])
def test_what_is_no_table_is_refused_in_one_line(word: str, why: str) -> None:
    done = native.direct(program("serial"), word)
    assert done.returncode == 2 and why in done.stderr and done.stderr.count("\n") == 1
