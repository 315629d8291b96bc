"""Schedules on real MPI: every algorithm on several process counts, random ones; the workload and what it catches."""

from __future__ import annotations

from pathlib import Path

import pytest

import launches
import native
import schedules
import turns
from firstlight.execute.build import Built
from firstlight.toolchain import Mpi
from native import Placement

pytestmark = [pytest.mark.native, pytest.mark.full]

SOURCE = Path(__file__).with_name("collectives_run.cpp")
WORKLOAD = native.workloads["collectives"]
MOST = {"mpich": 2}  # ranks of an MPI library that waits by spinning, on a small machine


def mpi_ids() -> list[str]:
    return [m.name for m in native.toolbox().mpis] or ["none"]


def mpi_named(name: str) -> Mpi:
    found = next((m for m in native.toolbox().mpis if m.name == name), None)
    if found is None:
        pytest.skip("no MPI library here")
    return found


def query(mpi: Mpi, program: Path, ranks: int, *words: str) -> str:
    """Return the output of the driver's rank 0; it fails if an element is wrong."""
    with turns.party(ranks, mpi.family == "openmpi"):
        done = launches.by_hand([*schedules.launcher(mpi, ranks), program, *words], mpi.environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module", params=mpi_ids())
def driver(request: pytest.FixtureRequest) -> tuple[Mpi, Path]:
    mpi = mpi_named(request.param)
    return mpi, schedules.driver(mpi, SOURCE)


def bearable(*ranks: int) -> pytest.MarkDecorator:
    """Return every MPI library with every number of ranks that it can run in reasonable time."""
    pairs = [(mpi, n) for mpi in mpi_ids() for n in ranks if n <= MOST.get(mpi, n)]
    return pytest.mark.parametrize(("driver", "ranks"), pairs, indirect=["driver"])


@bearable(1, 2, 3, 4, 6)
def test_every_algorithm_gives_every_element(ranks: int, driver: tuple[Mpi, Path]) -> None:
    mpi, program = driver
    answer = query(mpi, program, ranks, "all", "3").split()
    assert answer[0] == "runs" and int(answer[1]) > 100 and answer[-1] == "0"


@bearable(1, 2, 3, 5)
def test_random_schedules(ranks: int, driver: tuple[Mpi, Path]) -> None:
    mpi, program = driver
    assert query(mpi, program, ranks, str(ranks), "60").split()[-1] == "0"


def test_what_is_a_chain_runs_without_bookkeeping(driver: tuple[Mpi, Path]) -> None:
    mpi, program = driver
    lines = [line.split() for line in query(mpi, program, 2, "chains").splitlines()]
    chains = {(name, collective) for name, collective, _, chain in (x for x in lines if len(x) == 4) if chain == "1"}
    assert {
        ("binomial", "broadcast"),
        ("binomial", "reduce"),
        ("dissemination", "barrier"),
        ("ring", "allgather"),
    } <= chains


def test_memory_is_used_as_it_should_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """The executor under sanitizers; what the MPI library itself leaks is not looked at."""
    mpi = mpi_named(mpi_ids()[0])
    program = schedules.driver(mpi, SOURCE, "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    for ranks in (1, 3):
        assert query(mpi, program, ranks, "7", "60").split()[-1] == "0"


# --- the workload ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built() -> dict[str, list[Built]]:
    """Build every variant with base flags, for each MPI library."""
    if native.toolchain("base") is None or not native.toolbox().mpis:
        pytest.skip("no gcc or no MPI library here")
    made = native.make(p for v in WORKLOAD.variants for p in native.on_each_library(WORKLOAD, v))
    found: dict[str, list[Built]] = {}
    for program, one in made.items():
        assert one.error == ""
        found.setdefault(program.variant, []).append(one)
    return found


def planned() -> list[tuple[str, str]]:
    """(variant, collective) of the standard suite."""
    names = {v.name for v in WORKLOAD.variants}
    return [
        (variant.removesuffix("*"), str(collective))
        for entry in WORKLOAD.suites["standard"]
        for variant in entry.variants
        for collective in entry.parameters["collective"]
        if variant.removesuffix("*") in names
    ]


def test_every_variant_is_planned() -> None:
    assert {v for v, _ in planned()} == {v.name for v in WORKLOAD.variants if not v.broken}


ROOTED, UNROOTED = {"broadcast", "reduce"}, {"allreduce", "allgather", "reduce_scatter", "alltoall"}
SIZES = "bytes=0,8,56,8000,300000"


@pytest.mark.parametrize("variant", sorted({v for v, _ in planned()}))
def test_every_collective_of_every_variant(variant: str, built: dict[str, list[Built]], tmp_path: Path) -> None:
    """Schedules on one MPI library: `test_every_algorithm_gives_every_element` runs them on each."""
    every = {c for v, c in planned() if v == variant}
    assert every <= ROOTED | UNROOTED | {"barrier"}
    for some, *words in (
        (every & ROOTED, SIZES, "root=1"),
        (every & UNROOTED, SIZES),
        (every & {"barrier"}, "bytes=0"),
    ):
        for one in built[variant][: None if variant == "mpi_library" else 1] if some else ():
            output = native.run(one, Placement(ranks=2), (f"collective={','.join(sorted(some))}", *words), tmp_path)
            assert (output.status, output.reason) == (0, ""), (one.program, output.reason, output.stderr)
            assert {c["parameters"]["collective"] for c in output.of("case")} == some


@pytest.mark.parametrize(
    ("variant", "ranks", "words", "message"),
    [
        ("mpi_ring", 2, ("collective=broadcast",), "ring has no broadcast"),
        ("mpi_hypercube", 3, ("collective=allreduce",), "needs"),
        ("mpi_binomial", 2, ("collective=broadcast", "root=2"), "root=2 needs more ranks than 2"),
        ("mpi_library", 1, ("collective=broadcast", "bytes=12"), "needs whole words"),
        ("mpi_library", 1, ("collective=barrier", "bytes=8"), "needs bytes=0"),
    ],
)
def test_refusals(
    variant: str, ranks: int, words: tuple[str, ...], message: str, built: dict[str, list[Built]], tmp_path: Path
) -> None:
    output = native.run(built[variant][0], Placement(ranks=ranks), words, tmp_path)
    assert output.status == 2 and output.lines == [] and message in output.stderr, output.stderr


@pytest.mark.parametrize(
    ("variant", "words", "message"),
    [
        ("broken_mpi_lost_contribution", ("collective=allreduce", "bytes=8"), "word 0 of the result is"),
        ("broken_mpi_paced_shifted", ("collective=alltoall", "bytes=64"), "word 8 of the result is"),
        ("broken_mpi_dissemination_silent", ("collective=barrier", "bytes=0"), "left the barrier"),
        ("broken_mpi_nothing", ("collective=barrier", "bytes=0"), "left the barrier"),
        ("broken_mpi_nothing", ("collective=reduce_scatter", "bytes=8"), "of the result is nan"),
        ("broken_mpi_nothing", ("collective=allgather", "bytes=8"), "of the result is nan"),
        ("broken_mpi_last_word", ("collective=allreduce", "bytes=64"), "word 7 of the result is nan"),
        ("broken_mpi_overrun", ("collective=allreduce", "bytes=64"), "word 0 after the result is 0"),
        ("broken_mpi_stale", ("collective=allreduce", "bytes=64"), "word 1 of the result is"),
    ],
)
def test_the_check_says_what_is_wrong(
    variant: str, words: tuple[str, ...], message: str, built: dict[str, list[Built]], tmp_path: Path
) -> None:
    for one in built[variant]:
        output = native.run(one, Placement(ranks=3), words, tmp_path)
        wrong = [c["what"] for c in output.of("check") if not c["ok"]]
        assert output.status == 1 and wrong and message in wrong[0], (output.reason, wrong)
