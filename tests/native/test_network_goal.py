"""Random programs in GOAL: the evaluators agree on them, and GOAL is read and written without loss."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from network_tool import LOGGOPS, Tool, predict, query, run

shared = settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def programs(draw: st.DrawFn, ranks: int = 8) -> str:
    """Generate GOAL programs: messages between random ranks, in one global order, so that no rank hangs."""
    count = [0] * ranks
    lines: list[list[str]] = [[] for _ in range(ranks)]
    for tag in range(draw(st.integers(1, 14))):
        source = draw(st.integers(0, ranks - 1))
        target = (source + draw(st.integers(1, ranks - 1))) % ranks
        size = draw(st.integers(1, 5000))
        for rank, what in (
            (source, f"send {size}b to {target} tag {tag}"),
            (target, f"recv {size}b from {source} tag {tag}"),
        ):
            count[rank] += 1
            lines[rank].append(f"l{count[rank]}: {what}")
            if count[rank] > 1 and draw(st.booleans()):
                how = draw(st.sampled_from(["requires", "requires", "irequires"]))
                lines[rank].append(f"l{count[rank]} {how} l{draw(st.integers(1, count[rank] - 1))}")
        if draw(st.integers(0, 3)) == 0:
            count[source] += 1
            lines[source] += [
                f"l{count[source]}: calc {draw(st.integers(0, 3000))}",
                f"l{count[source]} requires l{count[source] - 1}",
            ]
    body = "".join(f"rank {r} {{\n" + "".join(f"{x}\n" for x in lines[r]) + "}\n" for r in range(ranks))
    return f"num_ranks {ranks}\n{body}"


@shared
@given(
    programs(),
    st.sampled_from(["torus:2x2x2", "torus:8", "mesh:4x2", "hypercube:3", "fattree:4x2/2", "dragonfly:2x2x2"]),
)
@example(
    "num_ranks 8\nrank 1 {\nl1: send 1b to 2\nl2: calc 140\nl2 requires l1\nl3: send 1b to 3\nl4: calc 1\n"
    "l4 requires l3\n}\nrank 2 {\nl1: recv 1b from 1\n}\nrank 3 {\nl1: recv 1b from 1\n}\n",
    "torus:2x2x2",
)
def test_events_agree_with_maxplus_where_nothing_queues_and_are_later_elsewhere(
    tool: Tool, tmp_path: Path, text: str, spec: str
) -> None:
    file = tmp_path / "random.goal"
    file.write_text(text)
    machine = "hop=70,overhead=300,bandwidth=2e9,interfaces=3"
    free, queued = (tool("time", file, spec, evaluator, machine) for evaluator in ("maxplus", "events"))
    if free["free"]:
        assert queued["ns"] == pytest.approx(free["ns"], rel=1e-12)
    assert queued["ns"] >= free["ns"] * (1 - 1e-12)


@shared
@given(programs(), st.integers(0, 1))
def test_loggops_events_agree_with_maxplus_where_it_says_so(tool: Tool, tmp_path: Path, text: str, big: int) -> None:
    file = tmp_path / "random.goal"
    file.write_text(text)
    machine = f"L=900,o=300,g=500,G=0.5,O=0,S={65535 if big else 100}"
    free, queued = (tool("time", file, "flat:8", evaluator, machine) for evaluator in ("maxplus", "events"))
    if free["exact"]:
        assert queued["ns"] == pytest.approx(free["ns"], rel=1e-12)


@shared
@given(programs())
def test_goal_comes_back_as_it_was(tool: Tool, tmp_path: Path, text: str) -> None:
    """A schedule that is read, written and read again is the same, and means the same as at first."""
    paths = [tmp_path / f"{k}.goal" for k in range(3)]
    paths[0].write_text(text)
    assert tool("goal", paths[0], paths[1]) == {}
    assert tool("goal", paths[1], paths[2]) == {}
    assert paths[1].read_text() == paths[2].read_text()
    statements = [sorted(p.read_text().replace(" tag 0", "").splitlines()) for p in paths[:2]]
    assert statements[0] == statements[1]
    assert tool("time", paths[0], "flat:8", "events", LOGGOPS) == tool("time", paths[1], "flat:8", "events", LOGGOPS)


@shared
@given(programs(), st.integers(0, 13), st.integers(0, 9000))
def test_a_message_has_the_size_that_is_sent(
    tool: Tool, simulator: Path, tmp_path: Path, text: str, which: int, size: int
) -> None:
    """The time and the links of a message depend on the bytes that are sent, whatever size a receive names, as in
    LogGOPSim.
    """
    right, wrong = tmp_path / "right.goal", tmp_path / "wrong.goal"
    right.write_text(text)
    tag = which % (1 + max(int(t) for t in re.findall(r" tag (\d+)", text)))
    wrong.write_text(re.sub(rf"recv \d+b (from \d+ tag {tag}\n)", rf"recv {size}b \1", text))
    for topology in ("flat:8", "torus:2x2x2"):
        for evaluator in ("events", "maxplus"):
            machine = LOGGOPS if topology == "flat:8" else "hop=70,overhead=300,bandwidth=2e9,interfaces=3"
            words = ("--topology", topology, "--machine", machine, "--evaluator", evaluator, "--loads")
            same, other = (query(simulator, "goal", "predict", file, *words) for file in (right, wrong))
            changed = int(right.read_text() != wrong.read_text())
            assert (same.pop("mismatches"), other.pop("mismatches")) == (0, changed)
            assert (
                same.pop("mismatch") == "" and (f" receives {size} b where rank " in other.pop("mismatch")) == changed
            )
            del same["wall_seconds"], other["wall_seconds"]
            assert same == other


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected 'num_ranks', found the end"),
        ("num_ranks 0", "at least 1 rank"),
        ("num_ranks 99999999999999999999", "line 1: a number of ranks is above"),
        ("num_ranks 11101111\n", "line 1: 11101111 ranks are more than a text of this length can describe"),
        ("num_ranks 2\nrank 2 {\n}", "line 2: there is no rank 2"),
        ("num_ranks 2\nrank 0 {\n}\nrank 0 {\n}", "line 4: rank 0 already has a program"),
        ("num_ranks 2\n/* a\nb */ rank 0 {\nsend 8 to 1\n}", "line 4: expected 'b', found 'to'"),
        ("num_ranks 2\nrank 0 {\nsend 8b to 2\n}", "line 3: there is no rank 2"),
        ("num_ranks 2\nrank 0 {\nl1: calc 5\nl1: calc 6\n}", "line 4: the label l1 is taken"),
        ("num_ranks 2\nrank 0 {\nl1: calc 5\nl1 requires l2\n}", "line 4: there is no label l2 before"),
        ("num_ranks 2\nrank 0 {\na: calc 5\nb: calc 5\na requires b\nb requires a\n}", "in a cycle"),
        ("num_ranks 2\nrank 0 {\ncalc 5", "line 2: this rank has no closing bracket"),
        ("num_ranks 2\nrank 0 {\nrecv 8b from -1\n}", "a rank (not any), found '-'"),
        ("num_ranks 2\nrank 0 {\ncalc 5 nic 1\n}", "line 3: expected"),
        ("num_ranks 2 /* no end", "line 1: this comment has no end"),
        ("num_ranks 2\nrank 0 {\nsend 8b to 1\n}", "rank 1 does not receive the message that rank 0 sends"),
        ("num_ranks 2\nrank 0 {\nrecv 8b from 1\n}", "rank 0 waits for a message that rank 1 does not send"),
        ("num_ranks 2\nrank 0 {\ncalc 5 6\n}", "line 3: expected the end of the line, found '6'"),
        (
            "num_ranks 2\nrank 0 {\ncalc 5\0\n}",
            "line 3: expected the end of the line, found a byte that GOAL does not allow (0)",
        ),
        (
            "num_ranks 2\nrank 0 {\nsend 9007199254740993b to 1\n}",
            "line 3: a number of bytes is above 9007199254740992",
        ),
        ("num_ranks 2\nrank 0 {\nsend 8b to 1 tag 2147483648\n}", "line 3: a tag (not any) is above 2147483647"),
        ("num_ranks 2\nrank 0 {\nsend 8b to 1 cpu 256\n}", "line 3: a processor is above 255"),
        ("num_ranks 2\nrank 0 {\nl1 wants l2\n}", "line 3: expected ':', 'requires' or 'irequires', found 'wants'"),
        ("num_ranks 2\nrank 0 {\nl1: wait 5\n}", "line 3: expected 'send', 'recv' or 'calc', found 'wait'"),
        ("num_ranks 2\nrank 0 {\nl1: calc 1\nl1 requires\n}", "line 4: expected a label, found the end of the line"),
        ("num_ranks 2\nrank 0 {\nl4000000: calc 1\nl4000000: calc 1\n}", "line 4: the label l4000000 is taken"),
        (
            "num_ranks 2\nrank 0 {\nl1: calc 1\n}\nrank 1 {\nl2: calc 1\nl2 requires l1\n}",
            "line 7: there is no label l1",
        ),
    ],
)
def test_bad_goal_is_refused_with_its_line(tool: Tool, tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "bad.goal"
    file.write_text(text)
    assert message in tool("goal", file, tmp_path / "out.goal")["refused"]


@shared
@given(programs(), st.data())
def test_no_text_whatever_does_more_than_be_refused(tool: Tool, tmp_path: Path, text: str, data: st.DataObject) -> None:
    """Truncated input, changed bytes and foreign pieces produce one line with the error and its line number."""
    file = tmp_path / "hostile.goal"
    raw = bytearray(text.encode())
    pieces = [b"99999999999999999999", b"/*", b"*/", b"//", b"{", b"}", b"\n", b"\0", b"\xff", b"l1 requires l1"]
    pieces += [b"rank 7 {", b"l999999999: ", b"l0", b"-", b":", b" tag 4294967296", b" cpu 255", b" nic 9"]
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw)))
        kind = data.draw(st.sampled_from(["cut", "byte", "piece", "drop", "repeat"]))
        length = data.draw(st.integers(0, 40))
        if kind == "cut":
            del raw[at:]
        elif kind == "byte" and at < len(raw):
            raw[at] = data.draw(st.integers(0, 255))
        elif kind == "piece":
            raw[at:at] = data.draw(st.sampled_from(pieces))
        elif kind == "drop":
            del raw[at : at + length]
        else:
            raw[at:at] = raw[at : at + length]
    file.write_bytes(bytes(raw))
    answer = tool("goal", file, tmp_path / "out.goal")
    if answer:
        line, _, _ = answer["refused"].partition(":")
        assert "\n" not in answer["refused"]
        located = line.startswith("line ") and 1 <= int(line[5:]) <= raw.count(b"\n") + 1
        assert located or line.startswith(("rank ", "operations wait"))


@shared
@given(programs(), st.data())
def test_order_labels_and_blanks_of_a_text_mean_nothing(
    tool: Tool, tmp_path: Path, text: str, data: st.DataObject
) -> None:
    """Ranks in any order, names of any kind, comments and blanks anywhere: the same program."""
    plain, odd, first, second = (tmp_path / f"{name}.goal" for name in ("plain", "odd", "first", "second"))
    plain.write_text(text)
    head, *bodies = text.replace("rank ", "\0rank ").split("\0")
    bodies = data.draw(st.permutations(bodies))
    style = data.draw(st.sampled_from(["l{}", "op_{}", "l0{}", "L{}x", "l{}000000", "l{}00"]))
    blank = data.draw(st.sampled_from([" ", "\t", "  ", " /* , } */ ", "\r "]))
    end = data.draw(st.sampled_from(["\n", "\n\n", " // }\n", "\r\n"]))
    named = re.sub(r"\bl(\d+)\b", lambda m: style.format(m[1]), "".join(bodies))
    odd.write_text((head + named).replace(" ", blank).replace("\n", end), newline="")
    assert tool("goal", plain, first) == tool("goal", odd, second) == {}
    assert first.read_text() == second.read_text()


def test_a_schedule_that_needs_room_for_messages_is_told(simulator: Path, tmp_path: Path) -> None:
    """Both send before they post their receives: it ends only as far as sends need not wait for these."""
    file = tmp_path / "unsafe.goal"
    ranks = "".join(
        f"rank {r} {{\nl1: send 100000b to {1 - r}\nl2: recv 100000b from {1 - r}\nl2 requires l1\n}}\n" for r in (0, 1)
    )
    file.write_text(f"num_ranks 2\n{ranks}")
    buffered = query(simulator, "goal", "predict", file, "--machine", "S=200000")
    assert buffered["seconds"] > 0
    assert buffered["verdict"]["correct"] and not buffered["verdict"]["deadlock_free"]
    assert "posts its receive only later" in buffered["verdict"]["why"]
    waiting = query(simulator, "goal", "predict", file, "--machine", "S=1000")
    assert "seconds" not in waiting and "waits forever" in waiting["verdict"]["why"]
    twice = file.read_text().replace("l2 requires l1", "l2 irequires l1\nl2 irequires l1")
    file.write_text(twice)
    assert query(simulator, "goal", "predict", file, "--machine", "S=1000")["verdict"]["deadlock_free"]


@shared
@given(programs())
def test_stuck_without_room_is_what_events_find_without_room(simulator: Path, tmp_path: Path, text: str) -> None:
    """The proof that a schedule ends although no send is complete before its receive, against events with S = 0."""
    file = tmp_path / "some.goal"
    file.write_text(text)
    answer = query(simulator, "goal", "predict", file)
    if answer["verdict"]["deadlock_free"]:
        assert query(simulator, "goal", "predict", file, "--machine", "S=0", "--evaluator", "events")["seconds"] > 0
    else:
        never = query(simulator, "goal", "predict", file, "--machine", "S=0", "--evaluator", "events")
        assert "seconds" not in never and not never["verdict"]["deadlock_free"]


def test_what_is_required_may_come_later_and_comments_say_nothing(tool: Tool, tmp_path: Path) -> None:
    file, out = tmp_path / "in.goal", tmp_path / "out.goal"
    file.write_text(
        "// a ping\nnum_ranks 2\nrank 0 {\nb: send 8b to 1 tag 3 cpu 1 nic 2\na: calc 100 /* first */\n"
        "b irequires a\n}\nrank 1 { recv 8b from 0 tag 3\n}\n"
    )
    assert tool("goal", file, out) == {}
    assert out.read_text() == (
        "num_ranks 2\nrank 0 {\nl1: calc 100\nl2: send 8b to 1 tag 3 cpu 1 nic 2\nl2 irequires l1\n}\n"
        "rank 1 {\nl1: recv 8b from 0 tag 3\n}\n"
    )


@pytest.mark.parametrize(
    ("collective", "algorithm"), [("broadcast", "scatter_allgather"), ("reduce", "binomial"), ("allreduce", "ring")]
)
def test_an_exported_schedule_takes_the_time_of_the_schedule(
    simulator: Path, tmp_path: Path, collective: str, algorithm: str
) -> None:
    file = tmp_path / "out.goal"
    words = ("--machine", f"{LOGGOPS},reduce=2,copy=1", "--evaluator", "events")
    task = ("--collective", collective, "--algorithm", algorithm, "--topology", "flat:12")
    sizes = ("--bytes", 3600, "--segments", 3)
    run(simulator, "goal", "export", *task, *sizes, *words, "--output", file)
    if collective != "broadcast":
        assert " calc " in file.read_text()
    answer = query(simulator, "goal", "predict", file, *words)
    assert answer["verdict"]["deadlock_free"]
    direct = predict(simulator, collective, algorithm, "flat:12", *sizes, *words, "--every-rank")
    assert (answer["ranks"], answer["messages"]) == (12, direct["messages"])
    assert answer["seconds"] == pytest.approx(direct["seconds"], rel=1e-12)
