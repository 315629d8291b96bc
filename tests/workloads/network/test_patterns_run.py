"""Programs under the profiler: what was recorded is the generated matrix, a whole number of times."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

import launches
import native
import schedules
from commands import needs
from firstlight.commands.patterns import generator as patterns
from firstlight.execute.build import Built
from firstlight.results.traffic import Pair, Traffic, whole

pytestmark = [pytest.mark.native, pytest.mark.full, needs("profile")]

SMALL = {
    "npb_cg": ["class=S"],
    "nicam": ["g=5", "layers=1"],
    "lattice_qcd": ["nx=4", "ny=4", "nz=4", "nt=4"],
    "hpl": ["n=512", "nb=16"],
}
"""Small parameters of the patterns."""

Matrix = dict[tuple[int, int], tuple[int, int]]  # (from, to): (messages, bytes)


def matrix(pairs: Iterable[Pair]) -> Matrix:
    return {(p.source, p.target): (p.messages, p.bytes) for p in pairs}


def recorded(built: Built, processes: int, words: list[str], folder: Path) -> Matrix:
    """Return the matrix of a whole run of a program under ./fl profile, including the steps of the checks."""
    mpi = native.toolbox().mpis[0]
    output = folder / "out.jsonl"
    command = [*schedules.launcher(mpi, processes), str(built.executable), *words]
    command += ["--samples", "2", "--steps", "2", "--output", str(output)]
    profile = [sys.executable, "-m", "firstlight", "profile", "--json", "--results", str(folder), "--", *command]
    done = launches.by_hand(profile, mpi.environment)
    assert done.returncode == 0, done.stderr
    return matrix(whole(msgspec.json.decode(done.stdout, type=Traffic)).pairs)


def generated(simulator: Path, name: str, processes: int, given: list[str]) -> Matrix:
    return matrix(patterns.matrix(simulator, name, processes, given).pairs)


def assert_whole_multiple(found: Matrix, wanted: Matrix) -> None:
    """Check that all pairs have one number of iterations, and that each pair is in the pattern."""
    assert found.keys() == wanted.keys()
    pair = min(wanted)
    iterations, rest = divmod(found[pair][0], wanted[pair][0])
    assert rest == 0
    assert iterations >= 4
    assert found == {k: (iterations * n, iterations * size) for k, (n, size) in wanted.items()}


def program_of(name: str) -> Built:
    workload, variant = name.split(".")
    built = native.plain(workload, variant)
    assert built.executable is not None, built.error
    return built


@pytest.mark.workload("patterns")
@pytest.mark.parametrize("processes", [4, 8])
@pytest.mark.parametrize("kernel", SMALL)
def test_a_run_of_a_pattern_is_the_pattern(simulator: Path, tmp_path: Path, kernel: str, processes: int) -> None:
    words = [f"kernel={kernel}", "sizes=small"]
    found = recorded(program_of("patterns.mpi_nonblocking"), processes, words, tmp_path)
    assert_whole_multiple(found, generated(simulator, kernel, processes, SMALL[kernel]))


MEASURED = [
    ("halo.mpi_irecv_isend_waitall", ["n=16", "width=2", "word=8"], "halo", []),
    ("halo.mpi_all_at_once", ["n=16", "width=2", "word=8"], "halo", ["phases=one"]),
    ("vector_sum.mpi_cube", ["n=1003"], "global_sum", ["method=cube"]),
    ("vector_sum.mpi_ring", ["n=1004"], "global_sum", ["method=ring"]),
    ("vector_sum.mpi_rabenseifner", ["n=1003"], "global_sum", ["method=rabenseifner"]),
    ("fem2d.mpi", ["level=3"], "finite_elements", []),
]
"""Programs with their parameters, and the pattern with the same parameters and some of its own."""


@pytest.mark.parametrize("processes", [2, 4, 8])
@pytest.mark.parametrize(("program", "words", "name", "more"), MEASURED)
def test_what_is_measured_here_is_its_pattern(
    simulator: Path, tmp_path: Path, program: str, words: list[str], name: str, more: list[str], processes: int
) -> None:
    """An exchange, a sum, an iteration of the solver: every pair, its messages and bytes."""
    found = recorded(program_of(program), processes, words, tmp_path)
    assert_whole_multiple(found, generated(simulator, name, processes, [*words, *more]))


def test_a_sum_by_halves_beyond_a_power_of_two_is_its_pattern(simulator: Path, tmp_path: Path) -> None:
    found = recorded(program_of("vector_sum.mpi_rabenseifner"), 6, ["n=1003"], tmp_path)
    assert_whole_multiple(found, generated(simulator, "global_sum", 6, ["n=1003", "method=rabenseifner"]))
