"""Profiles without MPI: files of ranks that cannot be trusted, what a matrix looks like in words, the two pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.errors import FirstlightError, RecordError
from firstlight.profile import calls, collect, shape, wrappers
from firstlight.profile.traffic import Kind, Pair, Phase, Rank, Traffic, whole
from firstlight.report import traffic as page
from firstlight.report.plots import traffic as plots


def content(rank: int, among: int, **other: Any) -> dict[str, Any]:
    """What the library writes for one rank that sends 2 messages of 8 bytes to the next."""
    phase = {
        "level": 1,
        "seconds": 1.0,
        "kinds": [["MPI_Send", 2, 16, 0.25], ["MPI_Barrier", 1, 0, 0.25]],
        "pairs": [[rank, (rank + 1) % among, 2, 16]],
    }
    head = {"schema": 1, "rank": rank, "ranks": among, "complete": True, "how": "MPI_Finalize"}
    return {**head, "library": "MPICH Version: 4.0.2", "seconds": 2.0, "folded": False, "phases": [phase], **other}


def write(folder: Path, rank: int, data: object, process: int = 1) -> None:
    text = data if isinstance(data, str) else json.dumps(data)
    (folder / f"rank-{rank:06d}.{process}-00000000.json").write_text(text)


def phase(matrix: dict[tuple[int, int], int], level: int = 1) -> Phase:
    kinds = (Kind("MPI_Send", "point-to-point", len(matrix), sum(matrix.values()), 0.5),)
    return Phase(level, 1.0, kinds, tuple(Pair(a, b, 1, n) for (a, b), n in sorted(matrix.items())))


def traffic(ranks: int, *phases: Phase, **other: Any) -> Traffic:
    times = tuple(Rank(r, 2.0, 1.0, 0.5, True, "MPI_Finalize") for r in range(ranks))
    values = {"status": 0, "mpi": "MPICH 4.0.2", "ranks": ranks, "times": times, "phases": phases}
    return Traffic("x-profile", "0.1.0", ("mpiexec", "./<b>program"), **{**values, **other})


# --- files ---------------------------------------------------------------------------------------------------------


def test_files_of_ranks_add_up(tmp_path: Path) -> None:
    for rank in (0, 2):
        write(tmp_path, rank, content(rank, 3))
    (tmp_path / ".rank-000001.1-00000000.part").write_text("half")
    found = collect.collect(tmp_path)
    assert (found.mpi, found.ranks, found.missing) == ("MPICH 4.0.2", 3, (1,))
    assert found.phases[0].pairs == (Pair(0, 1, 2, 16), Pair(2, 0, 2, 16))
    assert found.phases[0].kinds == (
        Kind("MPI_Send", "point-to-point", 4, 32, 0.5),
        Kind("MPI_Barrier", "collective", 2, 0, 0.5),
    )
    assert [(r.rank, r.recorded, r.mpi) for r in found.times] == [(0, 1.0, 0.5), (2, 1.0, 0.5)]


def altered(**change: Any) -> dict[str, Any]:
    data = content(0, 2)
    data["phases"][0] |= change
    return data


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("", "damaged"),
        ("{", "damaged"),
        ("[" * 100_000, "damaged"),
        (content(0, 2, schema=2), "damaged"),
        (content(0, 2, seconds=-1), "damaged"),
        (content(0, 2, seconds=1e300), "damaged"),
        (content(1, 2), "its name does not belong"),
        (content(0, 2, ranks=0), "damaged"),
        (content(0, 2, ranks=1 << 40), "damaged"),
        (altered(kinds=[["MPI_Evil", 1, 1, 1.0]]), "is not known"),
        (altered(kinds=[["MPI_Send", 1, 1, 1.0]] * 2), "comes twice"),
        (altered(kinds=[["MPI_Send", 1 << 63, 1, 1.0]]), "damaged"),
        (altered(pairs=[[0, 1, 1, -1]]), "damaged"),
        (altered(pairs=[[0, 2, 1, 1]]), "a rank that the job does not have"),
        (altered(pairs=[[1, 1, 1, 1]]), "without the rank itself"),
        (altered(pairs=[[0, 1, 1, 1], [0, 1, 1, 1]]), "a pair comes twice"),
        (content(0, 2, phases=content(0, 2)["phases"] * 2), "a phase comes twice"),
    ],
)
def test_a_file_that_the_library_did_not_write_is_refused(tmp_path: Path, data: object, said: str) -> None:
    write(tmp_path, 0, data)
    with pytest.raises(RecordError, match=said):
        collect.collect(tmp_path)


def test_links_and_several_jobs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(collect.NothingRecordedError):
        collect.collect(tmp_path)
    write(tmp_path, 0, content(0, 2))
    write(tmp_path, 0, content(0, 2), process=2)
    with pytest.raises(RecordError, match="more than once"):
        collect.collect(tmp_path)
    write(tmp_path, 1, content(1, 3))
    (tmp_path / "rank-000000.2-00000000.json").unlink()
    with pytest.raises(RecordError, match="different sizes"):
        collect.collect(tmp_path)
    (tmp_path / "rank-000001.1-00000000.json").unlink()
    (tmp_path / "rank-000001.1-00000000.json").symlink_to("/etc/passwd")
    with pytest.raises(RecordError, match="is a link"):
        collect.collect(tmp_path)


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("ranks")
    (folder / "rank-000000.1-00000000.json").write_bytes(data)
    with pytest.raises(FirstlightError):
        collect.collect(folder)


def test_unknown_peers_are_counted_apart(tmp_path: Path) -> None:
    write(tmp_path, 0, altered(pairs=[[0, -1, 3, 5], [-1, 0, 1, 1], [0, 0, 1, 2], [0, 0, 1, 2]]))
    found = collect.collect(tmp_path)
    assert found.phases[0].unknown == Pair(-1, -1, 4, 6)
    assert found.phases[0].pairs == (Pair(0, 0, 2, 4),)
    assert "outside MPI_COMM_WORLD" in found.notes[0]


# --- words ---------------------------------------------------------------------------------------------------------


def ring(ranks: int, size: int = 8) -> dict[tuple[int, int], int]:
    return {(r, (r + 1) % ranks): size for r in range(ranks)}


def test_sentences_say_what_the_matrix_shows() -> None:
    there = ring(8)
    back = {(b, a): n for (a, b), n in there.items()}
    far = {(0, 4): 16}
    assert shape.title(phase(there), 8) == "Each rank sends to 1 other; 100 % of the bytes go to ranks r ± 1"
    assert shape.symmetry_sentence(phase(there)) == "100 % of the bytes have no counterpart in the other direction"
    both = shape.symmetry_sentence(phase(there | back))
    assert both == "every pair of ranks sends as much one way as the other"
    assert "ranks r ± 1 and r ± 4" in shape.distance_sentence(phase(there | far), 8)
    assert shape.peers_sentence(phase(there | far), 8) == "Ranks send to 1 to 2 others (half of them to at most 1)"
    assert shape.title(phase({}), 8) == "No rank sends to another"
    assert shape.imbalance(phase(there | far), 8) == pytest.approx(24 * 8 / 80)
    assert shape.distances(phase({(0, 7): 8}), 8) == [(1, 1.0)]  # around the end


matrices = st.dictionaries(st.tuples(st.integers(0, 40), st.integers(0, 40)), st.integers(0, 1 << 40))


@given(matrices, matrices)
def test_nothing_is_lost_between_pairs_and_blocks(a: dict[tuple[int, int], int], b: dict[tuple[int, int], int]) -> None:
    together = whole(traffic(41, phase(a), phase(b, 2)))
    assert together.bytes == sum(a.values()) + sum(b.values())
    width, sums = shape.blocks(together.pairs, 41, 8)
    assert width == 6 and all(row < 7 and column < 7 for row, column in sums)
    assert sum(size for _, size in sums.values()) == together.bytes
    assert 0 <= shape.one_sidedness(together) <= 1
    assert sum(share for _, share in shape.distances(together, 41)) == pytest.approx(1) or not shape.distances(
        together, 41
    )
    drawn = plots.drawings(traffic(41, phase(a), phase(b, 2)), "p")
    assert len({d.id for d in drawn}) == len(drawn)


# --- pages ---------------------------------------------------------------------------------------------------------


def test_the_page_escapes_and_the_summary_warns() -> None:
    first = phase(ring(4))
    late = Rank(1, 2.0, 1.0, 0.9, False, "MPI_Abort")
    said = traffic(4, first, phase({(0, 1): 9}, 7), times=(late,), missing=(0, 2, 3))
    text = page.render(said)
    assert "./&lt;b&gt;program" in text and "<b>program" not in text
    assert "default-src 'none'" in text
    summary = page.summary(said, Path("r/report.html"))
    assert "! no record of 3 ranks (0, 2, 3)" in summary
    assert "! 1 rank ended early (rank 1: MPI_Abort)" in summary
    assert "report: r/report.html" in summary
    assert max(map(len, summary.splitlines())) <= 120


def test_the_page_of_a_large_dense_job_stays_small() -> None:
    ranks = 192
    dense = {(a, b): 1000 + 37 * ((a * b) % 1000) for a in range(ranks) for b in range(ranks) if a != b}
    text = page.render(traffic(ranks, *(phase(dense, level) for level in range(1, 6))))
    assert len(text.encode()) < 7_000_000


def test_a_job_without_messages_still_has_a_page() -> None:
    quiet = Phase(1, 1.0, (Kind("MPI_Allreduce", "collective", 2, 16, 0.1),), ())
    said = traffic(2, quiet)
    assert "MPI prescribes no route" in " ".join(page.sentences(said))
    assert [d.id for d in plots.drawings(said, "p")] == ["p-kinds", "p-times"]
    empty = traffic(1, Phase(1, 0.0, (), ()))
    assert page.render(empty) and page.summary(empty, None)
    assert msgspec.json.decode(msgspec.json.encode(said), type=Traffic) == said


# --- the table of calls ----------------------------------------------------------------------------------------------


def test_every_rule_names_arguments_of_its_call() -> None:
    table = calls.read(calls.FOLDER / "calls.txt")
    source = (calls.FOLDER / "record.hpp").read_text()
    for call in table:
        for word in call.rule.replace("(", " ( ").replace(",", " ").replace(")", " ").split():
            known = word in (*call.arguments, "(", "time", "hidden", "request_free") or f" {word}(" in source
            assert known, f"{call.name}: {word}"


def test_a_prototype_that_differs_from_the_standard_is_refused(tmp_path: Path) -> None:
    table = calls.read(calls.FOLDER / "calls.txt")
    header, source = wrappers.generate(table, "int MPI_Wait(MPI_Request *r, MPI_Status *s);", "mpich")
    assert "int MPI_Wait(MPI_Request * a_request, MPI_Status * a_status)" in source.replace(" *a", " * a")
    assert "MPI_Send(" not in source and "PMPI_Wait" in header
    with pytest.raises(ValueError, match="with 1 arguments"):
        wrappers.generate(table, "int MPI_Wait(MPI_Request *r);", "mpich")
    (tmp_path / "calls.txt").write_text("[x]\nMPI_Wait what\n")
    with pytest.raises(ValueError, match=r"calls\.txt:2"):
        calls.read(tmp_path / "calls.txt")
