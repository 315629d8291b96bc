"""Rank maps in Python: what is mapped, slots of real machines, files of launchers, trials."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.commands.map import formats, slots, source, trying
from firstlight.commands.map.answer import Answer, Mapped, Side
from firstlight.commands.map.page import _loads, _matrix, notes, render, sentences, summary
from firstlight.commands.map.runner import MappingRequest, compared
from firstlight.commands.map.slots import Slot, Slots
from firstlight.core.errors import UsageError
from firstlight.model.plan import Placement
from firstlight.results.traffic import Kind, Pair, Phase, Traffic
from firstlight.system import mpi_families
from firstlight.system.machine import Cache, Machine
from firstlight.system.machine.allocation import Allocation
from firstlight.toolchain import Mpi
from killed import leaves_nothing_when_killed
from message_figures import WORKLOADS, iteration, judgement
from synthetic_machine import machine as synthetic

FORMATS = formats.every()
AXES = (4, 3, 2)


@st.composite
def maps(draw: st.DrawFn) -> list[Slot]:
    """Return a different slot for each rank, with named nodes or without."""
    named = draw(st.booleans())
    slots = draw(st.permutations(range(24 * 2)))[: draw(st.integers(1, 48))]
    return [Slot(s // 2, s % 2, f"node{s // 2:02}" if named else None) for s in slots]


@given(slots=maps())
def test_a_rankfile_says_each_seat(slots: list[Slot]) -> None:
    parsed = FORMATS["rankfile"].parse(FORMATS["rankfile"].text(slots, AXES))
    assert parsed == [(s.host or f"+n{s.node}", s.place) for s in slots]


@given(slots=maps())
def test_a_host_file_says_each_node(slots: list[Slot]) -> None:
    try:
        text = FORMATS["hosts"].text(slots, AXES)
    except formats.UnwritableError:
        assert slots[0].host is None or len({s.host for s in slots}) == 1
        return
    assert FORMATS["hosts"].parse(text) == [(s.host,) for s in slots]


@given(order=st.permutations(range(12)), per_node=st.sampled_from([1, 2, 3, 4]))
def test_an_order_of_ranks_fills_the_nodes(order: list[int], per_node: int) -> None:
    slots = [Slot(slot // per_node, slot % per_node) for slot in order]
    parsed = FORMATS["reorder"].parse(FORMATS["reorder"].text(slots, AXES))
    assert [order[int(str(rank[0]))] for rank in parsed] == list(range(12))


def test_an_order_of_ranks_cannot_leave_room() -> None:
    with pytest.raises(formats.UnwritableError, match="this map leaves gaps"):
        FORMATS["reorder"].text([Slot(0, 0), Slot(2, 0)], AXES)
    assert FORMATS["reorder"].parse("# two nodes\n2-3\n0,1\n") == [(2,), (3,), (0,), (1,)]


@given(slots=maps())
def test_coordinates_say_each_node(slots: list[Slot]) -> None:
    parsed = FORMATS["coordinates"].parse(FORMATS["coordinates"].text(slots, AXES))
    numbers = [[int(str(c)) for c in at] for at in parsed]
    assert [x + 4 * (y + 3 * z) for x, y, z in numbers] == [s.node for s in slots]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rankfile", "rank 0=a slot=0\nrank 0=b slot=1\n"), ("rankfile", "rank 1=a slot=0\n"), ("rankfile", "0 1\n"),
        ("rankfile", "rank 0=a slot=0\nrank 2=a slot=1\n"), ("rankfile", "rank 0=a slot=0\nrank 1=a slot=0\n"),
        ("reorder", "0,2\n"), ("reorder", "0-2,1\n"),
        ("hosts", ""), ("hosts", "a b\n"), ("reorder", "0,0\n"), ("reorder", "a\n"), ("coordinates", "1,2,3\n"),
    ],
)  # fmt: skip
def test_what_is_no_such_file_is_refused(name: str, text: str) -> None:
    with pytest.raises(ValueError):
        FORMATS[name].parse(text)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_each_format_tells_its_use(name: str) -> None:
    form = FORMATS[name]
    assert form.FILE in form.use(f"somewhere/{form.FILE}", 4)


def test_families_name_formats_that_are_there() -> None:
    assert {f.ranking for f in mpi_families.every()} - {""} <= set(FORMATS)


# --- slots of real machines


def machine(cores: int, numa: list[range], caches: list[range], sockets: int) -> Machine:
    return msgspec.structs.replace(
        synthetic(),
        cpus=tuple(range(cores)),
        siblings=tuple((c,) for c in range(cores)),
        numa=tuple(map(tuple, numa)),
        caches=tuple(Cache(3, "unified", 1 << 20, 64, tuple(c)) for c in caches),
        sockets=sockets,
    )


FOURS = [range(k, k + 4) for k in range(0, 16, 4)]


@pytest.mark.parametrize(
    ("of", "levels"),
    [
        (machine(2, [range(2)], [range(2)], 1), [2]),
        (machine(1, [range(1)], [range(1)], 1), [1]),
        (machine(16, [range(8), range(8, 16)], FOURS, 2), [4, 2, 2]),
        (machine(16, FOURS, FOURS, 2), [4, 2, 2]),
        (machine(6, [range(2), range(2, 6)], [range(2), range(2, 6)], 2), [6]),
    ],
)  # fmt: skip
def test_levels_of_a_node(of: Machine, levels: list[int]) -> None:
    found, cpus = slots.levels_of(of)
    assert found == levels
    assert sorted(cpus) == sorted(of.cpus)


def test_cores_behind_one_cache_come_together() -> None:
    odd = machine(4, [range(0, 4, 2), range(1, 4, 2)], [range(0, 4, 2), range(1, 4, 2)], 2)
    assert slots.levels_of(odd) == ([2, 2], [0, 2, 1, 3])


def test_an_allocation_of_several_nodes_keeps_their_names() -> None:
    given = slots.here(machine(4, [range(4)], [range(4)], 1), Allocation("slurm", 3, hosts=("a", "b", "c")), None)
    assert (given.topology, given.per_node, given.inside) == ("tree:3", 4, "tree:4")
    assert [s.host for s in slots.of_ranks((0, 5, 11), given)] == ["a", "b", "c"]
    with pytest.raises(UsageError, match="this node has 4 cores, fewer than --ranks-per-node 5"):
        slots.here(machine(4, [range(4)], [range(4)], 1), Allocation(), 5)


# --- what is mapped


def traffic(phases: tuple[Phase, ...]) -> Traffic:
    return Traffic("p", "0", ("a",), 0, "MPI", 3, (), phases)


TWO = (
    Phase(1, 1.0, (Kind("MPI_Bcast", "collective", 1, 30, 0.1),), (Pair(0, 1, 2, 10),)),
    Phase(2, 1.0, (), (Pair(0, 1, 1, 5), Pair(2, 0, 1, 7))),
)


def test_a_profile_becomes_a_pattern() -> None:
    assert source.of_profile(traffic(TWO), True).text == "ranks 3\nphase 1\n0 1 10\nphase 2\n0 1 5\n2 0 7\n"
    one = source.of_profile(traffic(TWO), False)
    assert one.text == "ranks 3\nphase all phases\n0 1 15\n2 0 7\n"
    assert "collective operations (58 %" in one.notes[0]
    with pytest.raises(UsageError, match="no map can help"):
        source.of_profile(traffic(()), True)


def test_profiles_are_found(tmp_path: Path) -> None:
    folder = tmp_path / "20261123-profile"
    folder.mkdir()
    (folder / "profile.json").write_bytes(msgspec.json.encode(traffic(TWO)))
    for what in ("latest", folder.name, str(folder), str(folder / "profile.json")):
        assert source.find(what, tmp_path, None, "", True).text.startswith("ranks 3")
    (tmp_path / "text").write_text("ranks 2\nphase a\n0 1 1\nphase b\n1 0 1\n")
    assert source.find(str(tmp_path / "text"), tmp_path, None, "", False).text.count("phase") == 2
    assert source.find("npb_cg", tmp_path, 16, "class=B", True).words[:2] == ("--named", "npb_cg")


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("npb_cg", "npb_cg: the number of processes is missing"),
        ("no/where", "no such profile"),
        ("latest", "no profile in"),
        (".", "no communication matrix"),
    ],
)
def test_what_is_no_source_is_said(tmp_path: Path, what: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=message):
        source.find(what, tmp_path / "results", None, "", False)


@pytest.mark.parametrize("content", [b"{}", b"{\xff", b"hello", b"ranks \xff"])
def test_damaged_files_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(UsageError):
        source.find(str(tmp_path / "file"), tmp_path, None, "", False)


# --- trials


def mpi(family: str) -> Mpi:
    return Mpi(family, family, family, "1", "system", "mpicxx", None, (), "mpiexec", {})


def test_a_trial_changes_the_launcher_s_options_only() -> None:
    slots = [Slot(0, 1, None, 3), Slot(0, 0, None, 2)]
    words = ["env", "A=1", "mpiexec", "-n", "2", "./p"]
    assert trying.mapped(words, mpi("openmpi"), Path("/r"), slots) == [
        "env", "A=1", "mpiexec", "--rankfile", "/r", "-n", "2", "./p",
    ]  # fmt: skip
    bound = trying.mapped(words, mpi("mpich"), None, slots)
    assert bound[3:5] == ["-bind-to", "user:3,2"]
    with pytest.raises(UsageError, match="launcher"):
        trying.mapped(["./p"], mpi("openmpi"), Path("/r"), slots)
    with pytest.raises(UsageError, match="several"):
        trying.mapped(words, mpi("mpich"), Path("/r"), [Slot(0, 0), Slot(1, 0)])


def test_a_trial_is_judged_launch_by_launch() -> None:
    """The second command sleeps 20 times as long as the first: that is slower wherever it is measured."""
    quick, slow = ["sleep", "0.02"], ["sleep", "0.4"]
    found = trying.trial(quick, slow, mpi("openmpi"), 6)
    assert found.outcome == "worse"
    assert len(found.without) == len(found.mapped) == 6
    with pytest.raises(UsageError, match="ended with status 1"):
        trying.trial(["false"], quick, mpi("openmpi"), 6)


LAUNCHER = """#!/bin/sh
# mpiexec --rankfile FILE ...: as slow as ranks 0 and 2 are far apart
[ "$1" = --rankfile ] || exit 9
one=$(sed -n "s/rank 0=\\(.*\\) slot.*/\\1/p" "$2")
other=$(sed -n "s/rank 2=\\(.*\\) slot.*/\\1/p" "$2")
[ "$one" = "$other" ] || sleep {far}
sleep 0.02
"""


def answer(places: tuple[int, ...]) -> Answer:
    side = Side("test", 1, 1, (1,), 1, 0, (1,), (), 1, (), 1.0)
    return Answer(
        ranks=4, nodes=2, per_node=2, links=4, bytes=1, proved=False, in_time=True, starts=1, interrupted=False,
        names=("all",), left_out=(), before=side, after=side, axes=(), places=places, identity=(0, 1, 2, 3),
        map=tuple((s // 2, s % 2) for s in places),
    )  # fmt: skip


def tried(folder: Path, far: float) -> str:
    """Return a launcher that waits if ranks 0 and 2 are on two nodes, and a map that places them on one."""
    launcher = folder / "mpiexec"
    launcher.write_text(LAUNCHER.format(far=far))
    launcher.chmod(0o755)
    request = MappingRequest(
        source.Source("test"), Slots("tree:2", per_node=2), "", 1.0, (), folder / "made", (str(launcher), "-n", "4"),
        mpi("openmpi"), 6,
    )  # fmt: skip
    return compared(request, answer((0, 2, 1, 3)), mpi("openmpi")).outcome


def test_a_gain_that_is_there_is_confirmed(tmp_path: Path) -> None:
    assert tried(tmp_path, 0.4) == "better"
    made = tmp_path / "made"
    assert (made / "as-it-is" / "rankfile").read_text() == "".join(
        f"rank {r}=+n{r // 2} slot={r % 2}\n" for r in range(4)
    )
    assert "rank 2=+n0 slot=1" in (made / "rankfile").read_text()


def test_a_gain_that_is_not_there_is_not_recommended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both sides take the same time, by a clock that only the launcher moves."""
    monkeypatch.setattr(trying, "_once", lambda words, environment: 0.25)
    found = tried(tmp_path, 0.4)
    assert found != "better"


