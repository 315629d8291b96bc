"""cfd_solver: the published counts of iterations, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import native
from native import Placement

pytestmark = pytest.mark.native


def iterations(folder: Path, *words: str, variant: str = "serial") -> list[int]:
    """Return the iterations with the initial inputs, case by case."""
    program = native.plain("cfd_solver", variant)
    output = native.verified(program, Placement(), folder, *words)
    samples = output.of("sample")
    return [int(samples[2 * n]["values"]["iterations"][0]) for n in range(len(samples) // 2)]


def cube(n: int) -> tuple[str, ...]:
    return (f"i={n}", f"j={n}", f"k={n}")


@pytest.mark.parametrize(
    ("n", "counts"),
    [(32, [77, 850, 94, 30]), pytest.param(64, [151, 1695, 181, 58], marks=pytest.mark.full)],
)
def test_each_solver_needs_the_iterations_of_an_independent_program(n: int, counts: list[int], tmp_path: Path) -> None:
    assert iterations(tmp_path, "kernel=sip,red_black,cg,iccg", *cube(n)) == counts


@pytest.mark.parametrize("n", [16, 32, pytest.param(64, marks=pytest.mark.full)])
def test_multigrid_needs_as_many_cycles_on_every_grid(n: int, tmp_path: Path) -> None:
    words = ("kernel=multigrid,mgcg", "problem=poisson,diffusion", *cube(n))
    alone, accelerated = (12, 13) if n == 16 else (13, 14), (7, 7) if n == 16 else (7, 8)
    assert tuple(iterations(tmp_path, *words, variant="simd")) == (*alone, *accelerated)


SLENDER = ("kernel=mgcg", "slender=1,10,0.1", "problem=diffusion")
"""Cells 1 : 1 : 1, 1 : 10 : 100 and 100 : 10 : 1."""


@pytest.mark.parametrize("n", [16, pytest.param(64, marks=pytest.mark.full)])
def test_multigrid_does_not_mind_how_slender_cells_are(n: int, tmp_path: Path) -> None:
    assert max(iterations(tmp_path, *SLENDER, *cube(n), variant="simd")) <= 10


@pytest.mark.parametrize("ranks", [2, 3, 8, *(pytest.param(n, marks=pytest.mark.full) for n in (4, 5, 6, 7))])
def test_multigrid_needs_as_many_cycles_on_any_number_of_processes(ranks: int, tmp_path: Path) -> None:
    """Blocks of all extents, whose first cells may be the second ones of pairs; several grids that are cut before
    one that each process has as a whole. The check replays one cycle of the whole grid."""
    words = (*SLENDER, "i=26", "j=15", "k=14")
    one, shared = (histories(tmp_path, "mpi", Placement(ranks=n), *words) for n in (1, ranks))
    assert [len(each) for each in shared] == [len(each) for each in one]
    for mine, theirs in zip(shared, one, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-6)


@pytest.mark.parametrize(
    "alphas", [{0.5: 230, 0.96: 48, 0.98: 91}, pytest.param({0.8: 140, 0.9: 90, 0.94: 63}, marks=pytest.mark.full)]
)
def test_stones_solver_needs_what_its_compensation_asks_for(alphas: dict[float, int], tmp_path: Path) -> None:
    words = f"alpha={','.join(map(str, alphas))}"
    assert iterations(tmp_path, "kernel=sip", words, *cube(32)) == list(alphas.values())


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("kernel=cg", "problem=transport"), "need a symmetric matrix"),
        (("kernel=multigrid", "problem=transport"), "need a symmetric matrix"),
        (("i=16384", "j=16384", "k=16384"), "GiB"),
        (("kernel=cg", "pi=2"), "no process grid"),
        (("bits=48",), "use bits=32 or bits=64"),
        (("bits=32",), "use simd, ordered, omp or mpi"),
    ],
)
def test_what_cannot_run_is_refused_in_one_line(words: tuple[str, ...], why: str) -> None:
    program = native.plain("cfd_solver", "serial")
    done = native.direct(program, *words)
    assert done.returncode == 2 and why in done.stderr and done.stderr.count("\n") == 1


def histories(folder: Path, variant: str, place: Placement, *words: str) -> list[list[float]]:
    """Return the intermediate residuals of the unchanged inputs."""
    program = native.plain("cfd_solver", variant)
    output = native.verified(program, place, folder, *words)
    return [line["values"] for line in output.of("series") if line["rank"] == 0]


UNEVEN = ("i=19", "j=11", "k=6", "problem=diffusion")


def test_threads_change_no_bit(tmp_path: Path) -> None:
    """Rows in a pipeline, both colours in slabs of planes: sums over rows are added in the order of the rows."""
    words = ("kernel=*", "sweeps=4", *UNEVEN)
    one = histories(tmp_path, "simd", Placement(), *words)
    assert len(one) == 6
    for threads in (1, 2, 3, 4):
        assert histories(tmp_path, "omp", Placement(threads=threads), *words) == one


def test_threads_change_no_bit_in_red_black_order_either(tmp_path: Path) -> None:
    words = ("kernel=red_black", "sweeps=4", *UNEVEN)
    one = histories(tmp_path, "ordered", Placement(), *words)
    assert one[0] == pytest.approx(histories(tmp_path, "serial", Placement(), *words)[0], rel=1e-12)
    for threads in (1, 2, 3, 4):
        assert histories(tmp_path, "omp_ordered", Placement(threads=threads), *words) == one


def test_factors_of_32_bits_cost_no_iteration(tmp_path: Path) -> None:
    assert iterations(tmp_path, "kernel=sip", *cube(32), variant="mixed") == [77]


NARROW = ("problem=diffusion", "digits=4", "bits=32")


def test_in_32_bits_solvers_go_the_same_way_as_far_as_these_reach(tmp_path: Path) -> None:
    """The check allows for what rounding to 32 bits may change of x, times the condition of the matrix."""
    words = ("kernel=*", "i=21", "j=9", "k=7", "problem=diffusion", "digits=4")
    wide, narrow = (iterations(tmp_path, *words, f"bits={bits}", variant="simd") for bits in (64, 32))
    assert len(narrow) == 6 and all(abs(n - w) <= 2 for n, w in zip(narrow, wide, strict=True))
    one, other = (histories(tmp_path, "simd", Placement(), *words, f"bits={bits}") for bits in (64, 32))
    for mine, theirs in zip(other, one, strict=True):
        first = min(len(mine), len(theirs))
        assert mine[:first] == pytest.approx(theirs[:first], rel=1e-3) and mine != theirs


def test_in_32_bits_a_cell_alone_is_solved(tmp_path: Path) -> None:
    assert all(n < 10 for n in iterations(tmp_path, "kernel=*", "i=1,3", "j=1", "k=1,2", *NARROW, variant="simd"))


@pytest.mark.parametrize("variant", ["serial", "simd"])
def test_iterations_after_an_exact_solution_keep_it(variant: str, tmp_path: Path) -> None:
    """Conjugate gradients solve so few cells in fewer than 12 iterations; the others must not amplify rounding."""
    words = ("kernel=*", "i=1,2,3", "j=1,2", "k=1,2", "problem=*", "sweeps=12")
    native.verified(native.plain("cfd_solver", variant), Placement(), tmp_path, *words)


def test_in_32_bits_threads_change_no_bit(tmp_path: Path) -> None:
    words = ("kernel=*", "sweeps=4", "bits=32", *UNEVEN)
    one = histories(tmp_path, "simd", Placement(), *words)
    for threads in (1, 3):
        assert histories(tmp_path, "omp", Placement(threads=threads), *words) == one


def test_what_32_bits_cannot_tell_is_refused() -> None:
    done = native.direct(native.plain("cfd_solver", "simd"), "bits=32", *cube(64))
    assert done.returncode == 2 and "at most 4 digits" in done.stderr and done.stderr.count("\n") == 1


def test_a_solution_that_diverges_is_rejected_with_advice(tmp_path: Path) -> None:
    output = native.run(
        native.plain("cfd_solver", "serial"), Placement(), ("alpha=0.999", *cube(40), "digits=1"), tmp_path
    )
    assert output.status == 1 and all(c["what"].endswith("use a smaller alpha") for c in output.of("check"))


@pytest.mark.full
def test_vectors_and_numbers_of_neighbours_change_nothing_but_rounding(tmp_path: Path) -> None:
    plain = histories(tmp_path, "serial", Placement(), "kernel=*", *UNEVEN)
    for variant, kernels in (("simd", 6), ("indirect", 4)):
        found = histories(tmp_path, variant, Placement(), "kernel=*", *UNEVEN)
        for mine, theirs in zip(found, plain[:kernels], strict=True):
            assert mine == pytest.approx(theirs, rel=1e-7)


def test_blocks_change_what_is_local_to_them_and_nothing_else(tmp_path: Path) -> None:
    """Red-black, plain conjugate gradients and multigrid go the same way on any number of processes; factors of
    blocks cost iterations."""
    words = ("kernel=*", "digits=3", "i=16", "j=16", "k=16")
    alone = histories(tmp_path, "mpi", Placement(), *words)
    for ranks in (2, 4):
        sip, red_black, cg, iccg, multigrid, mgcg = histories(tmp_path, "mpi", Placement(ranks=ranks), *words)
        assert red_black == pytest.approx(alone[1], rel=1e-9) and cg == pytest.approx(alone[2], rel=1e-7)
        assert len(alone[0]) < len(sip) < 3 * len(alone[0])
        assert len(alone[3]) <= len(iccg) < 2 * len(alone[3])
        for mine, theirs in ((multigrid, alone[4]), (mgcg, alone[5])):
            assert mine == pytest.approx(theirs, rel=1e-7)


def test_halos_that_travel_meanwhile_change_nothing_but_rounding(tmp_path: Path) -> None:
    words = ("kernel=red_black,cg,iccg", *UNEVEN)
    for ranks in (2, 3):
        one, other = (histories(tmp_path, v, Placement(ranks=ranks), *words) for v in ("mpi", "mpi_overlap"))
        for mine, theirs in zip(other, one, strict=True):
            assert mine == pytest.approx(theirs, rel=1e-7)
