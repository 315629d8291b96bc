"""Solver libraries on the finite-element problem: the same solution on every number of processes."""

from __future__ import annotations

from pathlib import Path

import pytest

import native
from firstlight.execute.build import Built
from firstlight.model.catalogue import needs
from firstlight.model.plan import Program
from native import Placement

pytestmark = [pytest.mark.native, pytest.mark.full]

FEM2D = native.workloads["fem2d"]
PEERS = ("peer_hypre", "peer_petsc")


def test_a_peer_needs_its_library_and_mpi() -> None:
    assert needs("peer_hypre") == ("mpi", "hypre")
    assert needs("peer_petsc") == ("mpi", "petsc")


@pytest.fixture(scope="module")
def built() -> dict[Program, Built]:
    tool = native.toolchain("base")
    if tool is None:
        pytest.skip("no gcc here")
    peers = [v for v in FEM2D.variants if v.name in PEERS]
    return native.make([p for v in peers for p in native.programs(FEM2D, v, tool)])


def programs(built: dict[Program, Built], variant: str) -> list[Built]:
    found = [b for p, b in built.items() if p.variant == variant]
    if not found:
        pytest.skip(f"no MPI library here has the library of {variant}")
    assert [b.error for b in found] == [""] * len(found)
    return found


@pytest.mark.parametrize("variant", PEERS)
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_a_peer_solves_both_problems(variant: str, ranks: int, built: dict[Program, Built], tmp_path: Path) -> None:
    arguments = ("level=2,4", "problem=R,M") if ranks < 3 else ("level=3", "problem=R,M", "rows=0,1")
    for program in programs(built, variant):
        output = native.run(program, Placement(ranks=ranks), arguments, tmp_path)
        assert (output.status, output.reason) == (0, ""), output.stderr
        assert len(output.of("check")) == 12 and all(check["ok"] for check in output.of("check"))
        for sample in output.of("sample"):
            values = sample["values"]
            assert 2 <= values["iterations"][1] <= 25 and values["assembly"][1] > 0
            assert "communication_share" not in values  # it cannot be seen from outside


@pytest.mark.parametrize("variant", PEERS)
def test_more_digits_take_more_iterations_and_show_the_order(
    variant: str, built: dict[Program, Built], tmp_path: Path
) -> None:
    for program in programs(built, variant):
        output = native.run(program, Placement(ranks=2), ("level=3", "problem=M", "digits=6,11"), tmp_path)
        assert (output.status, output.reason) == (0, ""), output.stderr
        few, many = (output.of("sample")[k]["values"]["iterations"][1] for k in (0, -1))
        assert few < many
        assert "error is" in output.of("check")[-1]["what"]
