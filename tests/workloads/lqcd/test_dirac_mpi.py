"""dirac on several processes: the reference numbers on every process grid, stale halos rejected, the twin unchecked."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

import native
from firstlight.execute.build import Built
from firstlight.results.description import Description
from mpi_programs import build_on_each_library, for_ranks
from native import Output, Placement

pytestmark = [pytest.mark.native, pytest.mark.full]

DIRAC = native.workloads["dirac"]
GOOD = ("mpi_blocking", "mpi_overlap", "mpi_persistent", "mpi_omp_overlap")
NORMS = {
    ("D", "periodic"): 10752.7212084013,
    ("D", "antiperiodic"): 10680.8187278149,
    ("Dhat", "periodic"): 4542.738225674,
}
PRODUCT = (2107.6384883855, 8.5471924112)  # <psi, D psi>, periodic
GRIDS = {
    1: [(1, 1, 1, 1)],
    2: [(2, 1, 1, 1), (1, 1, 1, 2), (0, 0, 0, 0)],
    4: [(2, 2, 1, 1), (1, 2, 2, 1), (1, 0, 0, 2)],
}
ON_4_4 = [(ranks, grid) for ranks, grids in GRIDS.items() for grid in grids]


@pytest.fixture(scope="module")
def built() -> dict[str, list[Built]]:
    """By variant, the program of each MPI library; those that `test_workloads` builds as well."""
    return build_on_each_library(DIRAC, [v for v in DIRAC.variants if "mpi" in v.needs])


def lattice(extents: tuple[int, ...], grid: tuple[int, ...]) -> tuple[str, ...]:
    names = ("t", "x", "y", "z")
    return (
        *(f"{n}={e}" for n, e in zip(names, extents, strict=True)),
        *(f"p{n}={g}" for n, g in zip(names, grid, strict=True)),
    )


def run(program: Built, ranks: int, folder: Path, *words: str, threads: int = 1) -> Output:
    return native.run(program, Placement(1, ranks, threads), words, folder)


def numbers(text: str) -> tuple[float, float, float]:
    """|out|^2 and <psi, out> of a sentence."""
    found = re.search(r"\|out\|\^2 = (\S+), <psi, out> = (\S+) (\S+) i$", text)
    assert found, text
    return float(found[1]), float(found[2]), float(found[3])


@pytest.mark.parametrize("variant", GOOD)
@pytest.mark.parametrize(("ranks", "grid"), ON_4_4)
def test_reference_numbers_on_every_grid(
    variant: str, ranks: int, grid: tuple[int, ...], built: dict[str, list[Built]], tmp_path: Path
) -> None:
    words = (*lattice((4, 4, 4, 4), grid), "bits=32,64", "operator=D,Dhat", "boundary=periodic,antiperiodic")
    threads = 2 if "omp" in variant and ranks == 1 else 1  # more would share the few processors of a test machine
    for program in for_ranks(built[variant], ranks):
        output = run(program, ranks, tmp_path, *words, threads=threads)
        assert (output.status, output.reason) == (0, ""), output.stderr
        seen = set()
        for case in output.of("case"):
            p = case["parameters"]
            tolerance = 1e-12 if p["bits"] == 64 else 4 * 2.0**-23
            for check in (c for c in output.of("check") if c["case"] == case["case"]):
                norm, re_, im = numbers(check["what"])
                if (wanted := NORMS.get((p["operator"], p["boundary"]))) is not None:
                    assert norm == pytest.approx(wanted, rel=tolerance), p
                    seen.add((p["bits"], p["operator"], p["boundary"]))
                if (p["operator"], p["boundary"]) == ("D", "periodic"):
                    size = (513.0781428890 * NORMS["D", "periodic"]) ** 0.5
                    assert (re_, im) == pytest.approx(PRODUCT, abs=tolerance * size)
        assert seen == {(bits, *key) for bits in (32, 64) for key in NORMS}


@pytest.mark.parametrize("variant", ("mpi_blocking", "mpi_overlap", "mpi_persistent"))
def test_eight_processes_have_the_same_numbers(variant: str, built: dict[str, list[Built]], tmp_path: Path) -> None:
    """Blocks of 2x2x2x4 split into two lanes: 64 bits with the vectors of the base flags."""
    for program in for_ranks(built[variant], 8):
        output = run(program, 8, tmp_path, *lattice((4, 4, 4, 4), (2, 2, 2, 1)), "bits=64", "operator=D,Dhat")
        assert (output.status, output.reason) == (0, ""), output.stderr
        for check in output.of("check"):
            assert numbers(check["what"])[0] == pytest.approx(
                NORMS["Dhat" if check["case"] else "D", "periodic"], rel=1e-12
            )


def test_sixteen_processes_in_four_dimensions(built: dict[str, list[Built]], tmp_path: Path) -> None:
    for program in for_ranks(built["mpi_overlap"], 16):
        words = (*lattice((8, 4, 4, 4), (2, 2, 2, 2)), "bits=64", "operator=D,Dhat", "boundary=antiperiodic")
        output = run(program, 16, tmp_path, *words)
        assert (output.status, output.reason) == (0, ""), output.stderr
        assert all(c["ok"] for c in output.of("check")) and len(output.of("check")) == 6


@pytest.mark.parametrize("variant", GOOD)
def test_linear_algebra_is_summed_over_the_processes(
    variant: str, built: dict[str, list[Built]], tmp_path: Path
) -> None:
    for program in for_ranks(built[variant], 2):
        output = run(program, 2, tmp_path, *lattice((8, 4, 4, 4), (0, 0, 0, 0)), "bits=32,64", "operator=axpy,dot,norm")
        assert (output.status, output.reason) == (0, ""), output.stderr
        assert all(c["ok"] for c in output.of("check"))
        assert all("flow" not in c["cost"] for c in output.of("case"))


@pytest.mark.parametrize(("ranks", "grid"), [(2, (2, 1, 1, 1)), (2, (1, 1, 1, 2)), (4, (2, 2, 1, 1))])
def test_a_stale_halo_is_rejected(
    ranks: int, grid: tuple[int, ...], built: dict[str, list[Built]], tmp_path: Path
) -> None:
    for program in for_ranks(built["broken_mpi_stale_halo"], ranks):
        output = run(program, ranks, tmp_path, *lattice((8, 4, 4, 4), grid), "bits=32,64", "operator=D,Dhat")
        assert output.status == 1, (output.reason, output.stderr)
        assert {c["case"] for c in output.of("check") if not c["ok"]} == {0, 1, 2, 3}


def test_without_communication_nothing_is_checked(built: dict[str, list[Built]], tmp_path: Path) -> None:
    for program in for_ranks(built["mpi_silent"], 2):
        description = msgspec.json.decode(program.describe, type=Description)
        assert "omits the exchange" in description.unverified
        output = run(program, 2, tmp_path, *lattice((8, 4, 4, 4), (2, 1, 1, 1)), "bits=32,64")
        assert (output.status, output.reason) == (0, ""), output.stderr
        assert output.of("check") == [] and len(output.of("sample")) == 4


@pytest.mark.parametrize(
    ("ranks", "grid", "faces"),
    [
        (2, (2, 1, 1, 1), 2 * 64),
        (2, (0, 0, 0, 0), 2 * 64),
        (2, (1, 2, 1, 1), 2 * 128),
        (1, (0, 0, 0, 0), 0),
        (4, (2, 1, 1, 2), 192),
    ],
)
def test_bytes_are_counted(
    ranks: int, grid: tuple[int, ...], faces: int, built: dict[str, list[Built]], tmp_path: Path
) -> None:
    """Half spinors of all faces that are cut, in and out of one process."""
    program = for_ranks(built["mpi_blocking"], ranks)[0]
    output = run(program, ranks, tmp_path, *lattice((8, 4, 4, 4), grid), "bits=32,64")
    assert output.status == 0, output.stderr
    assert [c["cost"].get("flow", 0) for c in output.of("case")] == [2 * faces * 12 * 4, 2 * faces * 12 * 8]


@pytest.mark.parametrize(
    ("ranks", "grid", "why"),
    [
        (3, (0, 0, 0, 0), "needs a process grid pt, px, py, pz with a product of 3"),
        (2, (4, 1, 1, 1), "needs a process grid"),
        (2, (1, 1, 1, 1), "needs a process grid"),
    ],
)
def test_what_cannot_be_is_refused(
    ranks: int, grid: tuple[int, ...], why: str, built: dict[str, list[Built]], tmp_path: Path
) -> None:
    program = built["mpi_overlap"][0]
    output = run(program, ranks, tmp_path, *lattice((4, 4, 4, 4), grid))
    assert output.status == 2 and why in output.stderr


def test_a_stale_halo_needs_a_neighbour(built: dict[str, list[Built]], tmp_path: Path) -> None:
    output = run(built["broken_mpi_stale_halo"][0], 1, tmp_path, *lattice((8, 4, 4, 4), (0, 0, 0, 0)))
    assert output.status == 2 and "needs at least 2 processes" in output.stderr
