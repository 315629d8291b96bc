"""cfd: the solvers of the pressure's equations find the same flow, on any number of processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfd_cases import RELAXED, iterations, run_case, series
from native import Placement

pytestmark = pytest.mark.native

WITH_OUTLETS = ("case=duct,combustor", "i=13", "j=9", "k=6", "iterations=2", "reynolds=3000", "pressure=iccg,mgcg")


def test_conjugate_gradients_are_those_of_the_blocks(tmp_path: Path) -> None:
    """The check replays each run cell by cell, with the factors of as many blocks."""
    one = [run_case(tmp_path, *WITH_OUTLETS, variant=v) for v in ("serial", "simd")]
    for threads in (1, 3):
        shared = run_case(tmp_path, *WITH_OUTLETS, variant="omp", place=Placement(threads=threads))
        assert series(shared, "mass_left") == series(one[1], "mass_left")
    for ranks in (2, 3):
        run_case(tmp_path, *WITH_OUTLETS, variant="mpi", place=Placement(ranks=ranks))


def test_a_duct_does_not_know_which_solver_balanced_it(tmp_path: Path) -> None:
    grid = ("case=channel", "i=10", "j=6", "reynolds=1e4", "digits=10")
    outputs = [run_case(tmp_path, *grid, f"pressure={solver}") for solver in ("sip", "iccg", "mgcg")]
    for name in ("velocity", "pressure", "k"):
        one, *others = (series(each, name)[0] for each in outputs)
        assert all(other == pytest.approx(one, rel=1e-7) for other in others)


def test_multigrid_saves_iterations_of_a_duct_of_odd_extents_too(tmp_path: Path) -> None:
    """The fewer the better its pressure's systems are solved; all processes have one cycle."""
    for cells in (("i=20", "j=12", "k=12"), ("i=21", "j=13", "k=11")):
        words = ("case=duct", *cells, "digits=4", "pressure_sweeps=3")
        sip, iccg, mgcg = iterations(run_case(tmp_path, *words, "pressure=sip,iccg,mgcg"))
        assert mgcg < iccg < sip and mgcg < 0.6 * sip
        shared = iterations(run_case(tmp_path, *words, "pressure=mgcg", variant="mpi", place=Placement(ranks=2)))
        assert shared == [mgcg]


def test_multigrid_balances_cells_ten_times_as_long_as_high(tmp_path: Path) -> None:
    """On any number of processes, whether rows are cut or not."""
    words = ("case=step", "i=24", "j=16", "reynolds=100", "digits=5")
    outputs = [run_case(tmp_path, *words, "pressure=sip,iccg,mgcg")]
    sip, iccg, mgcg = iterations(outputs[0])
    assert mgcg < 1.05 * iccg < 0.7 * sip
    for ranks, cut in ((2, "pi=2"), (2, "pj=2"), (6, "pi=3")):
        outputs.append(run_case(tmp_path, *words, "pressure=mgcg", cut, variant="mpi", place=Placement(ranks=ranks)))
        assert iterations(outputs[-1]) == [mgcg]
    found = [s["values"]["reattachment"][0] for each in outputs for s in each.of("sample")]
    assert found == pytest.approx(len(found) * [found[0]], rel=1e-4)


def test_a_flow_without_an_outlet_may_be_balanced_by_multigrid(tmp_path: Path) -> None:
    """Its pressure is known except for a constant. Sweeps after convergence change nothing."""
    words = ("case=cavity,kovasznay", "i=12", "j=9", "k=1,4", "iterations=3", "pressure=mgcg", "pressure_sweeps=6,100")
    for ranks in (1, 3):
        run_case(tmp_path, *words, variant="mpi", place=Placement(ranks=ranks))


def test_conjugate_gradients_end_where_nothing_is_left(tmp_path: Path) -> None:
    words = ("case=duct", "i=4", "j=2", "digits=5", "pressure=iccg,mgcg", "pressure_sweeps=20,200")
    assert len(set(iterations(run_case(tmp_path, *words)))) == 1


def test_blocks_of_stones_solver_cost_iterations_and_change_nothing_else(tmp_path: Path) -> None:
    words = ("case=cavity", "i=16", "j=16", "digits=8", *RELAXED)
    found = {}
    for ranks in (1, 2, 4):
        output = run_case(tmp_path, *words, variant="mpi", place=Placement(ranks=ranks))
        found[ranks] = (output.of("sample")[0]["values"]["iterations"][0], series(output, "middle_line")[0])
    for count, line in found.values():
        assert count < 1.5 * found[1][0]
        assert line == pytest.approx(found[1][1], abs=1e-6)
