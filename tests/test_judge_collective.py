"""poor_collective: found where a library's MPI_Allreduce clearly loses at large messages, and nowhere else."""

from __future__ import annotations

import pytest

import sums
from firstlight.judge import Finding

FAST = {("mpich", v): 0.6 for v in sums.VARIANTS}  # MPICH's messages are slower here; its sums are made as fast


def said(**options: object) -> list[Finding]:
    return [f for f in sums.judgement(**options).findings if f.rule == "poor_collective"]


def test_the_library_loses_to_the_cube_on_top_of_it() -> None:
    (found,) = said(
        mpis=["openmpi"], variants=["mpi_allreduce", "mpi_cube"], factors={("openmpi", "mpi_allreduce"): 5.0}
    )
    ratio = 5 * sums.seconds("openmpi", "mpi_allreduce", 2, 2**23) / sums.seconds("openmpi", "mpi_cube", 2, 2**23)
    assert found.sentence.startswith("Open MPI's MPI_Allreduce is poor at large messages: ")
    assert " over 2 ranks take " in found.sentence and found.sentence.endswith(
        " as long as by recursive doubling over the same library"
    )
    assert float(found.sentence.split(" take ")[1].split(" x ")[0]) == pytest.approx(ratio, rel=0.05)
    assert found.command == "./fl run vector_sum.mpi_allreduce vector_sum.mpi_cube --mpi openmpi"
    assert {i.variant for i in found.about} == {"mpi_allreduce", "mpi_cube"}
    assert {i.metric for i in found.about} == {"time"} and len(found.evidence) == 2


def test_it_loses_to_another_library() -> None:
    (found,) = said(variants=["mpi_allreduce"], large_only={("mpich", "mpi_allreduce"): 3.0})
    assert found.sentence.startswith("MPICH's MPI_Allreduce is poor at large messages: ")
    assert found.sentence.endswith(" x as long as Open MPI's")
    assert found.command == "./fl run vector_sum.mpi_allreduce"
    assert {i.mpi for i in found.about} == {"openmpi", "mpich"}


def test_both_rivals_are_told_of_the_same_case() -> None:
    (found,) = said(factors=FAST, large_only={("openmpi", "mpi_allreduce"): 4.0})
    told = found.sentence.split(": ")[1]
    assert told.count(" take ") == 1
    assert "by rabenseifner over the same library and " in told and told.endswith(" x as long as MPICH's")
    assert len({i.parameters for i in found.about}) == 1


def test_a_little_slower_is_not_poor() -> None:
    assert said(mpis=["openmpi"], large_only={("openmpi", "mpi_allreduce"): 1.08}) == []


def test_losing_at_small_vectors_alone_is_not_poor() -> None:
    slow = {("openmpi", "mpi_allreduce"): 6.0}
    assert said(mpis=["openmpi"], factors=slow, large_only={("openmpi", "mpi_allreduce"): 1 / 6}) == []


def test_too_few_launches_prove_nothing() -> None:
    assert said(launches=3, mpis=["openmpi"], factors={("openmpi", "mpi_allreduce"): 5.0}) == []


def test_a_slow_route_is_no_fault_of_the_collective() -> None:
    assert said(mpis=["openmpi"], factors={("openmpi", "mpi_cube"): 5.0, ("openmpi", "mpi_rabenseifner"): 3.0}) == []


def test_more_ranks_than_processors_are_not_compared() -> None:
    assert said(ranks=8, mpis=["openmpi"], factors={("openmpi", "mpi_allreduce"): 5.0}) == []
