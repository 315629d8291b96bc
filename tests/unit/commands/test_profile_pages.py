"""Profiles without MPI: what a matrix looks like in words, shared processors, sizes, waiting, the two pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chart_tree
from firstlight.commands.profile import page, waiting
from firstlight.commands.profile import plot as plots
from firstlight.commands.shared import command_line
from firstlight.execute.recorder import calls
from firstlight.report import traffic_shape
from firstlight.results.traffic import Cost, Kind, Phase, Rank, Size, Traffic, whole
from profile_samples import phase, traffic

# --- words ---------------------------------------------------------------------------------------------------------


def ring(ranks: int, size: int = 8) -> dict[tuple[int, int], int]:
    return {(r, (r + 1) % ranks): size for r in range(ranks)}


def test_sentences_say_what_the_matrix_shows() -> None:
    there = ring(8)
    back = {(b, a): n for (a, b), n in there.items()}
    far = {(0, 4): 16}
    assert traffic_shape.title(phase(there), 8) == "Each rank sends to 1 other; 100 % of the bytes go to ranks r ± 1"
    assert (
        traffic_shape.symmetry_sentence(phase(there)) == "100 % of the bytes have no counterpart in the other direction"
    )
    both = traffic_shape.symmetry_sentence(phase(there | back))
    assert both == "every pair of ranks sends the same amount in both directions"
    assert "ranks r ± 1 and r ± 4" in traffic_shape.distance_sentence(phase(there | far), 8)
    assert (
        traffic_shape.peers_sentence(phase(there | far), 8) == "Ranks send to 1 to 2 others (half of them to at most 1)"
    )
    assert traffic_shape.title(phase({}), 8) == "No rank sends to another rank"
    own = {(0, 0): 30, (1, 1): 30, (0, 1): 20, (1, 0): 20}
    assert (
        traffic_shape.title(phase(own), 2) == "Each rank sends to 1 other; 60 % of all bytes go from a rank to itself"
    )
    assert traffic_shape.imbalance(phase(there | far), 8) == pytest.approx(24 * 8 / 80)
    assert traffic_shape.distances(phase({(0, 7): 8}), 8) == [(1, 1.0)]  # around the end


matrices = st.dictionaries(st.tuples(st.integers(0, 40), st.integers(0, 40)), st.integers(0, 1 << 40))


@given(matrices, matrices)
def test_nothing_is_lost_between_pairs_and_blocks(a: dict[tuple[int, int], int], b: dict[tuple[int, int], int]) -> None:
    together = whole(traffic(41, phase(a), phase(b, 2)))
    assert together.bytes == sum(a.values()) + sum(b.values())
    width, sums = traffic_shape.blocks(together.pairs, 41, 8)
    assert width == 6 and all(row < 7 and column < 7 for row, column in sums)
    assert sum(size for _, size in sums.values()) == together.bytes
    assert 0 <= traffic_shape.one_sidedness(together) <= 1
    assert sum(share for _, share in traffic_shape.distances(together, 41)) == pytest.approx(
        1
    ) or not traffic_shape.distances(together, 41)
    drawn = plots.drawings(traffic(41, phase(a), phase(b, 2)), "p")
    assert len({d.id for d in drawn}) == len(drawn)


# --- pages ---------------------------------------------------------------------------------------------------------


def test_the_page_escapes_and_the_summary_warns() -> None:
    first = phase(ring(4))
    late = Rank(1, 2.0, 1.0, 0.9, False, "MPI_Abort")
    shown = traffic(4, first, phase({(0, 1): 9}, 7), times=(late,), missing=(0, 2, 3))
    text = page.render(shown)
    assert "./&lt;b&gt;program" in text and "<b>program" not in text
    assert "default-src 'none'" in text
    summary = page.summary(shown, Path("r/report.html"))
    assert "! no record of 3 ranks (0, 2, 3)" in summary
    assert "! 1 rank ended early (rank 1: MPI_Abort)" in summary
    assert "report: r/report.html" in summary
    assert max(map(len, summary.splitlines())) <= 120


def test_the_page_of_a_large_dense_job_stays_small() -> None:
    ranks = 192
    dense = {(a, b): 1000 + 37 * ((a * b) % 1000) for a in range(ranks) for b in range(ranks) if a != b}
    text = page.render(traffic(ranks, *(phase(dense, level) for level in range(1, 6))))
    assert len(text.encode()) < 1_500_000 and chart_tree.of_page(text)


def test_a_job_without_messages_still_has_a_page() -> None:
    quiet = Phase(1, 1.0, (Kind("MPI_Allreduce", "collective", 2, 16, 0.1),), ())
    shown = traffic(2, quiet)
    assert "MPI prescribes no route" in " ".join(page.sentences(shown))
    assert [d.id for d in plots.drawings(shown, "p")] == ["p-kinds", "p-times"]
    empty = traffic(1, Phase(1, 0.0, (), ()))
    assert page.render(empty) and page.summary(empty, None)
    assert msgspec.json.decode(msgspec.json.encode(shown), type=Traffic) == shown


# --- who shares processors, sizes, waiting ---


def ranks_on(*cpus: tuple[tuple[int, int], ...], node: str = "a") -> tuple[Rank, ...]:
    return tuple(Rank(r, 2.0, 1.0, 0.5, True, "MPI_Finalize", node, c, 1.9) for r, c in enumerate(cpus))


@pytest.mark.parametrize(
    ("times", "found"),
    [
        (ranks_on(((0, 1),), ((0, 1),)), []),
        (ranks_on(((0, 1),), ((0, 1),), ((0, 1),)), [(3, 2)]),
        (ranks_on(((0, 0),), ((0, 0),), ((1, 3),)), [(2, 1)]),  # bound to one processor, though there are four
        (ranks_on(((0, 0),), ((0, 3),), ((0, 3),), ((0, 3),)), []),
        (ranks_on(((0, 0), (2, 2)), ((2, 2),), ((0, 0),)), [(3, 2)]),
        (ranks_on(((0, 0),)) + ranks_on(((0, 0),), node="b"), []),  # processor 0 of two nodes
        (ranks_on((), ()), []),  # nothing is known
        (ranks_on(((0, 0),), ((0, 0),), node=""), []),
    ],
)
def test_ranks_that_have_fewer_processors_than_they_are(times: tuple[Rank, ...], found: list[tuple[int, int]]) -> None:
    assert [(c.ranks, c.processors) for c in waiting.crowds(times)] == found


@given(st.lists(st.sets(st.integers(0, 4), min_size=1), min_size=1, max_size=6))
def test_no_crowd_is_told_where_everyone_can_have_a_processor_of_its_own(sets: list[set[int]]) -> None:
    """Hall's theorem is checked for the sets that ranks have, and for all of them together."""
    free: dict[int, int] = {}

    def place(rank: int, seen: set[int]) -> bool:
        for cpu in sets[rank]:
            if cpu not in seen:
                seen.add(cpu)
                if cpu not in free or place(free[cpu], seen):
                    free[cpu] = rank
                    return True
        return False

    fits = all(place(rank, set()) for rank in range(len(sets)))
    times = ranks_on(*(tuple((c, c) for c in sorted(s)) for s in sets))
    found = waiting.crowds(times)
    assert not (fits and found)
    assert all(c.ranks > c.processors for c in found)


