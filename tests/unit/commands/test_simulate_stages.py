"""Iterations as stages: closed forms, simultaneous stages, measured times, and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

import invented
import invented_run
import shipped
from firstlight.analysis.figures import judge
from firstlight.analysis.verdict import Verified
from firstlight.commands.shared import command_line
from firstlight.commands.simulate import stages
from firstlight.core.errors import OK, USAGE, UsageError
from firstlight.core.roles import ITERATION, Role
from network_tool import query, run

pytestmark = pytest.mark.usefixtures("simulator")

CHEAP = "L=1000,o=500,g=0,G=1,O=0,S=1e12"
"""LogGOPS without queues that matter: a message of m bytes lasts 2 us and m - 1 ns."""
SUM = 3 * 2007  # of 8 bytes over 8 ranks, by recursive doubling


def nanoseconds(simulator: Path, text: str, ranks: int = 8, *more: object) -> float:
    found = query(simulator, "stages", "x", "--stages", text, "--topology", f"flat:{ranks}", "--machine", CHEAP, *more)
    assert found["refused"] == "" and found["verdict"]["deadlock_free"] and found["algorithm"] == "x"
    return round(found["seconds"] * 1e9, 3)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("work:700", 700),
        ("sum:8", SUM),
        ("sum:8,work:700", SUM + 700),
        ("work:700,sum:8,sum:8", 700 + 2 * SUM),
        ("sum:8|work:700", SUM),
        ("sum:8|work:70000", 70000),
        ("work:70000|sum:8", 70000),
        ("sum:8|work:700,work:50", SUM + 50),
        ("work:50,sum:8|work:700", 50 + SUM),
        ("work:50|sum:8|work:700,work:1", SUM + 1),
        ("work:70000|sum:8,work:30|work:40", 70070),  # work has one processor
    ],
)
def test_stages_follow_each_other_and_parts_go_on_at_once(simulator: Path, text: str, wanted: int) -> None:
    assert nanoseconds(simulator, text) == wanted


def test_a_single_process_waits_for_nobody(simulator: Path) -> None:
    assert nanoseconds(simulator, "near:100|work:700,sum:8,work:50", 1) == 750


def test_neighbours_of_two_exchange_a_message(simulator: Path) -> None:
    """Each sends and receives one; the ends of a row of three have one neighbour, the middle one has two."""
    assert nanoseconds(simulator, "near:100", 2) == 2099
    assert nanoseconds(simulator, "near:100,work:70", 2) == 2169
    found = query(simulator, "stages", "x", "--stages", "near:100", "--topology", "flat:3", "--machine", CHEAP)
    assert found["messages"] == 4 and found["sent"] == 400


@pytest.mark.parametrize("topology", ["torus:2x2x2", "fattree:4x2", "tofu:1x1x1"])
def test_networks_with_links_take_stages_too(simulator: Path, topology: str) -> None:
    words = ("stages", "x", "--topology", topology, "--processes", 8, "--stages")
    alone, beside = (query(simulator, *words, text)["seconds"] for text in ("sum:8,work:90000", "sum:8|work:90000"))
    assert beside == pytest.approx(9e-5, rel=0.01) and alone > beside + 5e-7


def test_noise_adds_at_most_what_it_takes_in_a_row(simulator: Path) -> None:
    """No process is interrupted more than once in an iteration that is shorter than a period."""
    words = ("stages", "x", "--stages", "sum:8|work:50000,sum:8", "--topology", "flat:64", "--machine", CHEAP)
    noise = query(simulator, *words, "--noise", "period_us=1000,duration_us=100")["noise"]
    quiet = query(simulator, *words)["seconds"]
    assert quiet < noise["median"] and noise["least"] >= quiet and noise["most"] < quiet + 64 * 100e-6


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("sleep:8", "'sleep' is not a stage"),
        ("sum", "should be a number"),
        ("sum:0", "sum:0: a number from 1 to 1e12"),
        ("sum:8,", "should be a number"),
        ("work:5|", "should be a number"),
        ("work:1e13", "a number from 1 to 1e12"),
        (",".join(["work:1"] * 1001), "more than 1000 parts"),
    ],
)
def test_what_is_no_stage_is_refused_in_one_line(simulator: Path, text: str, why: str) -> None:
    done = run(simulator, "stages", "x", "--stages", text, "--topology", "flat:4", status=2)
    assert why in done.stderr and done.stderr.count("\n") == 1


def test_what_is_written_is_read() -> None:
    words = ["classic=near:8|work:5,sum:8", "s step=work:5/4"]
    found = stages.read(words)
    assert [s.written for s in found] == words and [s.iterations for s in found] == [1, 4]
    for bad in (["work:5"], ["=work:5"], ["a=work:5/0"], ["a=b=c"], ["a=work:5", "a=work:6"]):
        with pytest.raises(UsageError):
            stages.read(bad)


def test_work_takes_the_time_that_was_measured_by_its_shares() -> None:
    [one] = stages.read(["a=near:8|work:30,sum:8,work:10/4"])
    assert one.lasting(1e-6).text == "near:8|work:3000,sum:8,work:1000"


def test_what_workloads_declare_is_taken(simulator: Path) -> None:
    declared = [r for w in shipped.workloads().values() for r in w.roles if r.role == ITERATION]
    assert len(declared) > 3
    for role in declared:
        [one] = stages.read([role.stages])
        assert nanoseconds(simulator, one.lasting(1e-5).text, 2) > 9990 * one.iterations  # whole nanoseconds


def test_an_iteration_is_as_fast_as_its_fastest_figure(tmp_path: Path) -> None:
    """This is true for any workload that declares one. For a run without one the error names the command to run."""
    judgement = judge(*invented_run.run(invented.machine(tmp_path, "laptop"), launches=2, names=("latency",)))
    [latency] = [shipped.workloads()["latency"]]
    role = Role(role=ITERATION, metric=latency.roles[0].metric, stages="a=work:3,sum:8,work:1/2")
    [found] = stages.measured(judgement, {"latency": replace(latency, roles=[role])})
    times = [f.estimate.median for f in judgement.figures if isinstance(f, Verified) and f.unit == "ns"]
    works = [float(part.removeprefix("work:")) for part in found.text.split(",") if part.startswith("work")]
    assert sum(works) == pytest.approx(2 * min(times), abs=1) and works[0] == pytest.approx(3 * works[1], abs=2)
    with pytest.raises(UsageError, match=r"measured no iteration whose stages are known; \./fl run cg"):
        stages.measured(judgement, shipped.workloads())


def test_a_sweep_names_where_another_iteration_becomes_the_fastest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    words = ["stages", "waits=work:20000,sum:8,sum:8", "hides=sum:8|work:20000,sum:8,work:16000/1"]
    words += ["--topology", "flat:2", "--scale", "2..4096", "--network", CHEAP]
    assert command_line.call(["simulate", *words, "--json", "--output", str(page)]) == OK
    report = json.loads(capsys.readouterr().out)
    assert [s["algorithm"] for s in report["by_scale"]] == ["waits", "hides"]
    # One sum of log2 P rounds of 2007 ns against 16 us: between 2^7 and 2^8 ranks.
    assert 128 < report["by_scale"][0]["until"] < 512 and "hides" in page.read_text()


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("results/one", "results/one"), ("one", "results/one"), ("results/one/", "results/one"),
        ("./results/one", "results/one"), ("results/one/profile.json", "results/one/profile.json"),
        ("results/of mine", "'results/of mine'"), ("of mine", "'results/of mine'"),
    ],
)  # fmt: skip
def test_of_a_profile_it_names_the_command_that_takes_one(
    typed: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one", "of mine"):
        (tmp_path / "results" / name).mkdir(parents=True)
        (tmp_path / "results" / name / "profile.json").write_text("{}")
    for more in ([], ["--topology", "flat:2"]):
        assert command_line.call(["simulate", "collective", typed, *more]) == USAGE
        assert f"./fl map {shown} --topology torus:32x32 predicts its messages" in capsys.readouterr().err
