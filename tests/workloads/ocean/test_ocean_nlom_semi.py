"""ocean_nlom with implicit gravity waves: one ocean on any grid of processes, and the numbers that are known of it."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from test_ocean_nlom import bits, over_files, run_case

from native import Output, Placement

pytestmark = pytest.mark.native

SMALL = ("time=semi", "problem=rectangle,geostrophic", "nx=19", "ny=17", "layers=3", "steps=3", "courant=5")
EXPLICIT_LIMIT = 0.86


@pytest.mark.parametrize(
    ("variant", "place", "words"),
    [
        ("mpi", Placement(ranks=2), ("px=2", "py=1", "halo=shared")),
        ("omp", Placement(threads=3), ()),
        pytest.param("mpi", Placement(ranks=4), ("px=2", "py=2", "halo=one_sided"), marks=pytest.mark.full),
        pytest.param("mpi", Placement(ranks=3), ("px=1", "py=3", "halo=shared"), marks=pytest.mark.full),
        pytest.param("mpi", Placement(ranks=7), ("px=7", "py=1"), marks=pytest.mark.full),
        pytest.param("mpi_omp", Placement(ranks=2, threads=2), (), marks=pytest.mark.full),
    ],
)
def test_who_computes_changes_no_bit(variant: str, place: Placement, words: tuple[str, ...], tmp_path: Path) -> None:
    assert bits(run_case(tmp_path, *SMALL)) == bits(run_case(tmp_path, *SMALL, *words, variant=variant, place=place))


@pytest.mark.parametrize("ranks", [3, pytest.param(4, marks=pytest.mark.full)])
def test_no_way_to_transpose_changes_a_bit(ranks: int, tmp_path: Path) -> None:
    words = ("time=semi", "problem=rectangle", "nx=19", "ny=17", "layers=3", "steps=3", "courant=5")
    alone = bits(run_case(tmp_path, *words))
    ways = ("alltoall", "pairwise", "overlap", "linear", "bruck", "paced")
    digests = bits(
        run_case(tmp_path, *words, f"transpose={','.join(ways)}", variant="mpi", place=Placement(ranks=ranks))
    )
    for case in range(len(ways)):
        assert {dt: digest for (number, dt), digest in digests.items() if number == case} == {
            dt: d for (_, dt), d in alone.items()
        }


COASTS = ("time=semi", "solver=cg", "problem=basin,atlantic", "nx=19", "ny=17", "layers=3", "steps=3", "courant=5")
"""Each of their cells is compared with an elimination of all layers and cells together."""
WIDE = ("time=semi", "solver=cg", "problem=atlantic", "nx=131", "ny=77", "layers=3", "steps=2", "courant=10")
"""These have blocks of more than the finest grid, whose cuts are at odd cells."""


def iterations(output: Output) -> list[list[float]]:
    """Return the iterations of each mode in each case; every rank reports the same."""
    return [s["values"] for s in output.of("series") if s["name"] == "mode_iterations" and s["rank"] == 0]


@pytest.mark.parametrize(
    "ranks",
    [2, 3, *(pytest.param(n, marks=pytest.mark.full) for n in (4, 5, 6, 7, 8))],
)
@pytest.mark.parametrize("words", [COASTS, WIDE])
def test_processes_take_as_many_iterations_along_coasts(words: tuple[str, ...], ranks: int, tmp_path: Path) -> None:
    alone = iterations(run_case(tmp_path, *words))
    way = f"halo={('two_sided', 'one_sided', 'shared')[ranks % 3]}"
    assert iterations(run_case(tmp_path, *words, way, variant="mpi", place=Placement(ranks=ranks))) == alone
    assert all(modes == sorted(modes, reverse=True) for modes in alone)


def test_threads_change_no_bit_along_coasts(tmp_path: Path) -> None:
    threads = run_case(tmp_path, *COASTS, variant="omp", place=Placement(threads=3))
    assert bits(threads) == bits(run_case(tmp_path, *COASTS))


def test_iterations_hardly_grow_with_the_sea(tmp_path: Path) -> None:
    words = ("time=semi", "solver=cg", "problem=basin", "layers=1", "steps=2", "courant=8.6")
    (small,), (large,) = (iterations(run_case(tmp_path, *words, f"nx={n}", f"ny={n}"))[0] for n in (24, 192))
    assert large <= small + 2


def test_a_coarse_tolerance_loses_no_water(tmp_path: Path) -> None:
    """The check compares the mass of each layer up to rounding, for any residual of the solver."""
    few = run_case(tmp_path, *COASTS, "tolerance=1e-8")
    assert max(map(max, iterations(few))) < max(map(max, iterations(run_case(tmp_path, *COASTS)))) / 2


def test_a_run_along_coasts_is_taken_up_from_files_with_the_same_bits(tmp_path: Path) -> None:
    over_files(tmp_path, "problem=atlantic", "time=semi", "solver=cg", "courant=5")


def test_both_solvers_find_the_same_gyre(tmp_path: Path) -> None:
    by_transforms, by_gradients = (
        gyre(tmp_path, 20, "problem=stommel", "steps=3400", f"solver={solver}") for solver in ("transform", "cg")
    )
    for name in ("gyre_error", "gyre_transport", "gyre_at"):
        assert by_gradients[name] == pytest.approx(by_transforms[name], rel=1e-5)


def test_the_vertical_modes_of_five_layers(tmp_path: Path) -> None:
    output = run_case(tmp_path, "time=semi", "problem=geostrophic", "nx=8", "ny=8", "layers=5", "steps=1")
    (speeds,) = [s for s in output.of("series") if s["name"] == "mode_speed"]
    assert speeds["values"] == pytest.approx([221.77927, 3.30266, 1.82054, 1.28486, 1.04055], abs=5e-6)


def test_the_dispersion_of_a_seiche(tmp_path: Path) -> None:
    """tan(w dt) = c dt (2 / dx) sin(k dx / 2) with steps of 600 s, eight half waves in 1000 km; after 200 steps."""
    speed, dx = math.sqrt(9.81 * 5000), 1e6 / 64
    across = 2 / dx * math.sin(8 * math.pi / (2 * 64))
    longest = 1.01 * speed * math.hypot(1 / dx, 8 / 125000)  # steps of such a part of a second at courant=1
    words = ("problem=seiche", "time=semi", "layers=1", "nx=64", "ny=8", "width=125000", "steps=200", "filter=0")
    seen = [s["values"] for s in run_case(tmp_path, *words, f"courant={600 * longest!r}").of("sample")]
    for values in seen:
        dt = values["dt"][0]
        assert values["frequency"][0] == pytest.approx(math.atan(speed * dt * across) / dt, rel=1e-12)
    dt = max(values["dt"][0] for values in seen)
    seen = [s["values"] for s in run_case(tmp_path, *words, f"courant={600 * longest * 600 / dt!r}").of("sample")]
    (at_600,) = {v["frequency"][0] for v in seen if v["dt"][0] == pytest.approx(600, rel=1e-12)}
    assert at_600 == pytest.approx(2.130156e-3, abs=5e-10)


def test_an_explicit_seiche_swings_as_three_stages_let_it(tmp_path: Path) -> None:
    run_case(tmp_path, "problem=seiche", "layers=1", "nx=64", "ny=8", "steps=200,201")


@pytest.mark.parametrize("layers", [1, 5])
def test_a_geostrophic_flow_stays_at_twenty_times_the_explicit_limit(layers: int, tmp_path: Path) -> None:
    words = ("problem=geostrophic", "nx=20", "ny=16", f"layers={layers}", "steps=200")
    run_case(tmp_path, *words, "time=semi", f"courant={20 * EXPLICIT_LIMIT}")
    run_case(tmp_path, *words, "time=explicit", f"courant={EXPLICIT_LIMIT}")


def test_a_driven_ocean_is_stable_at_twenty_times_the_explicit_limit(tmp_path: Path) -> None:
    run_case(
        tmp_path, "problem=rectangle", "time=semi", "nx=20", "ny=16", "layers=3", "steps=300",
        f"courant={20 * EXPLICIT_LIMIT}",
    )  # fmt: skip


def gyre(folder: Path, cells: int, *words: str) -> dict[str, float]:
    """Spun up in a twentieth of the explicit steps."""
    long = ("layers=1", f"nx={cells}", f"ny={cells}", "time=semi", f"courant={20 * EXPLICIT_LIMIT}")
    sample = run_case(folder, *words, *long).of("sample")[0]
    return {name: value[0] for name, value in sample["values"].items()}


def stommel(folder: Path, cells: int) -> dict[str, float]:
    return gyre(folder, cells, "problem=stommel", f"steps={170 * cells}")


def test_stommels_gyre_in_long_steps(tmp_path: Path) -> None:
    coarse, finer = stommel(tmp_path, 20), stommel(tmp_path, 40)
    assert coarse["gyre_error"] == pytest.approx(4.08e-2, rel=2e-3)
    assert finer["gyre_error"] == pytest.approx(9.46e-3, rel=2e-3)
    off = [abs(one["gyre_transport"] / 1.013796e7 - 1) for one in (coarse, finer)]
    assert off[1] < 6e-3 and 3 < off[0] / off[1] < 5
    assert finer["gyre_at"] == pytest.approx(155.99e3, abs=500)


@pytest.mark.full
def test_stommels_gyre_converges_with_the_square_of_a_cell(tmp_path: Path) -> None:
    fine = stommel(tmp_path, 80)
    assert fine["gyre_error"] == pytest.approx(2.33e-3, rel=3e-3)
    assert fine["gyre_transport"] == pytest.approx(1.013796e7, rel=2e-3)


MUNK_WIDTH = (1e4 / 2e-11) ** (1 / 3)
"""(A / beta)^(1/3) of the western current, m."""


def munk(folder: Path, cells: int) -> dict[str, float]:
    return gyre(folder, cells, "problem=munk", "viscosity=1e4", f"steps={760 * cells}")


def munk_peak() -> float:
    """Return where the transport is largest, in m, by differences of second order on 2000 cells from west to east."""
    cells, length = 2000, 1e6
    step, k = length / cells, math.pi / length
    second = (np.diag(np.ones(cells - 2), -1) - 2 * np.eye(cells - 1) + np.diag(np.ones(cells - 2), 1)) / step**2
    first = (np.diag(np.ones(cells - 2), 1) - np.diag(np.ones(cells - 2), -1)) / (2 * step)
    helmholtz = second - k**2 * np.eye(cells - 1)  # phi and phi'' are zero at both walls
    phi = np.linalg.solve(helmholtz @ helmholtz - first / MUNK_WIDTH**3, np.ones(cells - 1))
    return float((np.argmax(phi) + 1) * step)


def test_the_width_of_munks_current(tmp_path: Path) -> None:
    found = munk(tmp_path, 20)
    assert found["gyre_error"] < 2.3e-2
    assert found["gyre_at"] == pytest.approx(munk_peak(), rel=1e-2)
    assert found["gyre_at"] == pytest.approx(4 * math.pi / math.sqrt(27) * MUNK_WIDTH, rel=7e-2)  # of an endless ocean


@pytest.mark.full
def test_munks_gyre_converges_with_the_square_of_a_cell(tmp_path: Path) -> None:
    assert 3.8 < munk(tmp_path, 20)["gyre_error"] / munk(tmp_path, 40)["gyre_error"] < 4.2
