"""If one rank fails, the others do not wait for it, and the job ends within seconds with that rank's message."""

from __future__ import annotations

import subprocess
from pathlib import Path

import msgspec
import pytest

import drivers
import launches
import own
import schedules
import turns
from firstlight import ROOT
from firstlight.execute import launch
from firstlight.execute.build import Built
from firstlight.model.plan import Program
from firstlight.toolchain import Mpi

pytestmark = pytest.mark.native

EFFORT = ("--samples", "2", "--steps", "3")
SOON = 60
"""Seconds: far beyond the end of a job on a busy machine, far below a run's patience with one that hangs."""


def program(mpi: Mpi) -> Built:
    import native

    tool = native.toolchain("base")
    if tool is None:
        pytest.skip("no gcc here")
    return own.made(Program("lone", "mpi_sum", tool.name, mpi.name))


def launched(mpi: Mpi, ranks: int, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    built = program(mpi)
    assert built.executable is not None, built.error
    command = [*schedules.launcher(mpi, ranks), str(built.executable), *words, *EFFORT]
    with turns.party(ranks):
        return launches.by_hand(command, {**mpi.environment, **environment}, SOON)


@pytest.fixture(scope="module")
def some_counters() -> Path:
    source = ROOT / "tests/native/some_counters.cpp"
    return drivers.linked("some_counters.so", drivers.objects([source], "-fPIC"), "-shared", "-ldl")


def lines(done: subprocess.CompletedProcess[str], kind: str) -> list[dict[str, object]]:
    found = [msgspec.json.decode(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return [line for line in found if line["type"] == kind]


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("those", ["even", "odd"])
def test_counters_that_open_on_some_ranks_only_stop_nobody(
    mpis: tuple[Mpi, ...], some_counters: Path, those: str, ranks: int
) -> None:
    """Either rank 0 counts for all or no rank does: its counters are recorded."""
    for mpi in mpis:
        done = launched(mpi, ranks, LD_PRELOAD=str(some_counters), COUNTERS_OF=those)
        assert done.returncode == 0, (mpi.label, done.stderr)
        (end,) = lines(done, "end")
        counted = lines(done, "counters")
        assert end["cases"] == 1 and len(counted) == (1 if those == "even" else 0), mpi.label
        assert all(line["instructions"] and "refused" not in line for line in counted)


def test_a_counter_that_says_more_than_a_processor_can_do_is_refused(
    mpis: tuple[Mpi, ...], some_counters: Path
) -> None:
    """Some hypervisors give readings that are 2^47 too large."""
    done = launched(mpis[0], 2, LD_PRELOAD=str(some_counters), COUNTERS_OF="even", COUNTERS_JUMP=str(2**47))
    (counted,) = lines(done, "counters")
    assert "instructions" not in counted and counted["cycles"] == 1000
    assert str(counted["refused"]).startswith("instructions not available: 1.40737e+14 were counted in 1000 ns")


WORDS = {
    "refuse": "rank 1: met trouble in refuse",
    "init": "rank 1: met trouble in init",
    "memory": "rank 1: out of memory",
    "vector": "rank 1: out of memory; choose a smaller size",
    "step": "rank 1: met trouble in step",
    "check": "rank 1: met trouble in check",
    "observe": "rank 1: met trouble in observe",
}


@pytest.mark.parametrize("where", WORDS)
def test_a_rank_that_fails_alone_ends_the_job_with_its_words(mpis: tuple[Mpi, ...], where: str) -> None:
    for mpi in mpis:
        done = launched(mpi, 2, "rank=1", f"where={where}")
        assert done.returncode != 0 and WORDS[where] in done.stderr, (mpi.label, done.returncode, done.stderr)
        executable = program(mpi).executable
        assert executable is not None
        reported = launch._last_message(done.stderr, executable)  # what a run reports, and not what its launcher adds
        assert reported.startswith(WORDS[where]), (mpi.label, done.stderr)
        assert not lines(done, "end")


def test_a_rank_without_others_is_heard_over_its_launcher(mpis: tuple[Mpi, ...]) -> None:
    for mpi in mpis:
        done = launched(mpi, 1, "rank=0", "where=init")
        executable = program(mpi).executable
        assert executable is not None and done.returncode != 0
        assert launch._last_message(done.stderr, executable) == "met trouble in init", (mpi.label, done.stderr)


def test_a_refusal_of_one_rank_is_a_refusal_of_all(mpis: tuple[Mpi, ...]) -> None:
    done = launched(mpis[0], 3, "rank=2", "where=refuse")
    assert done.returncode == 2 and "rank 2: met trouble in refuse" in done.stderr and done.stdout == ""


def test_ranks_that_reckon_with_other_sizes_check_alike(mpis: tuple[Mpi, ...]) -> None:
    """One rank decides for all whether a case is checked before it is timed."""
    for rank, often in ((1, 3), (0, 1)):
        done = launched(mpis[0], 2, f"rank={rank}", "where=working_set")
        assert done.returncode == 0, done.stderr
        assert len(lines(done, "check")) == often
