"""The simulator of networks: closed forms, LogGOPS and noise compared with published numbers, faults and loads."""

from __future__ import annotations

from math import ceil, log2
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from network_tool import LOGGOPS, Tool, predict, query, run


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
    """Queues also count in this comparison."""
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
    # Only if one rank computes it for all, simultaneous messages are served in one order.
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


def test_what_is_too_large_to_be_proved_is_predicted(simulator: Path) -> None:
    """Few operations, but more chunks on all ranks than fit into memory."""
    prediction = predict(simulator, "allreduce", "rabenseifner", "flat:20000", "--bytes", 1 << 20)
    assert prediction["refused"] == "" and prediction["seconds"] > 0
    assert prediction["verdict"]["correct"] is None
    refused = query(
        simulator, "predict", "--collective", "allreduce", "--algorithm", "rabenseifner", "--topology", "flat:20000",
        "--bytes", 1 << 20, "--checked",
    )  # fmt: skip
    assert "too large to check" in refused["refused"]


@pytest.mark.parametrize("network", ["tofu:2x2x2", "torus:5x7", "fattree:4x4/2"])
@pytest.mark.parametrize("algorithm", ["recursive_doubling", "rabenseifner"])
def test_messages_without_bytes_take_as_long_as_those_of_hardly_any(
    simulator: Path, network: str, algorithm: str
) -> None:
    """They keep no link, so there are no events at links."""
    empty, tiny = (
        predict(simulator, "allreduce", algorithm, network, "--bytes", size, "--segments", 1, "--evaluator", "events")
        for size in (0, 0.001)
    )
    assert empty["seconds"] == pytest.approx(tiny["seconds"], rel=1e-6)
    assert empty["events"] < tiny["events"]
    assert empty["breakdown"]["bandwidth"] == 0


def test_allreduce_on_four_interfaces_stays_below_their_bandwidth(simulator: Path) -> None:
    size = 1 << 24
    prediction = predict(simulator, "allreduce", "trinaryx3", "torus:4x4x4", "--bytes", size, "--segments", 200)
    assert prediction["evaluator"] == "events"
    assert prediction["verdict"]["link_disjoint"]
    assert not prediction["verdict"]["contention_free"]
    assert 0.75 * 10e9 < size / prediction["seconds"] < 10e9


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
    """GOAL cannot express that programs are alike: each rank is evaluated by its own program."""
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
