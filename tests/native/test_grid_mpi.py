"""native/grid on every MPI library here: random cases of all kinds in one launch a number of ranks."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_grid import INCLUDES

import launches
import native
import schedules
import turns
from firstlight.toolchain import Mpi

pytestmark = pytest.mark.native

SOURCE = Path(__file__).with_name("grid_run.cpp")
CASES = {1: 20, 2: 16, 3: 10, 4: 6, 6: 4, 8: 2}
"""Cases for each number of dimensions, by ranks: a library that spins is slow with more ranks than processors."""
NAMES = [m.name for m in native.toolbox().mpis] or ["none"]


def libraries() -> list[object]:
    """Return the first MPI library of this machine; all with --full."""
    first, *others = NAMES
    return [first, *(pytest.param(name, marks=pytest.mark.full) for name in others)]


def parties() -> list[object]:
    """Return each library with each number of ranks; more than four ranks on shared processors only with one that
    yields.
    """
    first, *others = NAMES
    few = [pytest.param(name, ranks, marks=pytest.mark.full) for name in others for ranks in CASES if ranks <= 4]
    return [*((first, ranks) for ranks in CASES), *few]


def driver(name: str) -> tuple[Mpi, Path]:
    mpi = next((m for m in native.toolbox().mpis if m.name == name), None)
    if mpi is None:
        pytest.skip("no MPI library here")
    return mpi, schedules.linked(mpi, SOURCE.stem, [SOURCE], [], "-O1", *INCLUDES)


def run_driver(made: tuple[Mpi, Path], ranks: int, *words: str) -> tuple[int, int]:
    """Run the driver; return the number of exchanges and of wrong values."""
    mpi, program = made
    with turns.party(ranks, mpi.family == "openmpi"):
        done = launches.by_hand([*schedules.launcher(mpi, ranks), program, *words], mpi.environment)
    assert done.returncode == 0, done.stdout + done.stderr
    _, exchanges, _, wrong = done.stdout.split()
    return int(exchanges), int(wrong)


@pytest.mark.parametrize(("library", "ranks"), parties())
def test_every_value_arrives(library: str, ranks: int) -> None:
    assert run_driver(driver(library), ranks, str(ranks), str(CASES[ranks])) == (4 * (4 * CASES[ranks] + 4) + 12, 0)


@pytest.mark.parametrize("fault", ["swapped", "swapped put", "unawaited put", "unawaited shared"])
@pytest.mark.parametrize("library", libraries())
def test_faults_are_seen(library: str, fault: str) -> None:
    exchanges, wrong = run_driver(driver(library), 3, "1", "2", *fault.split())
    assert exchanges > 0 and wrong > 0


@pytest.mark.full
def test_memory_is_used_as_it_should_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under sanitizers; what the MPI library itself leaks is not looked at."""
    if not native.toolbox().mpis:
        pytest.skip("no MPI library here")
    mpi = native.toolbox().mpis[0]
    flags = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    program = schedules.linked(mpi, SOURCE.stem, [SOURCE], [], *flags, *INCLUDES)
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    for ranks in (1, 3):
        assert run_driver((mpi, program), ranks, "7", "10")[1] == 0
