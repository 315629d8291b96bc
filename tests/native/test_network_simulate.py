"""The evaluators against one another and closed forms, LogGOPS and noise against published numbers, GOAL in and out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import ceil, log2
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from network_tool import Tool, build, predict, query, run

LOGGOPS = "L=2500,o=1500,g=1000,G=6,O=0,S=65535"
shared = settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def tool() -> Iterator[Tool]:
    tool = Tool(build())
    yield tool
    tool.end()


# --- closed forms and published numbers


@pytest.mark.parametrize(("ranks", "microseconds"), [(2, 5.5), (1024, 55.0), (82944, 93.5)])
@pytest.mark.parametrize("evaluator", ["auto", "maxplus", "events"])
def test_dissemination_barrier_takes_what_loggopsim_says(
    simulator: Path, ranks: int, microseconds: float, evaluator: str
) -> None:
    prediction = predict(
        simulator, "barrier", "dissemination", f"flat:{ranks}", "--machine", LOGGOPS, "--evaluator", evaluator
    )
    assert prediction["seconds"] == pytest.approx(microseconds * 1e-6, rel=1e-12)
    assert prediction["depth"] == ceil(log2(ranks))


@pytest.mark.parametrize(("torus", "depth"), [("tofu:24x18x16", 132), ("torus:48x36x32", 114), ("torus:4x4x4", 10)])
def test_trinaryx3_takes_its_closed_form(simulator: Path, torus: str, depth: int) -> None:
    size, segments, overhead, bandwidth, hop = 1 << 20, 22, 200e-9, 5e9, 100e-9
    prediction = predict(simulator, "broadcast", "trinaryx3", torus, "--bytes", size, "--segment-bytes", 16384)
    assert (prediction["depth"], prediction["segments"], prediction["evaluator"]) == (depth, segments, "maxplus")
    assert prediction["verdict"]["contention_free"]
    piece = size / (3 * segments)
    assert prediction["seconds"] == pytest.approx(
        (depth + segments - 1) * (overhead + piece / bandwidth) + depth * hop, rel=1e-12
    )
    assert prediction["breakdown"]["contention"] == prediction["breakdown"]["noise"] == 0
    assert prediction["breakdown"]["latency"] == pytest.approx(
        (depth + segments - 1) * overhead + depth * hop, rel=1e-12
    )


@pytest.mark.parametrize("algorithm", ["binomial", "binary_tree", "chain"])
@pytest.mark.parametrize("network", ["flat:64", "torus:4x4", "fattree:4x4/2"])
def test_automatic_segments_are_never_worse_than_none(simulator: Path, network: str, algorithm: str) -> None:
    """Queues have their say, too."""
    for size in (128, 5000, 200_000):
        machine = "L=0,o=250,g=250,rates=8:2.8:0/128:2.8:0/256:1.5:0/65536:0.1:0,overhead=500"
        words = ("broadcast", algorithm, network, "--bytes", size, "--machine", machine)
        chosen, whole = predict(simulator, *words), predict(simulator, *words, "--segments", 1)
        assert chosen["seconds"] <= whole["seconds"] * (1 + 1e-12)


def test_automatic_segments_are_about_as_good_as_any(simulator: Path) -> None:
    def seconds(segments: object) -> float:
        prediction = predict(
            simulator, "broadcast", "trinaryx3", "torus:8x8x8", "--bytes", 1 << 22, "--segments", segments
        )
        return float(prediction["seconds"])

    assert seconds("auto") <= 1.02 * min(seconds(k) for k in (1, 8, 32, 64, 128, 200, 256, 512))


def test_a_paced_alltoall_reaches_the_bisection_bound(simulator: Path) -> None:
    size = 1 << 14
    prediction = predict(simulator, "alltoall", "paced", "torus:8x6x32", "--bytes", size)
    assert prediction["evaluator"] == "events"
    assert 0.9 < 1536 * size * 32 / (8 * 5e9) / prediction["seconds"] <= 1


@pytest.mark.parametrize(("collective", "algorithm"), [("alltoall", "paced"), ("allgather", "four_way")])
@pytest.mark.parametrize("evaluator", ["maxplus", "rounds", "events"])
def test_one_rank_stands_for_all(simulator: Path, collective: str, algorithm: str, evaluator: str) -> None:
    words = ("--bytes", 8192, "--evaluator", evaluator)
    one = predict(simulator, collective, algorithm, "torus:4x3x4", *words)
    all_of_them = predict(simulator, collective, algorithm, "torus:4x3x4", *words, "--every-rank")
    same = ("operations", "messages", "depth")
    assert [one[k] for k in same] == [all_of_them[k] for k in same]
    assert one["verdict"]["max_load"] == all_of_them["verdict"]["max_load"]
    # Messages that reach a link at once are served in an order that only one rank for all keeps the same everywhere.
    assert one["seconds"] == pytest.approx(all_of_them["seconds"], rel=0.02 if evaluator == "events" else 1e-12)


@pytest.mark.parametrize(
    ("collective", "algorithm"),
    [("broadcast", "scatter_allgather"), ("allgather", "ring"), ("allreduce", "ring"), ("reduce_scatter", "ring")],
)
@pytest.mark.parametrize("torus", ["torus:8x4x4", "tofu:1x1x2", "torus:5x3x7"])
def test_rounds_that_are_alike_are_looked_at_once(simulator: Path, collective: str, algorithm: str, torus: str) -> None:
    words = ("--bytes", 100000, "--machine", "reduce=0.1", "--evaluator", "rounds", "--root", 17, "--loads")
    once = predict(simulator, collective, algorithm, torus, *words)
    all_of_them = predict(simulator, collective, algorithm, torus, *words, "--every-rank")
    assert once["verdict"]["correct"]
    assert once["events"] < 20 < all_of_them["events"]
    same = ("operations", "messages")
    assert [once[k] for k in same] == [all_of_them[k] for k in same]
    assert [once["verdict"][k] for k in ("max_load", "links_used")] == [
        all_of_them["verdict"][k] for k in ("max_load", "links_used")
    ]
    assert once["loads"]["most"] == pytest.approx(all_of_them["loads"]["most"], rel=1e-12)
    assert once["seconds"] == pytest.approx(all_of_them["seconds"], rel=1e-12)
    assert once["breakdown"] == pytest.approx(all_of_them["breakdown"], rel=1e-9, abs=1e-15)


def test_a_long_message_on_the_k_computer(simulator: Path) -> None:
    """The rounds of 6.9 thousand million messages are a few kinds."""
    words = ("tofu:24x18x16", "--bytes", 1 << 24, "--unchecked", "--segment-bytes", 1 << 16)
    tree, ring = (predict(simulator, "broadcast", a, *words) for a in ("trinaryx3", "scatter_allgather"))
    assert (ring["evaluator"], ring["messages"]) == ("rounds", 6879044607)
    assert ring["seconds"] > 8 * tree["seconds"]


def test_allreduce_on_four_interfaces_stays_below_their_bandwidth(simulator: Path) -> None:
    size = 1 << 24
    prediction = predict(simulator, "allreduce", "trinaryx3", "torus:4x4x4", "--bytes", size, "--segments", 200)
    assert prediction["evaluator"] == "events"
    assert prediction["verdict"]["link_disjoint"]
    assert not prediction["verdict"]["contention_free"]
    assert 0.75 * 10e9 < size / prediction["seconds"] < 10e9


# --- noise


@pytest.mark.parametrize(("ranks", "low", "high"), [(2, 1.0, 1.0), (4, 1.0, 1.0), (16, 5.0, 7.5), (1024, 7.8, 9.2)])
def test_noise_slows_a_barrier_down_as_published(simulator: Path, ranks: int, low: float, high: float) -> None:
    noise = "period_us=1000,duration_us=100,runs=31"
    prediction = predict(simulator, "barrier", "dissemination", f"flat:{ranks}", "--machine", LOGGOPS, "--noise", noise)
    assert low <= prediction["noise"]["slowdown"] <= high
    assert prediction["noise"]["least"] <= prediction["noise"]["median"] <= prediction["noise"]["most"]
    assert prediction["seconds"] == prediction["noise"]["median"]
    assert sum(prediction["breakdown"].values()) == pytest.approx(prediction["seconds"])


def test_noise_at_once_costs_nothing_and_long_rare_noise_more_than_short_frequent_noise(simulator: Path) -> None:
    def slowdown(noise: str, machine: str = LOGGOPS) -> float:
        words = ("--machine", machine, "--noise", f"{noise},runs=15", "--evaluator", "maxplus")
        return float(predict(simulator, "barrier", "dissemination", "flat:4096", *words)["noise"]["slowdown"])

    assert slowdown("period_us=1000,duration_us=100,phase=same") == 1
    short, long = slowdown("period_us=1000,duration_us=25"), slowdown("period_us=100000,duration_us=2500")
    assert 1.5 < short < 3 < 60 < long
    # The time with noise hardly depends on the latency of the network.
    fast = slowdown("period_us=1000,duration_us=100", LOGGOPS.replace("2500", "250")) * 12 * 3250
    assert fast == pytest.approx(slowdown("period_us=1000,duration_us=100") * 12 * 5500, rel=0.15)


def test_noise_is_seeded(simulator: Path) -> None:
    def noise(seed: int) -> dict[str, float]:
        words = ("--noise", f"period_us=1000,duration_us=100,runs=5,seed={seed}")
        noise: dict[str, float] = predict(simulator, "barrier", "dissemination", "flat:64", *words)["noise"]
        return noise

    assert noise(1) == noise(1) != noise(2)


@pytest.mark.parametrize(
    ("collective", "algorithm", "ranks"),
    [("barrier", "dissemination", 13), ("allreduce", "recursive_doubling", 16), ("allreduce", "ring", 6)],
)
@pytest.mark.parametrize("noise", ["", "period_us=20,duration_us=5,runs=3"])
def test_ranks_of_one_program_take_the_times_of_their_own(
    simulator: Path, tmp_path: Path, collective: str, algorithm: str, ranks: int, noise: str
) -> None:
    """GOAL knows nothing of programs that are alike: there every rank is evaluated by its own."""
    file = tmp_path / "out.goal"
    size = ("--bytes", 4800)
    machine = ("--machine", f"{LOGGOPS},reduce=2", "--evaluator", "maxplus", *(("--noise", noise) if noise else ()))
    task = ("--collective", collective, "--algorithm", algorithm, "--topology", f"flat:{ranks}", "--segments", 1)
    run(simulator, "goal", "export", *task, *size, *machine, "--output", file)
    alike = query(simulator, "predict", *task, *size, *machine, "--every-rank")
    each = query(simulator, "goal", "predict", file, *machine)
    assert (alike["seconds"], alike["noise"]) == (each["seconds"], each["noise"])


@st.composite
def interruptions(draw: st.DrawFn) -> tuple[int, int, int, int, int, int, int]:
    """period, duration, seed, rank, time, work, and how much of the work comes first"""
    period, work = draw(st.integers(2, 1000)), draw(st.integers(1, 3000))
    noise = (period, draw(st.integers(1, period - 1)), draw(st.integers(0, 99)), draw(st.integers(0, 5)))
    return *noise, draw(st.integers(0, 5000)), work, draw(st.integers(1, work))


@given(interruptions())
@example((3, 1, 3, 4, 1, 2, 1))  # done just when the next interruption begins
def test_an_interrupted_processor_goes_on(tool: Tool, case: tuple[int, int, int, int, int, int, int]) -> None:
    period, duration, seed, rank, time, work, part = case

    def done(work: float, time: float) -> float:
        return float(tool("done", period, duration, seed, rank, time, work)["ns"])

    end = done(work, time)
    periods = work / (period - duration)
    assert work <= end - time + 1e-6
    assert end - time <= work + (periods + 2) * duration + 1e-6
    # Work in two parts is done when it would be in one; more work is not done sooner.
    if part < work:
        assert done(work - part, done(part, time)) == pytest.approx(end, abs=1e-6)
    # A whole period of free time takes a whole period.
    assert done(work + period - duration, time) == pytest.approx(end + period, abs=1e-6)


# --- random programs


@st.composite
def programs(draw: st.DrawFn, ranks: int = 8) -> str:
    """GOAL: messages between random ranks, in one order everywhere, so that nobody waits for ever."""
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


# --- GOAL


@shared
@given(programs())
def test_goal_comes_back_as_it_was(tool: Tool, tmp_path: Path, text: str) -> None:
    """What is written, read and written again is the same; what is read first means the same."""
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
    """As in LogGOPSim, time and links depend on the bytes that are sent, whatever a receive names."""
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
        ("num_ranks 0", "1 rank at least"),
        ("num_ranks 99999999999999999999", "line 1: a number of ranks is above"),
        ("num_ranks 11101111\n", "line 1: 11101111 ranks are more than this text has room for"),
        ("num_ranks 2\nrank 2 {\n}", "line 2: there is no rank 2"),
        ("num_ranks 2\nrank 0 {\n}\nrank 0 {\n}", "line 4: rank 0 has a program already"),
        ("num_ranks 2\n/* a\nb */ rank 0 {\nsend 8 to 1\n}", "line 4: expected 'b', found 'to'"),
        ("num_ranks 2\nrank 0 {\nsend 8b to 2\n}", "line 3: there is no rank 2"),
        ("num_ranks 2\nrank 0 {\nl1: calc 5\nl1: calc 6\n}", "line 4: the label l1 is taken"),
        ("num_ranks 2\nrank 0 {\nl1: calc 5\nl1 requires l2\n}", "line 4: there is no label l2 before"),
        ("num_ranks 2\nrank 0 {\na: calc 5\nb: calc 5\na requires b\nb requires a\n}", "in a circle"),
        ("num_ranks 2\nrank 0 {\ncalc 5", "line 2: this rank has no closing bracket"),
        ("num_ranks 2\nrank 0 {\nrecv 8b from -1\n}", "a rank (not any), found '-'"),
        ("num_ranks 2\nrank 0 {\ncalc 5 nic 1\n}", "line 3: expected"),
        ("num_ranks 2 /* no end", "line 1: this comment has no end"),
        ("num_ranks 2\nrank 0 {\nsend 8b to 1\n}", "rank 1 does not receive what rank 0 sends"),
        ("num_ranks 2\nrank 0 {\nrecv 8b from 1\n}", "rank 0 waits for what rank 1 does not send"),
        ("num_ranks 2\nrank 0 {\ncalc 5 6\n}", "line 3: expected the end of the line, found '6'"),
        (
            "num_ranks 2\nrank 0 {\ncalc 5\0\n}",
            "line 3: expected the end of the line, found a byte that no GOAL has (0)",
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
    """Cut off, with bytes changed, with foreign pieces: one line says what is wrong, and of the text in which line."""
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
    assert "seconds" not in waiting and "waits for ever" in waiting["verdict"]["why"]
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


# --- the program


def test_a_refusal_is_an_answer_and_wrong_usage_an_error(simulator: Path) -> None:
    prediction = predict(simulator, "broadcast", "trinaryx3", "flat:8", "--bytes", 100)
    assert "shape" in prediction["refused"]
    assert "seconds" not in prediction
    for words in (["predict"], ["predict", "--collective", "x"], ["nothing"], ["predict", "--what", "1"], ["goal"]):
        done = run(simulator, *words, status=2)
        assert done.stdout == ""
        assert len(done.stderr.splitlines()) == 1


def test_faults_and_loads(simulator: Path) -> None:
    prediction = predict(
        simulator,
        "broadcast",
        "trinaryx3",
        "tofu:2x2x2",
        "--bytes",
        9000,
        "--segments",
        2,
        "--missing",
        "5,17",
        "--loads",
    )
    assert prediction["refused"] == ""
    loads = prediction["loads"]
    assert loads["used"] == sum(count for load, count in loads["histogram"] if load > 0)
    assert loads["links"] == sum(count for _, count in loads["histogram"])
    assert loads["most"] == max(axis["most"] for axis in loads["axes"])
    whole = predict(simulator, "broadcast", "trinaryx3", "torus:4x4x4", "--bytes", 9000, "--segments", 2, "--loads")[
        "loads"
    ]
    assert (whole["used"], whole["most"]) == (189, 3000)
