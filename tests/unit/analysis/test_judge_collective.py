"""poor_collective: found where a library's MPI_Allreduce clearly loses at large messages, and nowhere else."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

import sums
from firstlight.analysis import Finding
from firstlight.analysis.findings import poor_collective
from firstlight.analysis.findings.poor_collective import at
from firstlight.analysis.interval import estimate
from firstlight.analysis.verdict import Verified
from firstlight.model import catalogue

FAST = {("mpich", v): 0.6 for v in sums.VARIANTS}  # MPICH's messages are slower here; its sums are made as fast


def findings_with(**options: object) -> list[Finding]:
    return [f for f in sums.judgement(**options).findings if f.rule == "poor_collective"]


def test_the_library_loses_to_the_cube_on_top_of_it() -> None:
    (found,) = findings_with(
        mpis=["openmpi"], variants=["mpi_allreduce", "mpi_cube"], factors={("openmpi", "mpi_allreduce"): 5.0}
    )
    ratio = 5 * sums.seconds("openmpi", "mpi_allreduce", 2, 2**23) / sums.seconds("openmpi", "mpi_cube", 2, 2**23)
    assert found.sentence.startswith("Open MPI's MPI_Allreduce is slow at 512 KiB and 8 MiB: ")
    assert " over 2 ranks, it lasts " in found.sentence and found.sentence.endswith(
        " as long as recursive doubling with messages of the same library; "
        "./fl tune collectives may find faster settings"
    )
    assert float(found.sentence.split(" lasts ")[1].split(" x ")[0]) == pytest.approx(ratio, rel=0.05)
    assert found.command == "./fl run vector_sum.mpi_allreduce vector_sum.mpi_cube --mpi openmpi"
    assert {i.variant for i in found.about} == {"mpi_allreduce", "mpi_cube"}
    assert {i.metric for i in found.about} == {"time"} and len(found.evidence) == 2


def test_it_loses_to_another_library() -> None:
    (found,) = findings_with(variants=["mpi_allreduce"], large_only={("mpich", "mpi_allreduce"): 3.0})
    assert found.sentence.startswith("MPICH's MPI_Allreduce is slow at 512 KiB and 8 MiB: ")
    assert found.sentence.endswith(" x as long as Open MPI's")
    assert found.command == "./fl run vector_sum.mpi_allreduce"
    assert {i.mpi for i in found.about} == {"openmpi", "mpich"}


def test_the_sizes_at_which_it_holds_are_named() -> None:
    kib = 1024.0
    sizes = [256 * kib, 512 * kib, 1024 * kib, 8192 * kib]
    assert at(sizes, sizes) == "from 256 KiB to 8 MiB"
    assert at(sizes[:3], sizes) == "from 256 KiB to 1 MiB, not at 8 MiB"
    assert at(sizes[1:2], sizes) == "at 512 KiB, not at 256 KiB, 1 MiB and 8 MiB"
    assert at([sizes[0], sizes[1], sizes[3]], sizes) == "at 256 KiB, 512 KiB and 8 MiB, not at 1 MiB"


def test_a_size_at_which_it_does_not_lose_is_not_among_them() -> None:
    slow = {("openmpi", "mpi_allreduce"): 5.0}
    judged = sums.judgement(mpis=["openmpi"], variants=["mpi_allreduce", "mpi_cube"], factors=slow)
    sped = tuple(
        replace(f, estimate=estimate([x / 12 for x in f.estimate.launches]))
        if f.identity.variant == "mpi_allreduce" and dict(f.identity.parameters)["n"] == 2**20
        and isinstance(f, Verified) and f.identity.metric == "time" else f
        for f in judged.figures
    )  # fmt: skip
    (found,) = poor_collective.find(replace(judged, figures=sped), catalogue.load(catalogue.roots()))
    assert found.sentence.startswith(
        "Open MPI's MPI_Allreduce is slow at 512 KiB, not at 8 MiB: with 512 KiB over 2 ranks, it "
    )


def test_both_rivals_are_told_of_the_same_case() -> None:
    (found,) = findings_with(factors=FAST, large_only={("openmpi", "mpi_allreduce"): 4.0})
    text = found.sentence.split(": ")[1]
    assert text.count(" lasts ") == 1
    assert "rabenseifner with messages of the same library and " in text and " x as long as MPICH's; " in text
    assert len({i.parameters for i in found.about}) == 1


def test_a_little_slower_is_not_poor() -> None:
    assert findings_with(mpis=["openmpi"], large_only={("openmpi", "mpi_allreduce"): 1.08}) == []


def test_losing_at_small_vectors_alone_is_not_poor() -> None:
    slow = {("openmpi", "mpi_allreduce"): 6.0}
    assert findings_with(mpis=["openmpi"], factors=slow, large_only={("openmpi", "mpi_allreduce"): 1 / 6}) == []


def test_too_few_launches_prove_nothing() -> None:
    assert findings_with(launches=3, mpis=["openmpi"], factors={("openmpi", "mpi_allreduce"): 5.0}) == []


def test_a_slow_route_is_no_fault_of_the_collective() -> None:
    assert (
        findings_with(mpis=["openmpi"], factors={("openmpi", "mpi_cube"): 5.0, ("openmpi", "mpi_rabenseifner"): 3.0})
        == []
    )


def test_more_ranks_than_processors_are_not_compared() -> None:
    assert findings_with(ranks=8, mpis=["openmpi"], factors={("openmpi", "mpi_allreduce"): 5.0}) == []
