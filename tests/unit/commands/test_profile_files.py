"""Files that the recorder writes for each rank, added up; files that cannot be trusted; the table of calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.commands.profile import collect, page
from firstlight.core.errors import FirstlightError, RecordError
from firstlight.execute.recorder import calls, wrappers
from firstlight.results.traffic import Kind, Pair, Size
from profile_samples import content, traffic, write


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
    ("data", "message"),
    [
        ("", "damaged"),
        ("{", "damaged"),
        ("[" * 100_000, "damaged"),
        (content(0, 2, schema=2), "damaged"),
        (content(0, 2, seconds=-1), "damaged"),
        (content(0, 2, seconds=1e300), "damaged"),
        (content(1, 2), "the file name does not match"),
        (content(0, 2, ranks=0), "damaged"),
        (content(0, 2, ranks=1 << 40), "damaged"),
        (altered(kinds=[["MPI_Evil", 1, 1, 1.0]]), "is unknown"),
        (altered(kinds=[["MPI_Send", 1, 1, 1.0]] * 2), "occurs twice"),
        (altered(kinds=[["MPI_Send", 1 << 63, 1, 1.0]]), "damaged"),
        (altered(pairs=[[0, 1, 1, -1]]), "damaged"),
        (altered(pairs=[[0, 2, 1, 1]]), "a rank that the job does not have"),
        (altered(pairs=[[1, 1, 1, 1]]), "does not contain the rank itself"),
        (altered(pairs=[[0, 1, 1, 1], [0, 1, 1, 1]]), "a pair occurs twice"),
        (content(0, 2, phases=content(0, 2)["phases"] * 2), "a phase occurs twice"),
    ],
)
def test_a_file_that_the_library_did_not_write_is_refused(tmp_path: Path, data: object, message: str) -> None:
    write(tmp_path, 0, data)
    with pytest.raises(RecordError, match=message):
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


def test_sizes_of_ranks_and_phases_add_up(tmp_path: Path) -> None:
    for rank in (0, 1):
        data = content(rank, 2)
        data["phases"][0]["sizes"] = [[4, 2, 16]] if rank == 0 else [[0, 1, 0], [4, 1, 15]]
        write(tmp_path, rank, data)
    assert collect.collect(tmp_path).phases[0].sizes == (Size(0, 1, 0), Size(4, 3, 31))


@pytest.mark.parametrize(
    "bad",
    [
        {"cpus": [[3, 1]]},
        {"cpus": [[0, 2], [2, 3]]},
        {"cpus": [[0, 8192]]},
        {"node": "<b>"},
        {"processor_seconds": -1},
    ],
)
def test_foreign_processors_are_refused(tmp_path: Path, bad: dict[str, Any]) -> None:
    write(tmp_path, 0, content(0, 1, **bad))
    with pytest.raises(RecordError):
        collect.collect(tmp_path)


def test_the_last_to_come_to_a_barrier_does_not_wait(tmp_path: Path) -> None:
    """Ranks spend 0.25, 0.5 and 1.0 s in as many barriers: 0.25 s a rank may be the barriers themselves."""
    for rank, seconds in enumerate((0.25, 0.5, 1.0)):
        data = content(rank, 3)
        data["phases"][0]["kinds"] = [["MPI_Send", 2, 16, 0.25], ["MPI_Barrier", 1, 0, seconds]]
        write(tmp_path, rank, data)
    found = collect.collect(tmp_path).phases[0]
    assert {k.name: k.waiting for k in found.kinds} == {"MPI_Send": None, "MPI_Barrier": pytest.approx(1.0)}
    text = " ".join(page.splits(traffic(3, found)))
    assert "ynchronising collectives last 1.75 s; at least 57 % of this time is waiting" in text
    data["phases"][0]["kinds"][1][1] = 2  # another number of barriers: another communicator, perhaps
    write(tmp_path, 2, data)
    assert all(k.waiting is None for k in collect.collect(tmp_path).phases[0].kinds)