def test_sharing_processors_is_said_before_anything_else() -> None:
    some = traffic(3, phase({(0, 1): 8}), times=ranks_on(((0, 1),), ((0, 1),), ((0, 1),)))
    assert page.warnings(some)[0].startswith("3 ranks share 2 processors of a node. Ranks wait for a processor")
    assert "ranks share processors, so this share does not measure" in page.sentences(some)[0]
    text = " ".join(page.summary(some, None).lower().split())
    assert text.index("3 ranks share") < text.index("of the recorded time is spent in mpi")
    assert "3 ranks share 2 processors" in page.render(some)


def test_the_first_sentence_has_the_share_of_mpi_by_rank_and_its_largest_call() -> None:
    some = traffic(2, phase(ring(2)))
    uneven = [msgspec.structs.replace(r, recorded=1.0, mpi=m) for r, m in zip(some.times, (0.6, 0.3), strict=True)]
    shown = page.sentences(msgspec.structs.replace(some, times=tuple(uneven)))[0]
    assert shown == "45 % of the recorded time is spent in MPI (30 % to 60 % by rank), 100 % of it in MPI_Send."


def test_a_page_that_is_written_again_keeps_the_date_of_its_profile() -> None:
    some = msgspec.structs.replace(traffic(2, phase(ring(2))), id="20261101-140502-profile")
    assert "1 Nov 2026 14:05 ·" in page.render(some) and page.date(some) == "1 Nov 2026 14:05"
    assert page.date(msgspec.structs.replace(some, id="mine")) == "date unknown"


def test_a_matrix_with_one_colour_or_two_ranks_is_not_drawn() -> None:
    equal, few = plots.drawings(traffic(8, phase(ring(8))), "p"), plots.drawings(traffic(2, phase(ring(2))), "p")
    assert not [d for d in equal if d.id.endswith("-messages")]
    assert [bool(d.data) for d in equal if d.id.endswith("-bytes")] == [True]
    (matrix,) = (d for d in few if d.id.endswith("-bytes"))
    assert not matrix.data and len(matrix.rows) == 2


def with_sizes(*rows: tuple[int, int, int]) -> Phase:
    return msgspec.structs.replace(phase({(0, 1): sum(b for _, _, b in rows)}), sizes=tuple(Size(*row) for row in rows))


@pytest.mark.parametrize(
    ("rows", "title"),
    [
        ([(4, 6, 48)], "All messages have 8 – 15 B"),
        ([(0, 9, 0)], "All messages have 0 B"),
        ([(4, 6, 48), (21, 2, 3 << 20)], "75 % of the messages have 8 – 15 B; 100 % of the bytes are in messages of"),
        ([(1, 1, 1), (17, 9, 9 << 16)], "90 % of the messages have 64 – 128 KiB and contain 100 % of the bytes"),
        ([(10, 2, 1200), (11, 1, 1024), (20, 2, 1 << 20)], "message sizes range from 512 – 1023 B to 512 KiB – 1 MiB"),
    ],
)  # fmt: skip
def test_sizes_in_words(rows: list[tuple[int, int, int]], title: str) -> None:
    some = traffic(2, with_sizes(*rows))
    assert plots.sizes_title(some.phases[0]).startswith(title)
    [drawing] = [d for d in plots.drawings(some, "profile") if d.id == "profile-sizes"]
    assert len(drawing.rows) == len(rows)


