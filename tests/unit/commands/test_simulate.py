"""`simulate`: sizes, sweeps, questions and answers, the pages; and the native program once for real."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import chart_tree
from firstlight import ROOT
from firstlight.commands.shared import command_line
from firstlight.commands.simulate import page, shapes, sweep
from firstlight.commands.simulate.answer import Simulated
from firstlight.commands.simulate.sweep import Span
from firstlight.core.errors import UsageError
from firstlight.core.naming import collective
from firstlight.execute.network import program
from firstlight.execute.network.prediction import Breakdown, Prediction


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Replace the native program by tests/support/simulator.py, on a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    path = tmp_path / "firstlight-simulate"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} {ROOT / "tests/support/simulator.py"} "$@"\n')
    path.chmod(0o755)
    monkeypatch.setattr(program, "build", lambda: path)
    return path


@pytest.mark.parametrize(
    ("text", "name"),
    [("broadcast", "broadcast"), ("bcast", "broadcast"), ("MPI_Bcast", "broadcast"), ("allgather", "allgather"),
     ("MPI_Reduce_scatter_block", "reduce_scatter"), ("reduce-scatter", "reduce_scatter"), ("Barrier", "barrier")],
)  # fmt: skip
def test_collectives_have_the_names_of_mpi_too(text: str, name: str) -> None:
    assert collective(text) == name


@pytest.mark.parametrize(
    ("text", "near"), [("brodcast", "broadcast"), ("MPI_Bcst", "bcast"), ("scan", "possible names are")]
)
def test_a_collective_that_is_not_there_is_told_with_the_nearest(text: str, near: str) -> None:
    with pytest.raises(UsageError, match=near):
        collective(text)


def test_scales() -> None:
    assert shapes.sweep("torus:2x2", "4x4,8x8") == ["torus:4x4", "torus:8x8"]
    assert shapes.sweep("flat:2", "8..64") == ["flat:8", "flat:16", "flat:32", "flat:64"]
    assert shapes.sweep("tofu:2x1x1", "2x1x1..4x3x1") == ["tofu:2x1x1", "tofu:4x2x1", "tofu:4x3x1"]
    assert shapes.sweep("hypercube:3", "3..5") == ["hypercube:3", "hypercube:4", "hypercube:5"]
    assert shapes.sweep("flat:2", "torus:3x3,4") == ["torus:3x3", "flat:4"]
    for wrong in ("4x4..8", "8..4", "x", "4x0", ""):
        with pytest.raises(UsageError):
            shapes.sweep("torus:2x2", wrong)


def test_cross_overs_are_named_in_words() -> None:
    a = {1024.0: 1.0, 4096.0: 1.0, 65536.0: 4.0}
    b = {1024.0: 2.0, 4096.0: 2.0, 65536.0: 2.0}
    found = sweep.spans({"a": a, "b": b})
    assert [(s.algorithm, s.first, s.last) for s in found] == [("a", 1024.0, 4096.0), ("b", 65536.0, 65536.0)]
    assert found[0].until == pytest.approx(16384)  # the lines cross half way, both axes logarithmic
    assert sweep.crossings(found, "size") == "up to 16 KiB a is the fastest, beyond that b"
    assert sweep.crossings([found[0]], "size") == "a is the fastest at every size"
    three = [Span("a", 1, 2, 3.0), Span("b", 4, 8, 1234.0), Span("c", 2000, 4000, None)]
    assert sweep.crossings(three, "scale") == "up to 3 ranks a is the fastest, then up to 1,200 ranks b, beyond that c"


def test_equal_algorithms_do_not_take_turns() -> None:
    a = {float(x): 1.0 + 0.01 * (x % 2) for x in range(1, 9)}
    b = {float(x): 1.0 + 0.01 * ((x + 1) % 2) for x in range(1, 9)}
    assert len(sweep.spans({"a": a, "b": b})) == 1


def test_of_equal_algorithms_the_one_that_stays_best_begins() -> None:
    a, b = {8.0: 1.0, 1024.0: 3.0, 4096.0: 9.0}, {8.0: 1.01, 1024.0: 2.0, 4096.0: 4.0}
    assert [s.algorithm for s in sweep.spans({"a": a, "b": b})] == ["b"]


def test_a_single_time_is_divided_in_its_sentence() -> None:
    parts = Breakdown(latency=1e-6, bandwidth=3e-6)
    one = Prediction("goal", "other", "t", 4, 8, seconds=4e-6, breakdown=parts)
    assert page._winner([one]) == "goal lasts 4.00 us: bandwidth 75 %, latency 25 %."
    whole = msgspec.structs.replace(one, breakdown=Breakdown(bandwidth=4e-6))
    assert page._winner([whole]) == "goal lasts 4.00 us."


@given(
    st.dictionaries(
        st.sampled_from("abcd"),
        st.dictionaries(st.integers(1, 1 << 20).map(float), st.floats(1e-9, 1e3), min_size=1, max_size=8),
        min_size=1,
    )
)
@example({"a": {1.0: 0.0, 2.0: 2.0}, "b": {1.0: 0.0, 2.0: 1.0}})  # a single node needs 0 s
def test_spans_cover_the_sweep_and_name_a_best_one(some: dict[str, dict[float, float]]) -> None:
    found = sweep.spans(some)
    xs = sorted({x for line in some.values() for x in line})
    assert (found[0].first, found[-1].last, found[-1].until) == (xs[0], xs[-1], None)
    for span, following in pairwise(found):
        assert span.algorithm != following.algorithm
        assert span.until is not None and span.last * (1 - 1e-9) <= span.until <= following.first * (1 + 1e-9)
    for x in xs:
        [own] = [s for s in found if s.first <= x <= s.last]
        best = min(line[x] for line in some.values() if x in line)
        assert some[own.algorithm][x] <= (1 + sweep.TIE) * best


def simulate(*words: str) -> int:
    return command_line.call(["simulate", *words])


@pytest.mark.parametrize(
    ("times", "sentence"),
    [
        ((0.0, 0.0), "chain and ring are equally fast, 0 s."),
        ((1.0, 1.01, 1.015), "chain, ring and star are equally fast, 1.00 s."),
        ((1.0, 1.01, 2.0), "chain and ring are equally fast, 1.00 s."),
        ((0.0, 1.0), "chain is the fastest, 0 s, faster than the next, ring."),
        ((1.0, 2.0), "chain is the fastest, 1.00 s, 2.0 x faster than the next, ring."),
        ((0.0,), "chain lasts 0 s."),
        ((), "None of the algorithms has a prediction."),
    ],
)
def test_a_time_of_0_s_is_a_prediction(times: tuple[float, ...], sentence: str) -> None:
    """A single node exchanges nothing."""
    some = [Prediction(name, seconds=time) for name, time in zip(("chain", "ring", "star"), times, strict=False)]
    assert page._winner(some) == sentence


def test_a_prediction_in_the_terminal(stand_in: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate("collective", "broadcast", "--topology", "torus:4x4x4", "--bytes", "1MiB") == 0
    output = capsys.readouterr().out
    assert output.startswith("firstlight · broadcast of 1 MiB on torus:4x4x4, 64 ranks\n")
    assert "trinaryx3 is the fastest, 170 us, 7.5 x faster than the next, binomial." in output
    assert "- ring: a ring of this algorithm needs 3 ranks" in output
    assert max(map(len, output.splitlines())) <= 80


def test_sweeps_in_the_terminal(stand_in: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "collective",
        "broadcast",
        "--topology",
        "torus:4x4x4",
        "--bytes",
        "1KiB..16MiB",
        "--scale",
        "2x2x2..8x8x8",
    )
    assert simulate(*words) == 0
    output = capsys.readouterr().out
    assert "Up to 76 KiB binomial is the fastest, beyond that trinaryx3 (" in output
    assert "trinaryx3 is the fastest at every scale (16 MiB)." in output
    assert max(map(len, output.splitlines())) <= 80


def test_json_is_the_published_type(stand_in: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate("collective", "broadcast", "--topology", "torus:4x4x4", "--bytes", "1KiB..16MiB", "--json") == 0
    found = msgspec.json.decode(capsys.readouterr().out, type=Simulated)
    assert [s.algorithm for s in found.by_size] == ["binomial", "trinaryx3"]
    assert {p.algorithm for p in found.predictions} == {"binomial", "ring", "trinaryx3"}
    assert all(p.breakdown and p.depth == 6 and p.evaluator == "maxplus" for p in found.predictions if p.usable)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["collective", "brodcast", "--topology", "flat:4"],
            "did you mean broadcast? Possible names are broadcast, reduce",
        ),
        (["collective", "broadcast", "--topology", "flat:4", "--algorithm", "binomail"], "did you mean binomial?"),
        (
            ["collective", "broadcast", "--topology", "flat:4", "--algorithm", "dissemination"],
            "broadcast has no algorithm",
        ),
        (["collective", "broadcast", "--topology", "foo:4"], "there are torus, tofu and flat"),
        (["collective", "broadcast"], "add --topology"),
        (["collective"], "Missing argument"),
        (["brodcast", "--topology", "flat:4"], "no command named 'brodcast'; did you mean collective broadcast?"),
        (["networkz"], "no command named 'networkz'; did you mean networks?"),
        (["collectve", "allreduce"], "no command named 'collectve'; did you mean collective?"),
        (["collective", "broadcast", "--topology", "flat:4", "--bytes", "many"], "'many' is not a size"),
        (["collective", "broadcast", "--topology", "flat:4", "--segments", "x"], "write auto or a number"),
        (["collective", "missing.goal", "--topology", "flat:4"], "no such file"),
        (["collective", __file__, "--bytes", "8"], "one complete schedule; omit --bytes"),
        (["collective", "broadcast", "--goal", "--json"], "omit --json"),
    ],
)
def test_wrong_usage_is_one_line_that_says_what_exists(
    words: list[str], message: str, stand_in: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert simulate(*words) == 2
    output = capsys.readouterr().err
    assert message in output and output.count("\n") == 1


def test_nothing_predicted_is_inconclusive(stand_in: Path) -> None:
    assert simulate("collective", "allgather", "--topology", "flat:4") == 4


def test_a_wrong_schedule_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = {
        "algorithm": "bad",
        "ranks": 4,
        "bytes": 8,
        "seconds": 1e-6,
        "verdict": {"correct": False, "why": "rank 3"},
    }
    listed = {"algorithm": "bad", "title": "", "source": "", "collectives": ["broadcast"]}
    path = tmp_path / "program"
    path.write_text(
        f"#!/bin/sh\nif [ $1 = list ]; then echo '{json.dumps(listed)}'; else echo '{json.dumps(answer)}'; fi\n"
    )
    path.chmod(0o755)
    monkeypatch.setattr(program, "build", lambda: path)
    assert simulate("collective", "broadcast", "--topology", "flat:4", "--bytes", "8") == 1
    assert "WRONG: bad: rank 3." in capsys.readouterr().out


def test_a_program_that_fails_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "program"
    monkeypatch.setattr(program, "build", lambda: path)
    assert simulate("collective", "broadcast", "--topology", "flat:4") == 3
    for body, message in (
        ("kill -9 $$", "signal 9"),
        ("echo oh >&2; exit 7", "status 7: oh"),
        ("echo {", "is invalid"),
    ):
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        assert simulate("collective", "broadcast", "--topology", "flat:4") == 3
        assert message in capsys.readouterr().err


def test_the_page(stand_in: Path, tmp_path: Path) -> None:
    place = tmp_path / "page.html"
    words = ("collective", "broadcast", "--topology", "torus:4x4x4", "--bytes", "1KiB..1MiB", "--scale", "2x2x2,8x8x8")
    assert simulate(*words, "--output", str(place)) == 0
    html = place.read_text()
    assert "Content-Security-Policy" in html and "http-equiv" in html
    for name in ("simulation-size", "simulation-scale", "simulation-parts", "simulation-axes", "simulation-links"):
        assert f'id="{name}"' in html
    assert "Up to 76 KiB binomial is the fastest, beyond that trinaryx3" in html.replace("\u00a0", " ")
    assert len(html) < 1_500_000 and chart_tree.of_page(html)


def test_foreign_words_are_escaped() -> None:
    bad = "<script>alert(1)</script>"
    p = Prediction(bad, "broadcast", bad, 4, 8, seconds=1.0, refused="")
    some = Simulated("1", bad, (bad,), (8,), bad, bad, bad, (p, Prediction("b", topology=bad, bytes=8, refused=bad)))
    assert bad not in page.render(some)


@pytest.mark.parametrize(("value", "short"), [(829, "829"), (12_400, "12.4k"), (45_500_000, "45.5M"), (None, "-")])
def test_counts_are_short(value: float | None, short: str) -> None:
    assert page.short(value) == short


def test_a_schedule_from_a_file(stand_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "some.goal"
    file.write_text("num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n")
    assert simulate("collective", str(file)) == 0
    assert "on flat:2, 2 ranks\n\n  goal lasts 5.00 us.\n" in capsys.readouterr().out


@pytest.mark.usefixtures("simulator")
@pytest.mark.parametrize(("sent", "received"), [(8, 800), (800, 8), (0, 8), (8, 0)])
def test_a_receive_of_another_size_is_reported(
    sent: int, received: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The send's size counts, and decides whether the message waits for its receive (S)."""
    file = tmp_path / "some.goal"
    times = []
    for size in (sent, received):
        file.write_text(
            f"num_ranks 2\nrank 0 {{\nsend {sent}b to 1 tag 7\n}}\nrank 1 {{\nrecv {size}b from 0 tag 7\n}}\n"
        )
        assert simulate("collective", str(file), "--network", "S=100", "--json") == 0
        found = json.loads(capsys.readouterr().out)
        times.append(found["predictions"][0]["seconds"])
    assert times[0] == times[1]
    assert simulate("collective", str(file), "--network", "S=100") == 0
    output = " ".join(capsys.readouterr().out.split())
    first = f"rank 1 receives {received} b where rank 0 sends {sent} b with tag 7"
    assert (
        f"1 message has a different size from the receive; the size of the send counts. The first case is {first}"
        in output
    )


