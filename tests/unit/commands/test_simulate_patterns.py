"""Iterations of patterns on every network conserve the bytes sent, equal closed forms, and have the same result from
GOAL.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from firstlight.commands.shared import command_line
from network_tool import predict, query, run

NETWORKS = {
    "flat:8": 8, "torus:2x2x2": 8, "mesh:4x2": 8, "hypercube:3": 8, "fattree:4x2": 8, "tree:2x2x2": 8,
    "dragonfly:2x2x2": 8, "tofu:1x1x1": 12,
}  # fmt: skip
"""Networks of every kind, and how many nodes they have."""
SMALL = {"nicam": "regions=1", "npb_ft": "class=S", "npb_cg": "class=S", "gamess": "basis=60", "hpl": "n=512,nb=16"}
CHEAP = "L=1000,o=500,g=0,G=1,O=0,S=1e12"
"""LogGOPS without queues that matter: a message of m bytes lasts 2 us and m - 1 ns."""


def iteration(simulator: Path, name: str, topology: str, *more: object, given: str = "") -> dict[str, Any]:
    words = ("--parameters", given) if given else ()
    return query(simulator, "pattern", name, "predict", "--topology", topology, *words, *more)


def small(simulator: Path, name: str) -> str:
    known = [p["name"] for p in parameters(simulator, name)]
    return ",".join(one for one in SMALL.get(name, "").split(",") if one.partition("=")[0] in known)


def parameters(simulator: Path, name: str) -> list[dict[str, Any]]:
    lines = map(json.loads, run(simulator, "patterns").stdout.splitlines())
    (found,) = (p["parameters"] for p in lines if p["pattern"] == name)
    return list(found)


def test_every_pattern_on_every_network_sends_what_it_says(simulator: Path) -> None:
    """All 8 processes; bytes that ranks send themselves cross nothing. What groups send depends on the algorithm."""
    for line in run(simulator, "patterns").stdout.splitlines():
        name = json.loads(line)["pattern"]
        given = small(simulator, name)
        words = ("--parameters", given) if given else ()
        shown = query(simulator, "pattern", name, "--processes", 8, *words)
        wanted = sum((p["bytes"] - p["own"]) * p["repetitions"] for p in shown["phases"])
        whole = not any(p["together"] for p in shown["phases"])
        sent = set()
        for topology in NETWORKS:
            found = iteration(simulator, name, topology, "--processes", 8, "--loads", given=given)
            assert found["refused"] == "" and found["seconds"] > 0, (name, topology)
            assert found["verdict"]["deadlock_free"] and found["ranks"] == 8
            assert found["passes"] == found["evaluated"] == max(p["repetitions"] for p in shown["phases"])
            sent.add(found["sent"])
            worst = [size for _, size in found["loads"]["worst"]]
            assert worst == sorted(worst, reverse=True) and worst[:1] == [found["loads"]["most"]][: len(worst)]
        assert len(sent) == 1, name
        assert sent == {wanted} if whole else min(sent) > wanted, name


def test_an_exchange_along_a_cube_takes_its_messages_one_after_the_other(simulator: Path) -> None:
    """The time is log2 P times L + 2 o + (m - 1) G, because no rank waits for another."""
    found = iteration(simulator, "global_sum", "flat:64", "--machine", CHEAP, given="method=cube,n=1000")
    assert found["seconds"] == pytest.approx(6 * (2000 + 7999) * 1e-9, rel=1e-12)
    assert (found["messages"], found["sent"]) == (6 * 64, 6 * 64 * 8000)


def test_neighbours_on_their_own_torus_share_no_link(simulator: Path) -> None:
    """There are as many interfaces as directions: the time is the largest face over its link, whatever other ranks
    send.
    """
    words = ("--machine", "overhead=0,hop=0,bandwidth=1e9,interfaces=6", "--loads")
    found = iteration(simulator, "lans", "mesh:3x3x3", *words)
    shown = query(simulator, "pattern", "lans", "--processes", 27)
    longest = max(p["longest"] for p in shown["phases"])
    assert shown["shape"] == [3, 3, 3]
    assert found["seconds"] == pytest.approx(longest * 1e-9, rel=1e-9)
    assert found["loads"]["most"] == longest


def test_a_phase_of_all_ranks_takes_what_the_collective_takes(simulator: Path) -> None:
    """The same schedule by the same evaluator, for every algorithm, sums included."""
    lines = map(json.loads, run(simulator, "list").stdout.splitlines())
    able = [a["algorithm"] for a in lines if "allreduce" in a["collectives"]]
    compared = 0
    for name in able:
        for topology in ("flat:8", "torus:2x2x2", "torus:8"):
            machine = ("--machine", "reduce=0.5,copy=0.25")
            words = ("--bytes", 49152, "--segments", 1, *machine)
            alone = predict(simulator, "allreduce", name, topology, *words)
            chosen = ("--algorithm", f"allreduce={name}", *machine)
            found = iteration(simulator, "global_sum", topology, *chosen, given="method=library,n=6144")
            if alone["refused"]:
                assert found["refused"] == alone["refused"]
                continue
            assert found["carried"][0]["algorithm"] == name and found["messages"] == alone["messages"]
            assert found["seconds"] == pytest.approx(alone["seconds"], rel=1e-9), (name, topology)
            compared += 1
    assert compared >= 12


def test_of_many_repetitions_the_last_ones_count_for_the_rest(simulator: Path) -> None:
    """A ring of 1024 ranks is too large for one simulation; each of its steps has the same time."""
    found = iteration(simulator, "global_sum", "flat:1024", "--machine", CHEAP, given="method=ring,n=10240")
    assert 2 <= found["evaluated"] < found["passes"] == 2 * 1023
    assert found["seconds"] == pytest.approx(2 * 1023 * (2000 + 79) * 1e-9, rel=1e-9)
    assert (found["messages"], found["sent"]) == (2 * 1023 * 1024, 2 * 1023 * 1024 * 80)
    noisy = ("--noise", "period_us=1000,duration_us=10")
    assert (
        "too large for noise"
        in iteration(simulator, "global_sum", "flat:1024", *noisy, given="method=ring,n=10240")["refused"]
    )


@pytest.mark.parametrize(("name", "topology"), [("npb_cg", "torus:2x4"), ("hpl", "flat:8"), ("rsdft", "tofu:1x1x1")])
def test_what_is_exported_takes_the_same_time(simulator: Path, tmp_path: Path, name: str, topology: str) -> None:
    """Queues included; times in GOAL are whole nanoseconds."""
    file, given = tmp_path / "iteration.goal", small(simulator, name)
    words = ("--topology", topology, *(("--parameters", given) if given else ()))
    run(simulator, "pattern", name, "goal", *words, "--output", file)
    again = query(simulator, "goal", "predict", file, "--topology", topology)
    found = iteration(simulator, name, topology, given=given)
    assert again["seconds"] == pytest.approx(found["seconds"], rel=1e-6)
    assert (again["messages"], again["evaluator"]) == (found["messages"], found["evaluator"])


@pytest.mark.native
def test_from_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["simulate", "pattern", "modylas", "-n", "8", "--topology", "torus:2x2x2", "--scale", "4x2x2"]
    page = tmp_path / "page.html"
    assert command_line.call([*words, "--algorithm", "allreduce=ring", "--output", str(page)]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "an iteration of modylas on 2 networks" in output and "the busiest links on torus:2x2x2: " in output
    assert "by ring" in output and "WRONG" not in output
    assert "an iteration of modylas" in page.read_text()
    file = tmp_path / "ring.goal"
    export = ["--topology", "flat:4", "--bytes", "4KiB", "--goal", "--output", str(file)]
    assert command_line.call(["simulate", "collective", "allreduce", "--algorithm", "ring", *export]) == 0
    assert file.read_text().startswith("num_ranks 4\n")
    assert command_line.call([*words, "--goal", "--output", str(file)]) == 0
    assert file.read_text().startswith("num_ranks 8\n")
    for wrong, why in (
        (["pattern", "lans", "-n", "9", "--topology", "flat:8"], "fewer than 9 processes"),
        (["pattern", "lans", "--topology", "flat:8", "--algorithm", "ring"], "COLLECTIVE=ALGORITHM"),
        (["pattern", "lans", "--topology", "flat:8", "--missing", "3"], "No such option"),
        (["pattern", "none", "--topology", "flat:8"], "no pattern 'none'"),
        (["collective", "allreduce", "--topology", "flat:4", "--goal"], "a file contains one schedule"),
    ):
        assert command_line.call(["simulate", *wrong]) == 2
        assert why in capsys.readouterr().err
