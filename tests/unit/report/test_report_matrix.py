"""The matrix of choices: placements are a dimension of it, ranked only against placements of as many ranks."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

import synthetic_halo
from firstlight.analysis import Judgement
from firstlight.analysis.figures import judge
from firstlight.model.catalogue import Row
from firstlight.model.plan import Placement
from firstlight.report.matrix import Matrix, matrices
from report_samples import sample

ROW = Row("halo exchange, N = 2", "exchange", 85, {"n": 2, "data": "packed"}, ranks=2, choose="variant")
FEW = ("mpi_sendrecv", "mpi_shared_flags")


def made(*placements: Placement, rows: tuple[Row, ...] = (ROW,), strategies: Iterable[str] = FEW) -> list[Matrix]:
    scene = synthetic_halo.run(strategies=strategies, placements=placements, launches=6, sizes=(2,))
    workloads = {"halo": replace(scene.workloads["halo"], rows=rows)}
    judgement: Judgement = judge(scene.run, scene.records, workloads)
    return matrices(judgement, workloads)


def test_one_placement_is_not_repeated_in_every_line() -> None:
    (found,) = made(Placement(1, 2, 1))
    assert [line for line, _ in found.rows] == ["MPICH · gcc-native", "Open MPI · gcc-native"]
    assert found.columns == FEW and found.id == "choose-0"


def test_placements_of_as_many_ranks_are_lines_of_one_matrix() -> None:
    (found,) = made(Placement(1, 2, 1), Placement(2, 2, 1))
    assert [line for line, _ in found.rows] == [
        "MPICH · gcc-native · 2 nodes, 2 ranks", "MPICH · gcc-native · 2 ranks",
        "Open MPI · gcc-native · 2 nodes, 2 ranks", "Open MPI · gcc-native · 2 ranks",
    ]  # fmt: skip
    words = [cell.text for _, cells in found.rows for cell in cells]
    assert words.count("any") == 2 and "best" not in words, "one node and two are equal"


def test_another_number_of_ranks_has_a_matrix_of_its_own() -> None:
    first, second = made(Placement(1, 2, 1), Placement(2, 4, 1))
    assert first.title.startswith("Halo exchange, N = 2: the worst choice is 2.59 × worse")
    assert second.title.startswith("Halo exchange, N = 2, with 4 ranks instead: the worst choice is 2.59 × worse")
    assert (first.id, second.id) == ("choose-0", "choose-0-4")


def test_what_another_row_speaks_of_is_not_told_twice() -> None:
    both = (ROW, replace(ROW, title="halo exchange, 4 ranks", ranks=4, order=86))
    first, second = made(Placement(1, 2, 1), Placement(2, 4, 1), rows=both)
    assert first.title.startswith("Halo exchange, N = 2: ") and second.title.startswith("Halo exchange, 4 ranks: ")


def test_crowded_placements_are_never_ranked() -> None:
    assert made(Placement(1, 4, 1)) == []
    (found,) = made(Placement(1, 4, 1), Placement(2, 4, 1))
    crowded = [cells for line, cells in found.rows if line.endswith("· 4 ranks")]
    assert len(crowded) == 2
    assert all(c.shade is None and "never ranked" in c.why for cells in crowded for c in cells)


def test_an_ordinary_run_has_one_matrix_a_row() -> None:
    judgement, workloads = sample()
    found = matrices(judgement, workloads)
    assert len({m.id for m in found}) == len(found) <= sum(len(w.rows) for w in workloads.values())
    assert not any("instead" in m.title for m in found)


def test_many_strategies_stand_below_each_other() -> None:
    many = [s for s in synthetic_halo.LATENCY if s.startswith("mpi_")]
    (found,) = made(Placement(1, 2, 1), strategies=many)
    assert found.columns == ("MPICH · gcc-native", "Open MPI · gcc-native")
    assert [line for line, _ in found.rows] == sorted(many)
    assert sum(cell.text == "best" for _, cells in found.rows for cell in cells) == 1
