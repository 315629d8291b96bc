"""himeno on several processes: one sum on every grid of processes, stale halos rejected, emulated devices right."""

from __future__ import annotations

from pathlib import Path

import pytest

import native
from firstlight.execute.build import Built
from mpi_programs import build_on_each_library, for_ranks
from native import Output, Placement

pytestmark = [pytest.mark.native, pytest.mark.full]

HIMENO = native.workloads["himeno"]
POINTS = (("i", 19), ("j", 13), ("k", 37))
GRIDS = {
    1: [(0, 0, 0)],
    2: [(2, 1, 1), (1, 2, 1), (1, 1, 2)],
    3: [(0, 0, 0)],
    4: [(4, 1, 1), (1, 2, 2)],
    5: [(0, 0, 0)],
    6: [(1, 2, 3), (3, 2, 1)],
    7: [(0, 0, 0)],
    8: [(2, 2, 2), (8, 1, 1)],
}
ALL = [(ranks, grid) for ranks, grids in GRIDS.items() for grid in grids]
FEW = [(1, (0, 0, 0)), (2, (1, 1, 2)), (8, (2, 2, 2))]
ON = (
    [("mpi_overlap", *on) for on in ALL]
    + [("mpi_blocking", *on) for on in FEW]
    + [("mpi_emulated", *on) for on in FEW[:2]]
)
ROUNDING = 1e-13
"""Relative error of sums in 64 bits, in any order."""


@pytest.fixture(scope="module")
def built() -> dict[str, list[Built]]:
    """By variant, the program of each MPI library; those that `test_workloads` builds as well."""
    return build_on_each_library(HIMENO, [v for v in HIMENO.variants if "mpi" in v.needs and "cuda" not in v.needs])


def words(grid: tuple[int, ...], *more: str) -> tuple[str, ...]:
    points = tuple(f"{name}={n}" for name, n in POINTS)
    return ("size=free", *points, *(f"{n}={c}" for n, c in zip(("pi", "pj", "pk"), grid, strict=True)), *more)


def run(program: Built, ranks: int, folder: Path, *words: str, threads: int = 1) -> Output:
    return native.run(program, Placement(1, ranks, threads), words, folder)


def gosa(output: Output) -> list[float]:
    """Return gosa for the inputs that never change, by problem; it is the same in every sample."""
    assert (output.status, output.reason) == (0, ""), output.stderr
    found: dict[int, set[float]] = {}
    for sample in output.of("sample"):
        found.setdefault(sample["case"], set()).update(sample["values"]["gosa"])
    assert [len(found[case]) for case in sorted(found)] == [1, 1]
    return [found[case].pop() for case in sorted(found)]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> list[float]:
    """Return the result of a program without MPI."""
    program = native.plain("himeno", "serial")
    both = words((0, 0, 0), "problem=official,general")
    return gosa(native.verified(program, Placement(), tmp_path_factory.mktemp("alone"), *both))


@pytest.mark.parametrize(("variant", "ranks", "grid"), ON)
def test_the_sum_is_the_same_on_every_grid(
    variant: str, ranks: int, grid: tuple[int, ...], built: dict[str, list[Built]], alone: list[float], tmp_path: Path
) -> None:
    for program in for_ranks(built[variant], ranks):
        output = run(program, ranks, tmp_path, *words(grid, "problem=official,general"))
        assert gosa(output) == pytest.approx(alone, rel=ROUNDING)


@pytest.mark.parametrize(("ranks", "grid"), FEW[:2])
def test_each_of_the_kernels_in_turn_adds_up(
    ranks: int, grid: tuple[int, ...], built: dict[str, list[Built]], tmp_path: Path
) -> None:
    """The sum is that of the last sweep: of one sweep by the first kernel, of two by the second; elsewhere of three."""
    program = for_ranks(built["mpi_emulated"], ranks)[0]
    output = run(program, ranks, tmp_path, *words(grid, "problem=general", "sweeps=1,2"))
    assert (output.status, output.reason) == (0, ""), output.stderr
    assert [check["ok"] for check in output.of("check")] and all(check["ok"] for check in output.of("check"))


@pytest.mark.parametrize(("ranks", "threads"), [(1, 1), (1, 3), (2, 2), (3, 1)])
def test_threads_change_nothing(
    ranks: int, threads: int, built: dict[str, list[Built]], alone: list[float], tmp_path: Path
) -> None:
    for program in for_ranks(built["mpi_omp_overlap"], ranks * threads):
        output = run(program, ranks, tmp_path, *words((0, 0, 0), "problem=official,general"), threads=threads)
        assert gosa(output) == pytest.approx(alone, rel=ROUNDING)


@pytest.mark.parametrize(("ranks", "grid"), [(2, (2, 1, 1)), (4, (1, 2, 2))])
def test_a_stale_halo_is_rejected(
    ranks: int, grid: tuple[int, ...], built: dict[str, list[Built]], tmp_path: Path
) -> None:
    for program in for_ranks(built["broken_mpi_stale_halo"], ranks):
        output = run(program, ranks, tmp_path, *words(grid, "problem=official,general"))
        assert output.status == 1, (output.reason, output.stderr)
        assert {c["case"] for c in output.of("check") if not c["ok"]} == {0, 1}


@pytest.mark.parametrize(("ranks", "grid"), [(2, (3, 1, 1)), (4, (1, 2, 1)), (3, (2, 0, 0))])
def test_a_grid_of_other_processes_is_refused(
    ranks: int, grid: tuple[int, ...], built: dict[str, list[Built]], tmp_path: Path
) -> None:
    output = run(for_ranks(built["mpi_overlap"], ranks)[0], ranks, tmp_path, *words(grid))
    assert output.status == 2 and "no process grid like" in output.stderr
