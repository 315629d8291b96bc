"""cfd: known flows and the order at which they are approached, blocks and threads, what is refused."""

from __future__ import annotations

import re
from math import log2, prod
from pathlib import Path

import pytest

import native
from cfd_cases import RELAXED, iterations, run_case, series
from native import Output, Placement

pytestmark = pytest.mark.native


def errors(folder: Path, *words: str) -> list[float]:
    """Return the root mean square error of the velocities, case by case."""
    samples = run_case(folder, "case=kovasznay", "reynolds=40", *words).of("sample")
    return [samples[2 * n]["values"]["error"][0] for n in range(len(samples) // 2)]


def leaving(output: Output, name: str) -> float:
    """Return a scalar at the outlet, extrapolated from the last two cells."""
    (line,) = series(output, name)
    return 1.5 * line[-1] - 0.5 * line[-2]


INVISCID = ("j=2", "reynolds=1e9", "relax=0.6")


def test_the_error_of_a_known_flow_falls_with_the_square_of_the_spacing(tmp_path: Path) -> None:
    coarse, middle, fine = (errors(tmp_path, f"i={3 * n}", f"j={2 * n}", "digits=7", *RELAXED)[0] for n in (6, 12, 24))
    assert 1.9 < log2(middle / fine) < 2.2 and 1.8 < log2(coarse / middle) < 2.4
    assert fine < 5e-3


def test_the_flow_in_the_end_knows_of_no_relaxation_and_of_no_solver(tmp_path: Path) -> None:
    grid = ("i=12", "j=8", "digits=11")
    wanted = errors(tmp_path, *grid, *RELAXED)
    assert errors(tmp_path, *grid, "relax=0.6", "relax_pressure=0.4") == pytest.approx(wanted, rel=1e-8)
    assert errors(tmp_path, *grid, *RELAXED, "pressure=red_black") == pytest.approx(wanted, rel=1e-8)


def test_what_enters_a_duct_leaves_it(tmp_path: Path) -> None:
    """The flow is conserved in every cell, which the judge computes by faces: its result is at most 2 x 10^-digits."""
    output = run_case(
        tmp_path, "case=duct", "i=10", "j=6", "k=5", "reynolds=50", "digits=11", "pressure_sweeps=10", *RELAXED
    )
    assert all(left[-1] < 1e-10 for left in series(output, "mass_left")) and series(output, "mass_left")


def test_turbulence_decays_as_k_and_epsilon_must(tmp_path: Path) -> None:
    """k(0) = epsilon(0) = 1: k(1) = 1.92^(-1/0.92), epsilon(1) = k(1) / 1.92; here both times 1e-8. The distance
    represents the time.
    """
    found = {n: run_case(tmp_path, "case=decay", f"i={n}", "digits=8", *INVISCID) for n in (16, 32, 64)}
    for name, exact in (("k", 0.49211192), ("epsilon", 0.25630829)):
        coarse, middle, fine = (1e8 * leaving(output, name) for output in found.values())
        assert (
            1.9 < log2((middle - exact) / (fine - exact)) < 2.1
            and 1.8 < log2((coarse - exact) / (middle - exact)) < 2.2
        )
        assert fine - (middle - fine) / 3 == pytest.approx(exact, abs=1e-6)


def test_fuel_burns_as_eddies_mix_it(tmp_path: Path) -> None:
    """Y = Y(0) exp(-4 t epsilon / k), where t is the time of the gas, which is faster if it is hotter."""
    found = {n: run_case(tmp_path, "case=plug", f"i={n}", "digits=8", *INVISCID) for n in (16, 32, 64)}
    coarse, middle, fine = (output.of("sample")[0]["values"]["error"][0] for output in found.values())
    assert 1.8 < log2(middle / fine) < 2.1 and 1.7 < log2(coarse / middle) < 2.2
    assert fine < 1e-4
    for output in found.values():
        assert series(output, "mixture")[0] == pytest.approx(
            [0.04 - 0.96 * 0.232 / 3.99] * len(series(output, "mixture")[0]), rel=1e-6
        )


@pytest.mark.parametrize(
    "words",
    [("case=plug", "i=12", *INVISCID), ("case=combustor", "i=12", "j=6", "k=5", "reynolds=1e5", "central=0")],
    ids=["plug", "combustor"],
)
def test_mass_species_and_energy_balance_in_every_cell(tmp_path: Path, words: tuple[str, ...]) -> None:
    output = run_case(tmp_path, *words, "digits=11")
    for name in ("mass_left", "scalars_left"):
        assert series(output, name) and all(left[-1] < 1e-10 for left in series(output, name))


def test_a_turbulent_channel_loses_the_pressure_that_dean_measured(tmp_path: Path) -> None:
    """R. B. Dean, J. Fluids Eng. 100 (1978) 215: friction 0.073 Re^-1/4,
    of half the mean velocity's square; each of two walls has half of what the pressure loses in a height."""
    rows = 8
    output = run_case(tmp_path, "case=channel", f"i={10 * rows}", f"j={rows}", "reynolds=1e5", "digits=5")
    (pressure,), (velocity,) = series(output, "pressure"), series(output, "velocity")
    at, spacing = 15 * rows // 2, 4 / rows
    assert (pressure[at] - pressure[at + 1]) / spacing == pytest.approx(0.073 * 1e5**-0.25, rel=0.08)
    assert velocity[-1] == pytest.approx(1.28 * 1e5**-0.0116, rel=0.04)  # the middle's, over the mean


def test_the_flow_comes_back_to_the_wall_behind_a_step(tmp_path: Path) -> None:
    """2.922 steps behind it at Reynolds number 100, and a little farther where nothing but the parabola is before it:
    E. Erturk, Computers and Fluids 37 (2008) 633. A step is half a height."""
    output = run_case(tmp_path, "case=step", "i=60", "j=12", "reynolds=100", "digits=4")
    assert 2.922 / 2 < output.of("sample")[0]["values"]["reattachment"][0] < 1.1 * 2.922 / 2


def behind_a_step(folder: Path, rows: int, *words: str) -> float:
    """Return where the flow comes back to the wall, in heights, at Reynolds number 800. If its systems are solved less
    well, waves in the shear layer persist from iteration to iteration.
    """
    output = run_case(folder, "case=step", f"i={6 * rows}", f"j={rows}", "reynolds=800", "relax_pressure=0.1", *words)
    return float(output.of("sample")[0]["values"]["reattachment"][0])


def test_the_flow_behind_a_step_comes_back_where_gartling_has_it(tmp_path: Path) -> None:
    """6.10 heights: D. K. Gartling, Int. J. Num. Meth. Fluids 11 (1990) 953. By Richardson's rule of order 2."""
    solved = ("digits=4", "relax=0.95", "sweeps=10", "pressure=iccg", "pressure_sweeps=30")
    coarse, fine = (behind_a_step(tmp_path, rows, *solved) for rows in (20, 30))
    assert coarse < fine < 6.10
    assert fine + (fine - coarse) / (1.5**2 - 1) == pytest.approx(6.10, rel=0.01)


def extreme(line: list[float], sign: int = -1) -> float:
    """Return the extreme of the parabola through the least (sign -1) or the largest value (1) and its neighbours."""
    most = max(range(1, len(line) - 1), key=lambda j: sign * line[j])
    below, at, above = line[most - 1 : most + 2]
    return at - (above - below) ** 2 / (8 * (above - 2 * at + below))


SPECTRAL = {100: (-0.2140424, 0.1795728, -0.2538030), 1000: (-0.3885698, 0.3769447, -0.5270771)}
"""O. Botella, R. Peyret, Computers and Fluids 27 (1998) 421, by Reynolds number: the least velocity along the lid on
the middle line from south to north, the largest and the least upwards on that from west to east. U. Ghia, K. N. Ghia,
C. T. Shin, J. Comp. Phys. 48 (1982) 387 have -0.2109 and -0.38289 of the first one, on 129 x 129 points."""


def extremes(output: Output) -> tuple[float, float, float]:
    (line,), (row,) = (series(output, name) for name in ("middle_line", "middle_row"))
    return extreme(line), extreme(row, 1), extreme(row)


def off_spectral(output: Output, reynolds: int) -> list[float]:
    """Return deviations as shares of the spectral solution."""
    return [found / wanted - 1 for found, wanted in zip(extremes(output), SPECTRAL[reynolds], strict=True)]


GHIA = {
    0.0547: (-0.03717, -0.18109),
    0.1719: (-0.10150, -0.38289),
    0.2813: (-0.15662, -0.27805),
    0.4531: (-0.21090, -0.10648),
    0.5: (-0.20581, -0.06080),
    0.6172: (-0.13641, 0.05702),
    0.7344: (0.00332, 0.18719),
    0.8516: (0.23151, 0.33304),
    0.9531: (0.68717, 0.46604),
}
"""By the height in the middle, velocities along the lid at Reynolds number 100 and 1000, on 129 x 129 points."""


def off_ghia(line: list[float], reynolds: int) -> list[float]:
    """From cells to Ghia's heights by the cubic through four of them."""
    off = []
    for height, wanted in GHIA.items():
        at = height * len(line) - 0.5
        first = max(0, min(len(line) - 4, int(at) - 1))
        four = range(first, first + 4)
        found = sum(line[a] * prod((at - b) / (a - b) for b in four if b != a) for a in four)
        off.append(found - wanted[reynolds == 1000])
    return off


def test_the_cavity_approaches_its_extremes_with_order_two(tmp_path: Path) -> None:
    off = {
        n: off_spectral(run_case(tmp_path, "case=cavity", f"i={n}", f"j={n}", "digits=5", *RELAXED), 100)
        for n in (20, 40)
    }
    assert all(1.5 < log2(coarse / fine) < 2.4 for coarse, fine in zip(off[20], off[40], strict=True))
    assert all(abs(fine + (fine - coarse) / 3) < 0.01 for coarse, fine in zip(off[20], off[40], strict=True))


SLOW = ("digits=4", "relax=0.93", "relax_pressure=0.1")


@pytest.mark.parametrize("reynolds", [100, 1000])
def test_the_cavity_approaches_what_ghia_has(reynolds: int, tmp_path: Path) -> None:
    """Nine velocities, by Richardson's rule within 1 % of the lid's."""
    coarse, fine = (
        off_ghia(
            series(run_case(tmp_path, f"reynolds={reynolds}", f"i={n}", f"j={n}", *SLOW), "middle_line")[0], reynolds
        )
        for n in (32, 64)
    )
    assert all(abs(f + (f - c) / 3) < 0.01 for c, f in zip(coarse, fine, strict=True))


@pytest.mark.full
@pytest.mark.parametrize(("reynolds", "cells"), [(100, (32, 64)), (1000, (64, 128))])
def test_on_enough_cells_the_cavity_has_what_a_spectral_method_has(
    reynolds: int, cells: tuple[int, int], tmp_path: Path
) -> None:
    """By Richardson's rule: on 128 x 128 cells the least velocity at Reynolds number 1000 is still 1.7 % off."""
    outputs = [run_case(tmp_path, f"reynolds={reynolds}", f"i={n}", f"j={n}", "digits=5", *SLOW[1:]) for n in cells]
    coarse, fine = (off_spectral(each, reynolds) for each in outputs)
    assert all(abs(f + (f - c) / 3) < 0.01 for c, f in zip(coarse, fine, strict=True))
    assert max(map(abs, off_ghia(series(outputs[1], "middle_line")[0], reynolds))) < 0.006


UNEVEN = ("case=duct,kovasznay,plug", "i=13", "j=9", "k=6", "iterations=4", "central=0.8")


def histories(folder: Path, variant: str, place: Placement, *words: str) -> list[list[float]]:
    output = run_case(folder, *UNEVEN, *words, variant=variant, place=place)
    return series(output, "momentum_left") + series(output, "mass_left") + series(output, "scalars_left")


def test_threads_change_no_bit(tmp_path: Path) -> None:
    """Sums over rows are added in the order of the rows."""
    one = histories(tmp_path, "simd", Placement(), "pressure=sip,red_black")
    assert len(one) == 14
    for threads in (1, 2, 3, 4):
        assert histories(tmp_path, "omp", Placement(threads=threads), "pressure=sip,red_black") == one


def test_numbers_of_neighbours_change_nothing_but_rounding(tmp_path: Path) -> None:
    words = ("pressure=sip,red_black",)
    plain = histories(tmp_path, "serial", Placement(), *words)
    for mine, theirs in zip(histories(tmp_path, "indirect", Placement(), *words), plain, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-11)


def test_factors_of_32_bits_cost_no_iteration(tmp_path: Path) -> None:
    """The residual of the pressure's equations has 64 bits, so that a flow converges to ten digits."""
    words = ("case=channel", "i=10", "j=6", "reynolds=1e4", "digits=10")
    one, other = (iterations(run_case(tmp_path, *words, variant=v)) for v in ("simd", "mixed"))
    assert other == pytest.approx(one, abs=1)


NARROW = ("i=13", "j=9", "k=6", "iterations=3", "central=0.8", "reynolds=3000", "bits=32")


def test_in_32_bits_flows_go_the_same_way_as_far_as_these_reach(tmp_path: Path) -> None:
    """The check allows for what rounding to 32 bits each flop may change; threads change no bit, blocks of processes
    are those of the check."""
    solvers = "pressure=sip,red_black,mgcg"
    one = run_case(tmp_path, *NARROW, "case=cavity,duct,combustor", solvers)
    assert one.of("case")[0]["parameters"]["bits"] == 32
    for threads in (1, 3):
        words = (*NARROW, "case=cavity,duct,combustor", solvers)
        shared = run_case(tmp_path, *words, variant="omp", place=Placement(threads=threads))
        assert series(shared, "mass_left") == series(one, "mass_left") != []
    run_case(tmp_path, *NARROW, "case=combustor", solvers, variant="mpi", place=Placement(ranks=3))


def test_in_32_bits_a_channel_ends_with_the_same_flow_and_balances(tmp_path: Path) -> None:
    words = ("case=channel", "i=10", "j=6", "reynolds=1e4", "digits=4")
    wide, narrow = (run_case(tmp_path, *words, f"bits={bits}") for bits in (64, 32))
    assert iterations(narrow) == pytest.approx(iterations(wide), abs=1)
    for name in ("velocity", "pressure", "k"):
        (one,), (other,) = series(wide, name), series(narrow, name)
        assert other == pytest.approx(one, abs=1e-4 * max(map(abs, one))) and other != one
    assert all(left[-1] < 1e-4 for name in ("mass_left", "scalars_left") for left in series(narrow, name))


@pytest.mark.parametrize(
    "variant", ["missing_flux", "wall_distance", "relaxation", "source_sign", "mpi_stale_pressure"]
)
def test_in_32_bits_what_is_wrong_is_rejected(variant: str, tmp_path: Path) -> None:
    """Rounding hides none of these."""
    place = Placement(ranks=2) if "mpi" in variant else Placement()
    assert rejected(tmp_path, f"broken_{variant}", place, *NARROW, "case=channel")


@pytest.mark.parametrize(
    ("variant", "pressure", "why"),
    [
        ("indirect", "mgcg", "indirect has one grid"),
        ("mixed", "red_black", "for Stone's solver only"),
        ("mixed", "iccg", "for Stone's solver only"),
    ],
)
def test_what_a_variant_cannot_do_is_refused_in_one_line(variant: str, pressure: str, why: str) -> None:
    done = native.direct(native.plain("cfd", variant), "case=duct", f"pressure={pressure}")
    assert done.returncode == 2 and why in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("ranks", [2, 3, 8, *(pytest.param(n, marks=pytest.mark.full) for n in (4, 5, 6, 7))])
def test_red_black_goes_the_same_way_on_any_number_of_processes(ranks: int, tmp_path: Path) -> None:
    """The check compares each run of Stone's solver with factors of as many blocks."""
    words = ("pressure=red_black",)
    alone = histories(tmp_path, "mpi", Placement(), *words)
    for mine, theirs in zip(histories(tmp_path, "mpi", Placement(ranks=ranks), *words), alone, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("i=1",), "two cells at least"),
        (("i=16384", "j=16384", "k=16384"), "GiB"),
        (("pi=2",), "no process grid"),
        (("relax=1.5",), "relax"),
        (("case=cavity", "pressure=iccg"), "without an outlet"),
        (("bits=48",), "use bits=32 or bits=64"),
        (("bits=32",), "use simd, omp or mpi"),
    ],
)
def test_what_cannot_run_is_refused_in_one_line(words: tuple[str, ...], why: str) -> None:
    program = native.plain("cfd", "serial")
    done = native.direct(program, *words)
    assert done.returncode == 2 and why in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "why"), [(("digits=6",), "at most 4 digits"), (("pressure=mgcg", "digits=3"), "may not converge")]
)
def test_what_32_bits_cannot_tell_is_refused(words: tuple[str, ...], why: str) -> None:
    done = native.direct(native.plain("cfd", "simd"), "case=cavity", "i=32", "j=32", "bits=32", *words)
    assert done.returncode == 2 and why in done.stderr and done.stderr.count("\n") == 1