@pytest.mark.usefixtures("simulator")
def test_a_schedule_that_never_ends_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mismatched.goal"
    file.write_text("num_ranks 2\nrank 0 {\nsend 8b to 1 tag 3\n}\nrank 1 {\nrecv 8b from 0 tag 4\n}\n")
    assert simulate("collective", str(file)) == 1
    assert "WRONG: goal: rank 1 does not receive the message that rank 0 sends with tag 3." in " ".join(
        capsys.readouterr().out.split()
    )
    ranks = "".join(f"rank {r} {{\na: send 8b to {1 - r}\nb: recv 8b from {1 - r}\nb requires a\n}}\n" for r in (0, 1))
    file.write_text(f"num_ranks 2\n{ranks}")
    assert simulate("collective", str(file)) == 0
    assert "This schedule ends only because sends need not wait for their receives: rank 0" in " ".join(
        capsys.readouterr().out.split()
    )
    assert simulate("collective", str(file), "--network", "S=0") == 1
    assert "rank 0 waits forever: messages above S = 0 bytes" in " ".join(capsys.readouterr().out.split())


def test_a_sweep_of_barriers_names_the_network_and_nothing_is_less_than_nothing(
    stand_in: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert simulate("collective", "barrier", "--topology", "flat:64", "--scale", "64..1024") == 0
    output = capsys.readouterr().out
    assert "\n  flat:64:\n" in output and "\n  , " not in output
    less = Breakdown(latency=1e-6, bandwidth=2e-9, contention=-2e-9)
    assert page.shares(Prediction("some", breakdown=less)) == ["100%", "0%", "0%", "0%"]


@pytest.mark.full
def test_the_native_program_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Trinaryx3 on a torus of 4 x 4 x 4 has depth 10 and no contention, and beats binomial trees for long messages."""
    place = tmp_path / "page.html"
    words = [
        "collective",
        "broadcast",
        "--topology",
        "torus:4x4x4",
        "--bytes",
        "1KiB,4MiB",
        "--algorithm",
        "trinaryx3,binomial",
    ]
    assert simulate(*words, "--output", str(place), "--json") == 0
    found = msgspec.json.decode(capsys.readouterr().out, type=Simulated)
    long = {p.algorithm: p for p in found.predictions if p.bytes == 4 << 20}
    ours, other = long["trinaryx3"], long["binomial"]
    assert ours.verdict is not None and ours.verdict.contention_free and ours.verdict.correct
    assert ours.depth == 10 and ours.evaluator == "maxplus"
    assert ours.seconds is not None and other.seconds is not None and other.seconds > 3 * ours.seconds
    assert ours.loads is not None and {a.axis for a in ours.loads.axes if a.most} == {"+x", "+y", "+z"}
    assert 'id="simulation-axes"' in place.read_text()


@pytest.mark.native
def test_the_native_program_tells_what_exists(capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate("collective", "broadcast", "--topology", "square:4") == 2
    output = capsys.readouterr().err
    assert "torus:AxB" in output and output.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--topology", "flat:4", "--network", "hdr"], "did you mean hdr200?"),
        (["--topology", "flat:4", "--network", "tofu"], "use a topology with links, such as --topology tofu:24x18x16"),
        (["--topology", "torus:4", "--network", "loggopsim"], "use it with --topology flat:P"),
        (["--topology", "flat:4", "--scale", "torus:4x4", "--network", "loggopsim"], "use it with --topology flat:P"),
    ],
)
def test_a_network_that_says_nothing_of_this_is_refused(
    words: list[str], message: str, stand_in: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert simulate("collective", "barrier", *words) == 2
    output = capsys.readouterr().err
    assert message in output and output.count("\n") == 1


def test_the_first_sentence_has_the_shortest_times_and_a_refusal_its_algorithm_once() -> None:
    made = [
        Prediction(a, "allreduce", "t", 4, size, seconds=s * 1e-6)
        for a, size, s in (("ring", 8, 4.0), ("tree", 8, 2.0), ("ring", 1024, 30.0), ("tree", 1024, 60.0))
    ]
    no = Prediction("torus", topology="t", bytes=8, refused="torus needs the shape of a torus")
    by = tuple(
        sweep.spans(
            {p.algorithm: {q.bytes: q.seconds or 0.0 for q in made if q.algorithm == p.algorithm} for p in made}
        )
    )
    some = Simulated("1", "allreduce", ("t",), (8, 1024), "", "", "", (*made, no), by_size=by)
    first = page.sentences(some)[0]
    assert first.startswith("Up to ") and first.endswith("beyond that ring (2.00 us at 8 B, 30.0 us at 1 KiB).")
    assert page.refused(some.predictions) == [("torus", "needs the shape of a torus")]
