"""Finite elements: the published iterations, errors and orders, for every variant, however many blocks there are."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import native
from firstlight.execute.build import Built
from firstlight.model.plan import Program
from native import Placement

pytestmark = [pytest.mark.native, pytest.mark.full]

FEM2D = native.workloads["fem2d"]
VARIANTS = {v.name: v for v in FEM2D.variants if not v.broken and not v.name.startswith("peer_")}
PUBLISHED = ("serial", "one_pass", "mixed", "assembled", "omp")  # the published method on one process
MPI = tuple(name for name, v in VARIANTS.items() if "mpi" in v.needs)

ITERATIONS = (36, 39, 41, 42, 43, 44)  # of the published method to 1e-6, levels 0 to 5
MANUFACTURED = {6: (36, 39, 41, 42), 8: (45, 48, 51, 54), 10: (52, 56, 59, 62)}  # by digits, levels 0 to 3
MULTIGRID_MOST = 12


@cache
def built() -> dict[Program, Built]:
    if native.toolchain("base") is None:
        pytest.skip("no gcc here")
    return native.make([p for v in VARIANTS.values() for p in native.on_each_library(FEM2D, v)])


def programs(variant: str, mpi: str = "") -> list[Built]:
    """Return the variant's program with each MPI library here whose name has this prefix."""
    found = [b for p, b in built().items() if p.variant == variant and (p.mpi or "").startswith(mpi)]
    if not found:
        pytest.skip(f"{variant} needs {', '.join(VARIANTS[variant].needs)}")
    assert [b.error for b in found] == [""] * len(found)
    return found


@pytest.mark.parametrize("variant", PUBLISHED)
def test_the_published_iterations(variant: str, tmp_path: Path) -> None:
    """The check compares the first norm and the solution with the reference, too."""
    (program,) = programs(variant)
    output = native.verified(program, Placement(), tmp_path, "level=0,1,2,3,4,5", "problem=R")
    assert list(output.iterations("level").values()) == list(ITERATIONS)


@pytest.mark.parametrize("variant", ["multigrid", "omp_multigrid"])
def test_the_v_cycle_needs_few_iterations_at_every_level(variant: str, tmp_path: Path) -> None:
    (program,) = programs(variant)
    output = native.verified(program, Placement(), tmp_path, "level=0,1,2,3,4,5", "problem=R,M")
    found = output.iterations("level", "problem")
    assert max(found.values()) <= MULTIGRID_MOST
    assert found[5, "R"] <= found[2, "R"] + 1


@pytest.mark.parametrize("variant", ["one_pass", "assembled", "multigrid"])
def test_errors_fall_with_orders_three_and_two(variant: str, tmp_path: Path) -> None:
    """To 11 digits the check integrates the errors and compares them with the reference; the energy at level 5."""
    (program,) = programs(variant)
    native.verified(program, Placement(), tmp_path, "level=0,1,2,3,4,5", "problem=M", "digits=11")


@pytest.mark.parametrize("variant", PUBLISHED)
def test_iterations_of_the_manufactured_solution(variant: str, tmp_path: Path) -> None:
    """Coarser levels use 32 bits only as far as their rounding is invisible."""
    (program,) = programs(variant)
    wanted = {d: some for d, some in MANUFACTURED.items() if variant != "mixed" or d < 8}
    digits = f"digits={','.join(map(str, wanted))}"
    found = native.verified(program, Placement(), tmp_path, "level=0,1,2,3", "problem=M", digits).iterations(
        "digits", "level"
    )
    assert found == {(d, level): n for d, some in wanted.items() for level, n in enumerate(some)}


@pytest.mark.parametrize("variant", ["serial", "one_pass", "mixed", "assembled", "multigrid"])
def test_the_cost_is_that_of_the_methods_own_iterations(variant: str, tmp_path: Path) -> None:
    """The declared cost of an iteration, times the iterations needed: no other method's count."""
    (program,) = programs(variant)
    output = native.verified(program, Placement(), tmp_path, "level=0,2,4", "problem=R")
    flops, moved = {"serial": (25, 64), "assembled": (25, 160), "multigrid": (84, 64)}.get(variant, (25, 56))
    iterations = output.iterations("level")
    for case in output.of("case"):
        level = case["parameters"]["level"]
        updates = (16 * 2**level + 1) ** 2 * iterations[level,]
        assert case["cost"]["flops"] == pytest.approx(flops * updates)
        assert case["cost"]["bytes"] == pytest.approx(moved * updates)


