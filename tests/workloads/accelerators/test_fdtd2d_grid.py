"""fdtd2d on grids of processes and by directives: right on every one, one picture, stale halos rejected."""

from __future__ import annotations

from pathlib import Path

import pytest

import directives
import native
from firstlight.execute.build import Built
from mpi_programs import build_on_each_library, for_ranks
from native import Placement

pytestmark = [pytest.mark.native, pytest.mark.full]

FDTD = native.workloads["fdtd2d"]
SMALL = ("problem=cavity,periodic,cpml,walls", "n=45", "steps=24", "bits=32,64")
EMULATED = ("problem=cavity,periodic,cpml,walls", "n=45", "steps=12", "bits=32,64")  # one fiber per cell is slow
GRIDS = [(1, 0, 0), (2, 1, 2), (3, 3, 1), (4, 2, 2), (5, 0, 0), (6, 2, 3), (7, 1, 7), (8, 4, 2)]
FEW = [(1, 0, 0), (2, 2, 1), (6, 3, 2)]
ON = [("mpi_overlap", *on) for on in GRIDS] + [("mpi_blocking", *on) for on in FEW]
ON += [("mpi_emulated", *on) for on in ((2, 1, 2), (4, 2, 2))]


@pytest.fixture(scope="module")
def built() -> dict[str, list[Built]]:
    """By variant, the program of each MPI library; those that `test_workloads` builds as well."""
    names = ("mpi_overlap", "mpi_blocking", "mpi_emulated", "broken_mpi_stale_halo")
    return build_on_each_library(FDTD, [v for v in FDTD.variants if v.name in names])


@pytest.mark.parametrize(("variant", "ranks", "pi", "pj"), ON)
def test_every_grid_of_processes_is_right(
    variant: str, ranks: int, pi: int, pj: int, built: dict[str, list[Built]], tmp_path: Path
) -> None:
    for program in for_ranks(built[variant], ranks):
        words = EMULATED if variant == "mpi_emulated" else SMALL
        output = native.verified(program, Placement(ranks=ranks), tmp_path, *words, f"pi={pi}", f"pj={pj}")
        assert len(output.of("case")) == 8


@pytest.mark.parametrize(("ranks", "pi", "pj"), [(2, 1, 2), (6, 2, 3)])
def test_all_ranks_draw_one_picture(
    ranks: int, pi: int, pj: int, built: dict[str, list[Built]], tmp_path: Path
) -> None:
    """The mode (3, 2) has one sign on each of six parts of the cavity, and ends at its walls, with any ranks."""
    (program, *_) = for_ranks(built["mpi_overlap"], ranks)
    words = ("problem=cavity", "n=90", "steps=1", f"pi={pi}", f"pj={pj}")
    output = native.verified(program, Placement(ranks=ranks), tmp_path, *words)
    (line,) = output.of("field")
    assert (line["name"], line["rows"], line["columns"]) == ("ez", 90, 90)
    signs = [[line["values"][15 + 30 * i][22 + 45 * j] > 0 for j in range(2)] for i in range(3)]
    assert signs in ([[True, False], [False, True], [True, False]], [[False, True], [True, False], [False, True]])
    assert set(line["values"][0]) == {row[0] for row in line["values"]} == {0}


@pytest.mark.parametrize(("ranks", "pi", "pj"), [(2, 2, 1), (4, 2, 2)])
def test_a_stale_halo_is_rejected(ranks: int, pi: int, pj: int, built: dict[str, list[Built]], tmp_path: Path) -> None:
    for program in for_ranks(built["broken_mpi_stale_halo"], ranks):
        output = native.run(program, Placement(ranks=ranks), (*SMALL, f"pi={pi}", f"pj={pj}"), tmp_path)
        assert output.status == 1, (output.reason, output.stderr)
        assert {c["case"] for c in output.of("check") if not c["ok"]} == set(range(8))


@pytest.mark.parametrize("seed", [12, 116])
def test_metal_never_shuts_in_the_source(seed: int, built: dict[str, list[Built]], tmp_path: Path) -> None:
    """Otherwise the disk of metal would cover the source: the fields would be zeros, which no mistake changes."""
    (program, *_) = for_ranks(built["broken_mpi_stale_halo"], 2)
    words = ("problem=walls", "n=45", "steps=24", "bits=64", "pi=2", "pj=1")
    output = native.run(program, Placement(ranks=2), words, tmp_path, (*native.EFFORT, "--seed", str(seed)))
    assert [c["ok"] for c in output.of("check")] == [False]


# --- directives, where there is no device ---------------------------------------------------------


@pytest.mark.parametrize("variant", ["acc", "target"])
def test_loops_with_directives_are_right(variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = directives.on_the_host(FDTD, variant, tmp_path, monkeypatch)
    assert len(native.verified(made, Placement(), tmp_path, *SMALL).of("case")) == 8
