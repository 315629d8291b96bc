"""Lu: tiles that divide nothing; threads, shares and processes that change no bit; a tournament as published."""

from __future__ import annotations

from pathlib import Path

import pytest

import native
from firstlight.execute.build import Built
from native import COUNTED, Placement

pytestmark = pytest.mark.native


def program(variant: str) -> Built:
    return native.plain("lu", variant)


def fingerprints(variant: str, place: Placement, folder: Path, *words: str) -> dict[tuple[object, ...], set[float]]:
    """Return all bits of x by n, block and step."""
    output = native.verified(program(variant), place, folder, *words, "--seed", "5", effort=COUNTED)
    found: dict[tuple[object, ...], set[float]] = {}
    for sample in output.of("sample"):
        case = output.of("case")[sample["case"]]["parameters"]
        found.setdefault((case["n"], case["block"], sample["sample"]), set()).add(sample["values"]["fingerprint"][0])
    return found


@pytest.mark.parametrize("variant", ["blocked", "calu"])
def test_tiles_that_divide_nothing(variant: str, tmp_path: Path) -> None:
    words = ("n=1,2,3,31,32,33,97,130", "block=1,2,5,32,200", "groups=1,2,3,5")
    native.verified(program(variant), Placement(), tmp_path, *words, effort=COUNTED)


@pytest.mark.parametrize(("plain", "threaded"), [("blocked", "omp"), ("blocked", "omp_tasks"), ("calu", "omp_calu")])
def test_neither_threads_nor_the_fixed_share_change_a_bit(plain: str, threaded: str, tmp_path: Path) -> None:
    words = ("n=33,150", "block=8,32")
    alone = fingerprints(plain, Placement(), tmp_path, *words)
    assert len(set(map(frozenset, alone.values()))) >= 4  # sizes and steps differ
    fixed = () if threaded == "omp_tasks" else ("fixed=0,30,50,100",)
    for threads in (1, 2, 3, 5):
        assert fingerprints(threaded, Placement(threads=threads), tmp_path, *words, *fixed) == alone


def test_growth_and_residual_of_a_tournament_are_the_published_ones(tmp_path: Path) -> None:
    """1024 equations, tile columns of 32, 4 groups: residual 0.0073 and growth 46.7 for another random matrix. The
    seed draws some elements of ours: growth was 44 to 130, and residuals 0.0014 to 0.0029, in 266 other launches."""
    words = ("n=1024", "block=32", "groups=4", "--seed", "5")
    output = native.verified(program("calu"), Placement(), tmp_path, *words, effort=COUNTED)
    growth = [sample["values"]["growth"][0] for sample in output.of("sample")]
    assert all(46.7 / 2.5 < g < 46.7 * 2.5 for g in growth), growth
    residuals = [float(check["what"].split("residual is ")[1].split(",")[0]) for check in output.of("check")]
    assert residuals and all(0.0073 / 8 < r < 0.0073 * 5 for r in residuals), residuals


@pytest.mark.parametrize("broken", ["broken_pivot", "broken_stale_panel", "broken_lost_update", "broken_unmoved"])
def test_many_equations_are_judged_as_few_are(broken: str, tmp_path: Path) -> None:
    """Beyond 96 equations no elimination is made once more."""
    for n in (90, 300):
        output = native.run(program(broken), Placement(), (f"n={n}",), tmp_path, COUNTED)
        assert output.status == 1 and not any(check["ok"] for check in output.of("check"))


@pytest.mark.parametrize(("plain", "grid", "groups"), [("blocked", "mpi_grid", 4), ("calu", "mpi_calu", 8)])
def test_no_grid_of_processes_changes_a_bit(plain: str, grid: str, groups: int, tmp_path: Path) -> None:
    """In a column, a row or a rectangle, with blocks that divide nothing; groups of rows within processes."""
    words = ("n=1,33,150", "block=7,32", f"groups={groups}")
    alone = fingerprints(plain, Placement(), tmp_path, *words)
    for ranks, down in [(1, 0), (2, 1), (2, 2), (3, 1), (4, 4), (5, 1), (6, 2), (7, 1), (8, 4), (8, 0)]:
        assert fingerprints(grid, Placement(ranks=ranks), tmp_path, *words, f"down={down}") == alone, (ranks, down)


@pytest.mark.parametrize(("ranks", "down"), [(3, 3), (6, 3), (5, 5)])
def test_columns_of_any_number_of_processes(ranks: int, down: int, tmp_path: Path) -> None:
    words = ("n=1,33,150", "block=7,32", f"down={down}")
    alone = fingerprints("blocked", Placement(), tmp_path, *words[:2])
    assert fingerprints("mpi_grid", Placement(ranks=ranks), tmp_path, *words) == alone


def test_grids_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    output = native.run(program("mpi_grid"), Placement(ranks=2), ("n=33", "down=3"), tmp_path, COUNTED)
    assert output.status == 2 and "2 ranks do not form a grid with 3 ranks per column" in output.stderr
    output = native.run(program("mpi_calu"), Placement(ranks=2), ("n=33", "down=2", "groups=3"), tmp_path, COUNTED)
    assert output.status == 2 and "3 groups of rows cannot be distributed to 2 processes in a column" in output.stderr


@pytest.mark.parametrize("broken", ["broken_mpi_stale", "broken_mpi_exchange"])
def test_what_does_not_arrive_is_found(broken: str, tmp_path: Path) -> None:
    lu = native.workloads["lu"]
    made = native.built_somehow(lu, lu.variant(broken))
    for ranks, down in [(2, 1), (4, 2)]:
        words = ("n=90,200", "block=16", f"down={down}")
        output = native.run(made, Placement(ranks=ranks), words, tmp_path, COUNTED)
        assert output.status == 1 and not any(check["ok"] for check in output.of("check") if check["when"] == "after")