def timed(**groups: float) -> Phase:
    kinds = tuple(Kind(name, group, 1, 0, groups[name]) for name, group in GROUPS.items() if name in groups)
    return msgspec.structs.replace(with_sizes((4, 100, 800), (20, 10, 10 << 19)), kinds=kinds)


GROUPS: dict[str, calls.Group] = {
    "MPI_Isend": "point-to-point", "MPI_Recv": "receiving", "MPI_Waitall": "waiting", "MPI_Iallreduce": "collective",
    "MPI_Rput": "one-sided", "MPI_Put": "one-sided",
}  # fmt: skip
COST = Cost("from the ping-pong of run r", 1, ((0, 1e-6), (1 << 19, 101e-6)))


def test_what_moving_data_cannot_have_taken_is_waiting() -> None:
    """100 messages of 1 us and 10 of 101 us, at both ends: 2.22 ms at most."""
    some = traffic(2, timed(MPI_Isend=0.001, MPI_Recv=0.01, MPI_Waitall=0.0111, MPI_Put=1.0), cost=COST)
    split, why = waiting.between_two(some)
    assert why == "" and split is not None and split.transfer == pytest.approx(2.2203e-3, rel=1e-3)
    assert split.inside == pytest.approx(0.0221) and split.waiting == pytest.approx(0.0221 - split.transfer)
    assert "Data transfer is at most 2.22 ms (from the ping-pong of run r), so at least 89 % is waiting" in " ".join(
        page.splits(some)
    )
    quick = traffic(2, timed(MPI_Recv=0.001), cost=COST)
    assert waiting.between_two(quick)[0] == waiting.Split(0.001, 0.0, pytest.approx(2.2203e-3, rel=1e-3))


def test_what_cannot_be_told_is_not_told() -> None:
    for other in ("MPI_Iallreduce", "MPI_Rput"):
        some = traffic(2, timed(MPI_Recv=0.1, **{other: 0.1}), cost=COST)
        assert waiting.between_two(some) == (None, f"waits may also complete {other}, so their time cannot be split")
    assert "newest run here did not measure messages" in waiting.between_two(traffic(2, timed(MPI_Recv=0.1)))[1]
    far = ranks_on(((0, 1),)) + ranks_on(((0, 1),), node="b")
    assert "between nodes" in waiting.between_two(traffic(2, timed(MPI_Recv=0.1), cost=COST, times=far))[1]
    crowded = traffic(2, timed(MPI_Recv=0.1), cost=COST, times=ranks_on(((0, 0),), ((0, 0),)))
    assert not any("waiting for a partner" in s for s in page.sentences(crowded))


@given(st.lists(st.tuples(st.integers(0, 1 << 30), st.integers(1, 1000)), min_size=1, max_size=5))
def test_a_longer_message_does_not_cost_less(some: list[tuple[int, int]]) -> None:
    costs = [waiting.cost_of(COST, Size(max(0, b.bit_length()), n, b * n)) for b, n in sorted(some)]
    assert costs == sorted(costs) and costs[0] >= 1e-6


def test_the_report_of_a_profile_is_written_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "some-profile"
    folder.mkdir()
    some = traffic(2, with_sizes((4, 6, 48)))
    (folder / "profile.json").write_bytes(msgspec.json.encode(some))
    assert command_line.call(["report", str(folder)]) == 0
    assert "All messages have 8 – 15 B." in capsys.readouterr().out
    assert 'id="profile-sizes"' in (folder / "report.html").read_text()
    assert command_line.call(["report", "some-profile", "--results", str(tmp_path), "--json"]) == 0
    assert msgspec.json.decode(capsys.readouterr().out, type=Traffic) == some
    assert command_line.call(["report", str(folder), "--output", str(tmp_path / "other.html")]) == 0
    assert (tmp_path / "other.html").exists()
    assert command_line.call(["report", str(folder), "--against", "latest"]) == 2


@pytest.mark.parametrize(
    "change",
    [
        {"phases": []},
        {"ranks": 0},
        {"ranks": 1 << 40},
        {"times": []},
        {"cost": {"source": "", "nodes": 1, "curve": []}},
        {"cost": {"source": "", "nodes": 1, "curve": [[4, 1.0], [4, 2.0]]}},
        {"schema": "x"},
    ],
)
def test_a_profile_that_was_damaged_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any]
) -> None:
    data = msgspec.to_builtins(traffic(2, with_sizes((4, 6, 48)))) | change
    (tmp_path / "profile.json").write_text(json.dumps(data))
    assert command_line.call(["report", str(tmp_path)]) not in (0, 1)
    assert capsys.readouterr().err.count("\n") == 1
