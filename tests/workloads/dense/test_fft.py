"""Fft: lengths and numbers of processes that nothing divides; there and back; one wrong point of many is found."""

from __future__ import annotations

from pathlib import Path

import pytest

import native
from firstlight.execute.build import Built
from native import COUNTED, Placement

pytestmark = pytest.mark.native

BOTH = "task=forward,return"
WAYS = "exchange=alltoall,pairwise,overlap,linear,bruck,paced"
ODD = "n=1,2,3,4,6,7,12,35,97,121,600,1000,2048,2049,3600"


def program(variant: str) -> Built:
    return native.plain("fft", variant)


@pytest.mark.parametrize("variant", ["serial", "six_step"])
def test_any_number_of_points_on_one_process(variant: str, tmp_path: Path) -> None:
    native.verified(program(variant), Placement(), tmp_path, ODD, BOTH, effort=COUNTED)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_rows_are_divided_among_any_number_of_processes(ranks: int, tmp_path: Path) -> None:
    """Rows of one process more than those of another, and one row each; each way of exchanging them."""
    native.verified(program("mpi"), Placement(ranks=ranks), tmp_path, "n=16,35,600,4096", BOTH, WAYS, effort=COUNTED)


def test_more_processes_than_rows_are_refused(tmp_path: Path) -> None:
    output = native.run(program("mpi"), Placement(ranks=2), ("n=97",), tmp_path, COUNTED)
    assert output.status == 2 and "97 points in 1 rows: needs at most one process per row, 2 given" in output.stderr


@pytest.mark.parametrize("variant", ["broken_point", "broken_swapped", "broken_narrow", "broken_twiddle"])
@pytest.mark.parametrize("n", [600, 1 << 17])
def test_errors_are_found_in_few_points_and_in_many(variant: str, n: int, tmp_path: Path) -> None:
    """Beyond 2048 points, only the sums between them reveal most errors."""
    output = native.run(program(variant), Placement(), (f"n={n}",), tmp_path, COUNTED)
    assert output.status == 1 and not any(check["ok"] for check in output.of("check"))


def test_errors_are_far_below_the_rule(tmp_path: Path) -> None:
    """HPC Challenge allows 16 eps log2 n; a sound transform has a tenth of it at most."""
    output = native.verified(program("six_step"), Placement(), tmp_path, "n=600,4096,131072", BOTH, effort=COUNTED)
    assert all(check["error"] < 0.1 for check in output.of("check"))