SOLVED = ("level=2,3", "problem=R,M")


def the_same_as_one_block(program: Built, place: Placement, folder: Path) -> None:
    """Every count of iterations is that of a single block, and what goes to communication is a share."""
    variant = program.program.variant
    (single,) = programs("multigrid" if "multigrid" in variant else "one_pass")
    arguments = (*SOLVED, "digits=6" if "mixed" in variant else "digits=6,8,10")  # 32 bits are not enough for more
    alone = native.verified(single, Placement(), folder, *arguments).iterations("level", "problem", "digits")
    output = native.verified(program, place, folder, *arguments)
    assert output.iterations("level", "problem", "digits") == alone
    shares = [s["values"]["communication_share"] for s in output.of("sample")]
    assert all(0 <= low <= middle <= high < 1 for low, middle, high in shares)


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("variant", [v for v in MPI if "openmp" not in VARIANTS[v].needs])
def test_any_number_of_processes_takes_the_iterations_of_one(variant: str, ranks: int, tmp_path: Path) -> None:
    for program in programs(variant, "" if ranks < 3 else "openmpi"):
        the_same_as_one_block(program, Placement(ranks=ranks), tmp_path)


@pytest.mark.parametrize("ranks", [1, 4, 5, 6, 8])
def test_counts_that_do_not_divide_the_mesh(ranks: int, tmp_path: Path) -> None:
    for program in programs("mpi", "openmpi"):
        the_same_as_one_block(program, Placement(ranks=ranks), tmp_path)


@pytest.mark.parametrize("variant", ["omp", "omp_multigrid"])
@pytest.mark.parametrize("threads", [2, 3, 6, 7, 8])
def test_any_number_of_threads_takes_the_iterations_of_one(variant: str, threads: int, tmp_path: Path) -> None:
    (program,) = programs(variant)
    the_same_as_one_block(program, Placement(threads=threads), tmp_path)


def test_processes_of_threads(tmp_path: Path) -> None:
    for program in programs("mpi_omp", "openmpi"):
        the_same_as_one_block(program, Placement(ranks=2, threads=3), tmp_path)


def test_any_grid_of_blocks(tmp_path: Path) -> None:
    (program,) = programs("omp")
    for threads, rows in ((2, (1, 2)), (6, (1, 2, 3, 6)), (7, (1, 7)), (8, (1, 2, 4, 8))):
        output = native.verified(
            program, Placement(threads=threads), tmp_path, "level=2,3", f"rows={','.join(map(str, rows))}"
        )
        found = output.iterations("level", "rows")
        assert found == {(level, r): ITERATIONS[level] for level in (2, 3) for r in rows}


@pytest.mark.parametrize(
    ("threads", "arguments", "sentence"),
    [
        (9, ("level=0", "rows=1"), "fem2d needs level=1 or more to be cut into 1 x 9 blocks"),
        (4, ("level=2", "rows=3"), "fem2d needs rows=3 to divide its 4 blocks; omit rows"),
    ],
)
def test_blocks_that_cannot_be_are_refused(
    threads: int, arguments: tuple[str, ...], sentence: str, tmp_path: Path
) -> None:
    (program,) = programs("omp")
    output = native.run(program, Placement(threads=threads), arguments, tmp_path)
    assert (output.status, output.lines) == (2, [])
    assert sentence in output.stderr


def test_assembly_is_timed_where_there_is_one(tmp_path: Path) -> None:
    for variant, expected in (("assembled", True), ("one_pass", False)):
        (program,) = programs(variant)
        times = [
            s["values"]["assembly"][2] for s in native.verified(program, Placement(), tmp_path, "level=3").of("sample")
        ]
        assert all((t > 0) is expected for t in times)


def test_a_fine_mesh_solved_to_few_digits_is_verified(tmp_path: Path) -> None:
    """The error is a multiple of the requested reduction that grows with the fineness of the mesh."""
    native.verified(native.plain("fem2d", "serial"), Placement(), tmp_path, "level=8", "problem=R", "digits=2")