def rejected(folder: Path, variant: str, place: Placement, *words: str) -> str:
    """Return the check's message about a run that ends too early."""
    program = native.plain("cfd", variant)
    output = native.run(program, place, words, folder)
    (check, *_) = output.of("check")
    assert not check["ok"] and output.status == 1
    return str(check["what"])


def test_a_flow_that_diverges_tells_what_was_left_before(tmp_path: Path) -> None:
    words = ("case=cavity", "reynolds=1e6", "relax=0.99", "relax_pressure=1", "iterations=1000")
    what = rejected(tmp_path, "serial", Placement(), *words)
    assert "diverged in iteration" in what and "previous residuals" in what


HOT = ("case=combustor", "i=20", "j=12", "reynolds=1e5", "heat=1000", "iterations=1000")


def test_a_gas_without_a_positive_density_ends_the_run_and_tells_what_was_left_before(tmp_path: Path) -> None:
    """Central differences make cells colder than nothing between burnt gas and what is still to burn."""
    what = rejected(tmp_path, "serial", Placement(), *HOT)
    assert re.match(
        r"cells without a positive density in iteration \d+: \d+ \(previous residuals, relative to the flow: "
        r"momentum \S+, mass \S+\); use less heat, smaller relax or smaller central$",
        what,
    )
    red_black = [
        rejected(tmp_path, variant, Placement(ranks=ranks), *HOT, "pressure=red_black")
        for variant, ranks in (("serial", 1), ("mpi", 3))
    ]
    assert "without a positive density" in red_black[0] and red_black[1].removeprefix("rank 0: ") == red_black[0]


def test_a_gas_that_heats_much_burns_where_it_is_relaxed_more(tmp_path: Path) -> None:
    """Fuel, then enthalpy: the temperature is the small difference of two that are corrected one after the other."""
    words = ("case=combustor", "i=20", "j=12", "reynolds=1e5", "heat=600", "central=0", "digits=4")
    assert "smaller relax" in rejected(tmp_path, "serial", Placement(), *words)
    run_case(tmp_path, *words, "relax=0.3", "relax_pressure=0.1", variant="serial")


def test_more_processes_than_rows_are_refused_in_one_line(tmp_path: Path) -> None:
    program = native.plain("cfd", "mpi")
    output = native.run(program, Placement(ranks=4), ("i=12", "j=3", "pj=4"), tmp_path)
    assert output.status == 2 and "use fewer ranks or a larger grid" in output.stderr
