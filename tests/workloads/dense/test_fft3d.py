"""Fft3d: boxes of unlike sides, slabs and pencils of any grid, each way of exchanging, waves; what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import native
from firstlight.execute.build import Built
from native import COUNTED, Placement

pytestmark = pytest.mark.native

BOTH = "task=forward,return"
INPUTS = "input=random,wave"
WAYS = "exchange=alltoall,pairwise,overlap,linear,bruck,paced"
BOX = ("n=9", "ny=10", "nz=11")


def program(variant: str) -> Built:
    return native.plain("fft3d", variant)


def test_boxes_of_any_sides_on_one_process(tmp_path: Path) -> None:
    native.verified(program("serial"), Placement(), tmp_path, "n=1,2,12", "ny=0,1,7", "nz=0,9", BOTH, effort=COUNTED)


def test_waves_are_one_point_and_what_changed_beside_them(tmp_path: Path) -> None:
    """The check covers each point, in a box that is too large for sums."""
    output = native.verified(program("serial"), Placement(), tmp_path, "n=40", "ny=25", "nz=36", INPUTS, effort=COUNTED)
    assert {check["what"].split()[0] for check in output.of("check")} == {"3", "36000"}
    assert all(check["error"] < 0.1 for check in output.of("check"))


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_slabs_and_pencils_of_any_number_of_processes(ranks: int, tmp_path: Path) -> None:
    """Parts of one process larger than those of another."""
    words = (*BOX, BOTH, "cut=slab,pencil", WAYS)
    native.verified(program("mpi"), Placement(ranks=ranks), tmp_path, *words, effort=COUNTED)


def test_pencils_of_each_grid(tmp_path: Path) -> None:
    words = (*BOX, "cut=pencil", "columns=1,2,3,6", INPUTS, "exchange=alltoall,overlap")
    native.verified(program("mpi"), Placement(ranks=6), tmp_path, *words, effort=COUNTED)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("n=3", "ny=4"), "slabs of 3 x 4 planes: needs at most one process per plane, 4 given"),
        (("n=3", "cut=pencil", "columns=4"), "no grid of 4 processes cuts 3 x 3 x 3 points into pencils"),
        (("n=8", "cut=pencil", "columns=3"), "of one line at least, 3 columns wide"),
        (("n=8", "columns=2"), "slabs are not divided further: columns= is for cut=pencil"),
    ],
)
def test_boxes_that_nobody_can_cut_so_are_refused(words: tuple[str, ...], why: str, tmp_path: Path) -> None:
    output = native.run(program("mpi"), Placement(ranks=4), words, tmp_path, COUNTED)
    assert output.status == 2 and why in output.stderr


@pytest.mark.parametrize("variant", ["broken_axis", "broken_twiddle"])
@pytest.mark.parametrize("words", [("n=20", INPUTS), ("n=40", INPUTS)])
def test_errors_are_found_in_few_points_and_in_many(variant: str, words: tuple[str, ...], tmp_path: Path) -> None:
    output = native.run(program(variant), Placement(), words, tmp_path, COUNTED)
    assert output.status == 1 and not any(check["ok"] for check in output.of("check"))