def test_a_search_that_its_time_ended_says_how_much_it_had_and_what_gives_it_more() -> None:
    ended = msgspec.structs.replace(answer((0, 1, 2, 3)), in_time=False)
    made = Mapped("0", "test", "tree:2", "", ended, (), budget=45.0)
    (note,) = notes(made)
    assert "the budget of 45.0 s " in note
    assert "--budget 90s" in note
    assert not notes(msgspec.structs.replace(made, answer=answer((0, 1, 2, 3))))


def test_a_map_with_less_on_its_links_that_was_not_taken_is_told() -> None:
    slower = msgspec.structs.replace(answer((0, 1, 2, 3)), least=3 << 20)
    (note,) = notes(Mapped("0", "test", "tree:2", "", slower, ()))
    assert note.startswith("another map has a smaller load on the busiest links, 3 MiB")
    assert note.endswith("--by links selects that map")


def phases(*most: int) -> Side:
    return msgspec.structs.replace(answer(()).before, phases=most, maxima=sum(most))


def test_a_page_ends_where_nothing_is_to_gain_and_draws_no_single_phase() -> None:
    loads = {"most": 3 << 20, "maxima": 2 * answer(()).after.maxima}
    gain = msgspec.structs.replace(answer((0, 2, 1, 3)), before=msgspec.structs.replace(answer(()).before, **loads))
    some = render(Mapped("0", "test", "tree:2", "", gain, ()))
    assert some.count("<figure") == 4 and "map-phases" not in some and ">2 MiB<" in some
    two = msgspec.structs.replace(gain, names=("all", "halo"), before=phases(2, 4), after=phases(1, 2))
    assert "halo has the largest load" in render(Mapped("0", "test", "tree:2", "", two, ()))
    proved = render(Mapped("0", "test", "tree:2", "", msgspec.structs.replace(gain, proved=True), ()))
    assert "<figure" not in proved and "Keep the default order" in proved
    none = Mapped("0", "test", "tree:2", "", msgspec.structs.replace(gain, before=gain.after), ())
    assert "<figure" not in render(none) and "o map is recommended" in render(none)
    assert "busiest links  " not in summary(none, None) and "busiest links  " in summary(
        msgspec.structs.replace(none, answer=gain), None
    )


