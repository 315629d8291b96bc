"""libfirstlight_coll.so: plain programs in C++ and Fortran have correct results from schedules; a broken table is
reported.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

import launches
import native
import schedules
import turns
from firstlight.commands.tune import preload
from firstlight.commands.tune.table import Rule, Table
from firstlight.toolchain import Mpi

pytestmark = [pytest.mark.native, pytest.mark.full]

HERE = Path(__file__).parent
TABLE = """firstlight-collectives 1
# a comment
broadcast      *  *      binomial            0
reduce         *  *      binomial            3
allreduce      2  0-100  recursive_doubling  0
allreduce      *  *      ring                0   # and another
allgather      *  *      bruck               0
reduce_scatter *  *      pairwise            0
alltoall       *  *      pairwise            0
barrier        *  *      dissemination       0
"""
COLLECTIVES = {"broadcast", "reduce", "allreduce", "allgather", "reduce_scatter", "alltoall", "barrier"}
MPIS = [m.name for m in native.toolbox().mpis] or ["none"]


@pytest.fixture(scope="module", params=MPIS)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    found = next((m for m in native.toolbox().mpis if m.name == request.param), None)
    if found is None:
        pytest.skip("no MPI library here")
    return found


@pytest.fixture(scope="module")
def library(mpi: Mpi) -> Path:
    return preload.library(mpi, native.CACHE)


@pytest.fixture(scope="module")
def plain(mpi: Mpi) -> Path:
    return schedules.linked(mpi, "plain", [HERE / "collectives_preload.cpp"], [], "-O1")


def start(mpi: Mpi, program: Path, ranks: int, library: Path, table: Path | None) -> tuple[str, str]:
    """Run a program with the library; return the output of both."""
    chosen = preload.environment(library, table) if table else {"LD_PRELOAD": str(library)}
    extra = mpi.environment | chosen | {"FIRSTLIGHT_COLLECTIVES_VERBOSE": "1"}
    with turns.party(ranks, mpi.family == "openmpi"):
        done = launches.by_hand([*schedules.launcher(mpi, ranks), program], extra)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, done.stderr


def counted(stderr: str) -> dict[str, tuple[int, int]]:
    """Return by collective: (calls that used a schedule, calls that the library served)."""
    found = re.findall(r"firstlight collectives: (\w+): (\d+) by a schedule, (\d+) by the library", stderr)
    return {name: (int(ours), int(others)) for name, ours, others in found}


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_a_program_in_c(ranks: int, mpi: Mpi, library: Path, plain: Path, tmp_path: Path) -> None:
    table = tmp_path / "table"
    table.write_text(TABLE)
    stdout, stderr = start(mpi, plain, ranks, library, table)
    assert stdout.split() == ["wrong", "0"]
    counts = counted(stderr)
    assert set(counts) == COLLECTIVES and all(ours > 90 for ours, _ in counts.values())
    # A user's operation, pairs with an index, and a communicator between groups.
    assert counts["allreduce"][1] == (2 if ranks == 1 else 3) and counts["broadcast"][1] == 0


def test_a_program_in_fortran(mpi: Mpi, library: Path, tmp_path: Path) -> None:
    if mpi.fortran is None or "gcc" not in mpi.f08:
        pytest.skip("this MPI library has no mpi_f08 for gfortran here")
    program, table = tmp_path / "plain", tmp_path / "table"
    words = [mpi.fortran, "-O1", f"-J{tmp_path}", str(HERE / "collectives_preload.f90"), "-o", str(program)]
    subprocess.run(words, env=os.environ | mpi.environment, check=True, capture_output=True)
    table.write_text(TABLE)
    stdout, stderr = start(mpi, program, 2, library, table)
    assert stdout.split() == ["wrong", "0"]
    assert counted(stderr) == {
        "broadcast": (1, 0), "reduce": (2, 0), "allreduce": (3, 0), "allgather": (1, 0), "reduce_scatter": (1, 0),
        "alltoall": (1, 0), "barrier": (2, 0),
    }  # fmt: skip


@pytest.mark.parametrize("mpi", MPIS[:1], indirect=True)  # it is read alike with all
@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "line 1: is not 'firstlight-collectives 1'"),
        ("firstlight-collectives 2\n", "line 1: is not 'firstlight-collectives 1'"),
        (TABLE + "scan * * ring 0\n", "line 11: there is no collective 'scan'"),
        (TABLE + "allreduce * * rings 0\n", "line 11: there is no algorithm 'rings'"),
        (TABLE + "broadcast * * ring 0\n", "line 11: ring has no broadcast"),
        (TABLE + "allreduce 9-8 * ring 0\n", "line 11: ranks '9-8' ends before it begins"),
        (TABLE + "allreduce * 1k ring 0\n", "line 11: bytes '1k' is not a number"),
        (TABLE + "allreduce * * ring\n", "line 11: has 4 words instead of 5"),
        (TABLE + "allreduce * * ring -1\n", "line 11: segments '-1' is not a number"),
        (None, "cannot be read"),
    ],
)
def test_a_broken_table_says_so_once(
    text: str | None, complaint: str, mpi: Mpi, library: Path, plain: Path, tmp_path: Path
) -> None:
    table = tmp_path / "table"
    if text is not None:
        table.write_text(text)
    stdout, stderr = start(mpi, plain, 2, library, table)
    assert stdout.split() == ["wrong", "0"]
    lines = [line for line in stderr.splitlines() if "using the library's own collectives" in line]
    assert len(lines) == 1 and complaint in lines[0] and str(table) in lines[0]
    assert all(ours == 0 for ours, _ in counted(stderr).values())


def test_what_an_algorithm_cannot_do_is_the_librarys(mpi: Mpi, library: Path, plain: Path, tmp_path: Path) -> None:
    table = tmp_path / "table"
    table.write_text("firstlight-collectives 1\nallreduce * * hypercube 0\n")
    stdout, stderr = start(mpi, plain, 3, library, table)
    assert stdout.split() == ["wrong", "0"]
    assert stderr.count("using the library's own collective there") == 1
    assert counted(stderr)["allreduce"][0] == 1  # two ranks make a communicator of their own


def test_without_a_table_nothing_changes(mpi: Mpi, library: Path, plain: Path) -> None:
    stdout, stderr = start(mpi, plain, 2, library, None)
    assert stdout.split() == ["wrong", "0"]
    assert all(ours == 0 for ours, _ in counted(stderr).values())


def test_a_tuned_table_is_one_that_the_library_reads(mpi: Mpi, library: Path, plain: Path, tmp_path: Path) -> None:
    table = tmp_path / "table"
    rules = (Rule("allreduce", 2, 0, 64, "recursive_doubling"), Rule("barrier", 2, 0, 1, "dissemination"))
    table.write_text(preload.text(Table(rules)))
    stdout, stderr = start(mpi, plain, 2, library, table)
    assert stdout.split() == ["wrong", "0"]
    counts = counted(stderr)
    assert counts["barrier"][0] > 100 and counts["broadcast"][0] == 0
    assert counts["allreduce"][0] > 50 and counts["allreduce"][1] > 50
