"""The time of a message follows the rate of its size, and ranks are on a torus without links."""

from __future__ import annotations

from pathlib import Path

import pytest

from network_tool import predict, run


@pytest.mark.parametrize("evaluator", ["maxplus", "events", "rounds"])
@pytest.mark.parametrize("case", [("allreduce", "ring"), ("broadcast", "binomial"), ("alltoall", "bruck")])
def test_one_rate_for_all_sizes_is_g_and_o(simulator: Path, case: tuple[str, str], evaluator: str) -> None:
    words = ("flat:12", "--bytes", 5000, "--evaluator", evaluator, "--machine")
    known, by_size = (
        predict(simulator, *case, *words, machine)
        for machine in ("L=900,o=300,g=400,G=3,O=1", "L=900,o=300,g=400,rates=8:3:1/64:3:1/100000:3:1")
    )
    assert by_size["seconds"] == pytest.approx(known["seconds"], rel=1e-12)


@pytest.mark.parametrize(
    ("size", "body"),
    [(5, 4 * 2.0), (10, 9 * 2.0), (60, (9 * 2.0 + 109 * 6.0) / 2), (110, 109 * 6.0), (200, 199 * 6.0)],
)
def test_between_two_sizes_a_message_takes_what_lies_between(simulator: Path, size: int, body: float) -> None:
    machine = "L=900,o=300,g=400,rates=10:2:0/110:6:0"
    prediction = predict(simulator, "broadcast", "linear", "flat:2", "--bytes", size, "--machine", machine)
    assert prediction["seconds"] == pytest.approx(1e-9 * (900 + 2 * 300 + body), rel=1e-12)
    linked = predict(
        simulator, "broadcast", "linear", "torus:2", "--bytes", size, "--machine", f"{machine},overhead=50,hop=7"
    )
    assert linked["seconds"] == pytest.approx(1e-9 * (50 + 7 + body), rel=1e-12)


@pytest.mark.parametrize("rates", ["8", "8:1", "8:1:2:3", "8:1:x", "64:1:1/8:1:1", "8:1:1//9:1:1", "8:-1:0", ":1:1"])
def test_rates_that_make_no_sense_are_refused(simulator: Path, rates: str) -> None:
    words = ("--collective", "barrier", "--algorithm", "dissemination", "--topology", "flat:2")
    done = run(simulator, "predict", *words, "--machine", f"rates={rates}", status=2)
    assert "'rates' should" in done.stderr and len(done.stderr.splitlines()) == 1


def test_ranks_without_links_may_form_a_torus(simulator: Path) -> None:
    prediction = predict(simulator, "allgather", "four_way", "flat:4x3x2", "--bytes", 100)
    assert (prediction["ranks"], prediction["refused"], prediction["verdict"]["correct"]) == (24, "", True)
    plain, shaped = (predict(simulator, "allgather", "ring", f"flat:{s}", "--bytes", 100) for s in ("24", "4x3x2"))
    assert plain["seconds"] == shaped["seconds"]