def test_a_gain_is_one_sentence_with_both_times_and_numbers_of_links_begin_at_zero() -> None:
    loads = {"most": 3 << 20, "maxima": 2 * answer(()).after.maxima, "seconds": 4e-5}
    sides = [
        msgspec.structs.replace(answer(()).before, **loads | {"maxima": loads["maxima"] // k, "seconds": 4e-5 / k})
        for k in (1, 2)
    ]
    gain = Mapped(
        "0", "test", "tree:2", "", msgspec.structs.replace(answer((0, 2, 1, 3)), before=sides[0], after=sides[1]), ()
    )
    first, *others = sentences(gain)
    assert first.startswith(
        "Messages are predicted to last 20.0 us with this map instead of 40.0 us (2.00 times faster)"
    )
    assert not any("20.0 us" in text for text in others)
    few, many = (
        _loads(
            msgspec.structs.replace(
                gain,
                answer=msgspec.structs.replace(gain.answer, before=msgspec.structs.replace(sides[0], spread=(n, 4))),
            )
        )
        for n in (8, 5000)
    )
    assert (
        few.layout["yaxis"] == {"title": {"text": "links"}, "rangemode": "tozero"}
        and many.layout["yaxis"]["type"] == "log"
    )


def test_nearly_equal_amounts_have_one_colour_of_a_map() -> None:
    for other, alike in ((101, True), (100_000, False)):
        one = msgspec.structs.replace(answer(()).before, matrix=((0, 1, 100), (1, 0, other)))
        (heat,) = _matrix("m", "", one, "rank").data
        low, high = heat["z"][0][1], heat["z"][1][0]
        assert ((high - low) / (heat["zmax"] - heat["zmin"]) < 0.05) == alike


def test_seats_of_one_node_are_its_cores() -> None:
    given = Slots("tree:2x2", hosts=("localhost",), cpus=(0, 2, 1, 3), one=True)
    found: list[Any] = [(s.node, s.place, s.cpu) for s in slots.of_ranks((3, 0), given)]
    assert found == [(0, 3, 3), (0, 0, 0)]


def test_what_a_run_measured_is_what_is_mapped() -> None:
    four = Placement(1, 4, 1)
    one = judgement([iteration("npb_cg", 9.0), iteration("lans", 9.0, place=four, sizes="usual")])
    assert source.of_run(one, WORKLOADS, 2, True).words == ("--named", "npb_cg", "--processes", "2", "--small")
    assert source.of_run(one, WORKLOADS, 4, False).words == ("--named", "lans", "--processes", "4", "--whole")
    for processes, message in (
        (None, "lans among 4, npb_cg among 2.*map lans --processes 4"),
        (8, "communication pattern among 8"),
    ):
        with pytest.raises(UsageError, match=message):
            source.of_run(one, WORKLOADS, processes, True)


def test_kill_of_firstlight_leaves_no_child(tmp_path: Path) -> None:
    leaves_nothing_when_killed(tmp_path, "from firstlight.commands.map import program; program.ask(Path(fake), [])")
