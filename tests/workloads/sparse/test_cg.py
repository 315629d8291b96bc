"""Cg has the published iterations on any number of processes; residuals drift within limits; bad inputs are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import native
from firstlight.execute.build import Built
from native import COUNTED, Placement

pytestmark = pytest.mark.native

METHODS = "method=classic,gropp,pipelined,replaced,s_step"


def program(variant: str) -> Built:
    return native.plain("cg", variant)


def values(folder: Path, variant: str, place: Placement, *words: str) -> dict[tuple[str, ...], dict[str, float]]:
    """Return the medians of the last sample of each case, by method, preconditioner and digits."""
    output = native.run(program(variant), place, (*words, "--seed", "7"), folder, COUNTED)
    assert output.status == 0, (output.reason, output.stderr, [c for c in output.of("check") if not c["ok"]])
    found = {}
    for sample in output.of("sample"):
        case = output.of("case")[sample["case"]]["parameters"]
        key = (case["method"], case["preconditioner"], str(case["digits"]))
        found[key] = {name: some[0] for name, some in sample["values"].items()}
    return found


def iterations(found: dict[tuple[str, ...], dict[str, float]]) -> dict[tuple[str, ...], float]:
    return {key: some["iterations"] for key, some in found.items()}


def test_iterations_are_the_published_ones(tmp_path: Path) -> None:
    """The Laplacian of 100^2 and 300^2 points, b = A 1, Jacobi."""
    small = values(tmp_path, "serial", Placement(), METHODS, "m=100", "digits=6,10")
    assert {(key[2], some["iterations"]) for key, some in small.items()} == {("6", 160), ("10", 211)}
    large = values(tmp_path, "serial", Placement(), "m=300", "digits=6,10")
    assert [some["iterations"] for some in large.values()] == [462, 601]
    for some in (*small.values(), *large.values()):
        assert abs(some["true_residual"] / some["residual"] - 1) < 0.02


def test_residuals_drift_where_all_follow_from_recurrences(tmp_path: Path) -> None:
    found = values(
        tmp_path, "serial", Placement(), "method=classic,gropp,pipelined,replaced", "m=100", "iterations=350"
    )
    left = {method: some["true_residual"] for (method, *_), some in found.items()}
    assert max(left["classic"], left["gropp"]) < 1e-13 and left["replaced"] < 1e-12
    assert left["pipelined"] > 20 * left["replaced"]
    assert all(some["residual"] < 1e-11 and some["iterations"] == 350 for some in found.values())


def test_progress_of_sums_behind_work_is_measured_on_each_library(tmp_path: Path) -> None:
    """The result is a share, of methods that hide their sums; its value is not promised."""
    words = ("method=classic,gropp,pipelined", "m=20")
    workload = native.workloads["cg"]
    for built in native.make(native.on_each_library(workload, workload.variant("mpi"))).values():
        output = native.run(built, Placement(ranks=2), words, tmp_path, COUNTED)
        assert output.status == 0, (output.reason, output.stderr)
        for sample in output.of("sample"):
            method = output.of("case")[sample["case"]]["parameters"]["method"]
            shares = [x for name in ("hidden", "hidden_by_exchange") for x in sample["values"].get(name, [])]
            assert len(shares) == (0 if method == "classic" else 6) and all(0 <= x <= 1 for x in shares)
    assert "hidden" not in values(tmp_path, "mpi", Placement(), "method=gropp", "m=20")["gropp", "jacobi", "6"]


@pytest.mark.parametrize("variant", ["omp", "mpi"])
def test_parties_change_no_count(variant: str, tmp_path: Path) -> None:
    words = (METHODS, "m=31", "digits=8")
    alone = iterations(values(tmp_path, "serial", Placement(), *words))
    assert len(set(alone.values())) == 1
    for parties in (1, 2, 3, 8) if variant == "mpi" else (1, 3):
        place = Placement(ranks=parties) if variant == "mpi" else Placement(threads=parties)
        assert iterations(values(tmp_path, variant, place, *words)) == alone


def test_blocks_of_their_own_cost_iterations(tmp_path: Path) -> None:
    """Symmetric sweeps need more iterations, as in the reference; a thread's block and a process's are the same."""
    words = (METHODS, "m=31", "preconditioner=ssor")
    alone = iterations(values(tmp_path, "serial", Placement(), *words))
    threads = iterations(values(tmp_path, "omp", Placement(threads=3), *words))
    assert iterations(values(tmp_path, "mpi", Placement(ranks=3), *words)) == threads
    assert all(alone[key] < threads[key] for key in alone)


FILE = """%%MatrixMarket matrix coordinate real symmetric
3 3 4
1 1 2
2 1 -1
2 2 2
3 3 5
"""


def test_a_file_is_solved(tmp_path: Path) -> None:
    (tmp_path / "own.mtx").write_text(FILE)
    done = native.direct(program("serial"), METHODS, "preconditioner=jacobi,ssor", f"matrix={tmp_path / 'own.mtx'}")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("matrix=random",), "cg needs a symmetric matrix"),
        (("matrix=banded",), "cg needs a positive definite matrix"),
        (("matrix=hpcg", "m=300"), "cg needs m=256 or less"),
        (("matrix=FILE",), "the diagonal is -5 in row 3"),
    ],
)
def test_what_is_not_positive_definite_is_refused_in_one_line(words: tuple[str, ...], why: str, tmp_path: Path) -> None:
    (tmp_path / "own.mtx").write_text(FILE.replace("3 3 5", "3 3 -5"))
    done = native.direct(program("serial"), *(word.replace("FILE", str(tmp_path / "own.mtx")) for word in words))
    assert done.returncode == 2 and why in done.stderr and done.stderr.count("\n") == 1
