"""ocean_micom: one ocean on any grid of processes and threads, layers that vanish, what stays, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import native
from native import Output, Placement

pytestmark = pytest.mark.native

SMALL = ("problem=basin,channel,lake,jet", "nx=19", "ny=17", "layers=4", "steps=3")


def run_case(folder: Path, *words: str, variant: str = "serial", place: Placement | None = None) -> Output:
    built = native.plain("ocean_micom", variant)
    return native.verified(built, place or Placement(), folder, *words, effort=native.COUNTED)


def values(output: Output, name: str) -> list[float]:
    return [sample["values"][name][0] for sample in output.of("sample")]


def bits(output: Output) -> dict[tuple[int, float], float]:
    """Return the combined bits of all cells, by case and length of a time step, which changes from step to step of a
    launch.
    """
    samples = output.of("sample")
    return {(s["case"], s["values"]["dt"][0]): s["values"]["digest"][0] for s in samples}


def same_bits(folder: Path, variant: str, place: Placement, *words: str) -> None:
    alone, others = bits(run_case(folder, *SMALL)), bits(run_case(folder, *SMALL, *words, variant=variant, place=place))
    assert {case for case, _ in alone} == {0, 1, 2, 3}
    assert len(set(alone.values())) >= 4
    assert alone == others


@pytest.mark.parametrize(
    ("ranks", "px", "py", "halo"),
    [(1, 1, 1, "two_sided"), (2, 2, 1, "one_sided"), (4, 2, 2, "shared")],
)
def test_no_grid_of_processes_changes_a_bit(ranks: int, px: int, py: int, halo: str, tmp_path: Path) -> None:
    same_bits(tmp_path, "mpi", Placement(ranks=ranks), f"px={px}", f"py={py}", f"halo={halo}")


@pytest.mark.full
@pytest.mark.parametrize(
    ("ranks", "px", "py", "halo"),
    [(3, 3, 1, "one_sided"), (5, 1, 5, "shared"), (6, 2, 3, "two_sided"), (8, 4, 2, "one_sided")],
)
def test_no_other_grid_changes_a_bit(ranks: int, px: int, py: int, halo: str, tmp_path: Path) -> None:
    same_bits(tmp_path, "mpi", Placement(ranks=ranks), f"px={px}", f"py={py}", f"halo={halo}")


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_no_bit(threads: int, tmp_path: Path) -> None:
    same_bits(tmp_path, "omp", Placement(threads=threads))


def test_no_strip_of_long_lines_changes_a_bit(tmp_path: Path) -> None:
    """Lines exceed the second cache, in flows that go past it; processes cut them elsewhere."""
    words = ("problem=basin", "nx=340", "ny=16", "layers=16", "steps=2", "length=6.8e6", "biharmonic=1e11")
    alone = bits(run_case(tmp_path, *words))
    assert bits(run_case(tmp_path, *words, variant="omp", place=Placement(threads=3))) == alone
    assert bits(run_case(tmp_path, *words, "px=2", variant="mpi", place=Placement(ranks=2))) == alone


@pytest.mark.parametrize(("variant", "ranks"), [("serial", 1), ("mpi", 2)])
def test_a_run_that_is_taken_up_from_files_has_the_same_bits(variant: str, ranks: int, tmp_path: Path) -> None:
    words, place = ("problem=basin,jet", "nx=19", "ny=17", "layers=3", "steps=5"), Placement(ranks=ranks)
    whole = bits(run_case(tmp_path, *words, variant=variant, place=place))
    for every in (1, 2):
        assert bits(run_case(tmp_path, *words, f"restart={every}", variant=variant, place=place)) == whole


@pytest.mark.parametrize("thickness", ["fct", "upwind"])
def test_layers_vanish_and_none_is_thinner_than_nothing(thickness: str, tmp_path: Path) -> None:
    """The check finds any layer thinner than nothing; here are cells without a layer, and a flow that goes on there."""
    output = run_case(tmp_path, "problem=basin", "nx=24", "ny=24", "layers=8", "steps=40", f"thickness={thickness}")
    assert min(values(output, "vanished")) > 100
    fastest = values(output, "fastest")
    assert min(fastest) > 0.01 and max(fastest) < 2


@pytest.mark.parametrize("thickness", ["fct", "upwind"])
def test_a_lake_at_rest_over_a_ridge_stays_so(thickness: str, tmp_path: Path) -> None:
    """It did not for long while layers below the sill counted at its faces."""
    output = run_case(tmp_path, "problem=lake", "nx=24", "ny=24", "layers=8", "steps=2000", f"thickness={thickness}")
    assert min(values(output, "vanished")) > 50
    assert max(values(output, "fastest")) < 1e-10


@pytest.mark.full
def test_a_basin_runs_on_where_its_cells_have_their_viscosity(tmp_path: Path) -> None:
    words = ("viscosity=1000", "biharmonic=5e13", "nx=24", "ny=24", "layers=8", "steps=600")
    output = run_case(tmp_path, "problem=basin", *words)
    assert max(values(output, "fastest")) < 1.5


def test_a_balanced_jet_stays_as_it_is(tmp_path: Path) -> None:
    run_case(tmp_path, "problem=jet", "form=energy,enstrophy", "nx=12", "ny=24", "layers=3", "steps=200")


def gyre_error(folder: Path, cells: int, steps: int) -> float:
    """Return the error of the transport, relative to its largest value, after fifteen times the friction time."""
    words = ("problem=stommel", "layers=1", "length=1e6", "width=1e6", f"nx={cells}", f"ny={cells}")
    output = run_case(folder, *words, "substeps=8", "courant=0.85", f"steps={steps}")
    return values(output, "gyre_error")[0]


def test_stommels_gyre_on_a_coarse_grid(tmp_path: Path) -> None:
    """It grew without end before waves of the surface in resonance with the long steps were damped."""
    assert gyre_error(tmp_path, 20, 8500) == pytest.approx(4.08e-2, rel=2e-3)


@pytest.mark.full
def test_stommels_gyre_converges(tmp_path: Path) -> None:
    assert gyre_error(tmp_path, 40, 17000) == pytest.approx(9.46e-3, rel=5e-3)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("problem=stommel", "layers=2"), "needs layers=1"),
        (("problem=stommel", "layers=1", "wind=0", "nx=20", "ny=20"), "needs wind"),
        (("problem=basin", "steps=1000000"), "use fewer steps"),
        (("px=2",), "no process grid"),
        (("courant=1",), "courant=0.85 or less"),
        (("substeps=256", "nx=16", "ny=16"), "rotation"),
        (("substeps=64", "nx=256", "ny=256"), "waves between layers"),
        (("viscosity=1e6", "nx=512", "ny=512"), "viscosity"),
    ],
)
def test_what_cannot_run_is_refused_in_one_line(words: tuple[str, ...], why: str) -> None:
    program = native.plain("ocean_micom", "serial")
    done = native.direct(program, *words)
    assert done.returncode == 2 and why in done.stderr and done.stderr.count("\n") == 1
