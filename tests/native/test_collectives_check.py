"""Proofs of schedules: every algorithm at many sizes, and every small way to spoil one."""

from __future__ import annotations

import json
import subprocess
from math import ceil, log2, prod
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import algorithms
import turns

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def checker() -> Path:
    return algorithms.driver(Path(__file__).with_name("collectives_checker.cpp"))


def query(checker: Path, *words: object) -> str:
    done = subprocess.run([checker, *map(str, words)], capture_output=True, text=True, timeout=turns.PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def verdict(checker: Path, *words: object) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(query(checker, "check", *words))
    return answer


def proved(answer: dict[str, Any]) -> bool:
    return bool(answer["correct"] and answer["deadlock_free"] and answer["race_free"]) and answer["why"] == ""


def test_every_algorithm_is_proved(checker: Path) -> None:
    """The test covers every collective, root and number of segments; the rounds are correct."""
    shapes = ["4x4", "3x5", "2x3x4", "4x4x4", "5x3x7", "1x4x4", "2x2x2x2"]
    answer = query(checker, "sweep", *range(1, 18), 23, 24, 32, 33, 64, *shapes).split()
    assert answer[-2] == "proved" and int(answer[-1]) > 5000


def test_one_rank_stands_for_all(checker: Path) -> None:
    """The proof from one rank has the same result as the proof from all ranks."""
    answer = query(checker, "symmetry", *range(1, 18), 32, "4x4", "3x5", "2x3x4", "4x4x4", "1x4x4").split()
    assert answer[-2] == "agreed" and int(answer[-1]) > 150


def test_every_small_mistake_is_found(checker: Path) -> None:
    """Random runs referee: what is accepted ends right, what is rejected without a race ends wrong."""
    answer = json.loads(query(checker, "mutate", 1, 2, 3, 4, "2x2").splitlines()[-1])
    assert answer["mistakes"] == 0
    kinds = answer["mutations"]
    assert kinds["none"]["caught"] == 0 and kinds["none"]["all"] > 150
    for kind in (
        "another peer",
        "another tag",
        "another root",
        "shift by a chunk",
        "one chunk less",
        "one chunk more",
        "one segment less",
    ):
        assert kinds[kind]["all"] > 80 and kinds[kind]["harmless"] == 0, kind
    for kind in ("drop an operation", "drop a dependency", "repeat a message", "swap what two messages carry"):
        assert kinds[kind]["caught"] > kinds[kind]["all"] / 2, kind
    assert kinds["wait for what precedes everywhere"]["caught"] > 10  # all send before they receive: deadlocks
    assert sum(k["races_seen"] for k in kinds.values()) > 0.8 * sum(k["races"] for k in kinds.values()) > 0


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1 << 30), ranks=st.integers(1, 9))
def test_random_runs_end_right(checker: Path, seed: int, ranks: int) -> None:
    assert query(checker, "run", seed, ranks).split()[0] == "right"


@pytest.mark.parametrize("word", ["twice", "cycle", "lost", "lengths", "rounds"])
def test_a_mistake_is_told_in_words(checker: Path, word: str) -> None:
    messages = {
        "twice": "rank 0, chunk 0 at the end: holds the contribution of rank 1 (its chunk 0) twice",
        "cycle": "deadlock: rank 0, operation 0 (send to rank 1) waits for rank 1, operation 1 (receive from rank 0) "
        "waits for rank 1, operation 0 (send to rank 0) waits for rank 0, operation 1 (receive from rank 1) "
        "waits for the first of these",
        "lengths": "nothing",
        "rounds": "claims rounds that it lacks: round 4 of rank 0",
        "lost": "rank 0 sends 1 message to rank 1 with tag 0, which awaits 0",
    }
    assert query(checker, "example", word).strip() == messages[word]


@pytest.mark.parametrize(("shape", "depth"), [("4x4x4", 10), ("8x6x32", 44), ("48x36x32", 114), ("48x54x32", 132)])
def test_trinaryx3_at_scale(checker: Path, shape: str, depth: int) -> None:
    answer = verdict(checker, "broadcast", "trinaryx3", shape, 0, 8)
    ranks = prod(map(int, shape.split("x")))
    assert proved(answer) and answer["depth"] == depth
    assert answer["messages"] == 3 * (ranks - 1)


@pytest.mark.parametrize(
    ("collective", "algorithm", "ranks", "depth"),
    [
        ("barrier", "dissemination", 82944, 17),
        ("alltoall", "pairwise", 4096, 4095),
        ("alltoall", "bruck", 5000, 13),
        ("allgather", "ring", 20000, 19999),
        ("allgather", "bucket", "48x54x32", 47 + 53 + 31),
    ],
)
def test_symmetry_spares_memory(checker: Path, collective: str, algorithm: str, ranks: object, depth: int) -> None:
    answer = verdict(checker, collective, algorithm, ranks)
    assert proved(answer) and answer["by_symmetry"] and answer["depth"] == depth


@pytest.mark.parametrize("ranks", [2, 3, 12, 16, 31])
def test_depths_are_those_of_the_papers(checker: Path, ranks: int) -> None:
    rounds = ceil(log2(ranks))
    for collective, algorithm, depth in [
        ("barrier", "dissemination", rounds),
        ("allgather", "bruck", rounds),
        ("allgather", "ring", ranks - 1),
        ("allreduce", "ring", 2 * (ranks - 1)),
        ("broadcast", "chain", ranks - 1),
        ("alltoall", "linear", 1),
    ]:
        assert verdict(checker, collective, algorithm, ranks)["depth"] == depth


@pytest.mark.parametrize(
    ("extent", "doubling", "halving"), [(16, 1.060, 0.990), (32, 1.031, 0.998), (64, 1.015, 0.999)]
)
def test_laws_of_distance_doubling_and_halving(checker: Path, extent: int, doubling: float, halving: float) -> None:
    """Sack and Gropp's leading terms for the busiest link of a torus: 5/24 P^(4/3) and 7/6 P blocks."""
    shape, ranks = f"{extent}x{extent}x{extent}", extent**3
    up = float(query(checker, "loads", "allgather", "recursive_doubling", shape, 0))
    down = float(query(checker, "loads", "allgather", "distance_halving", shape, 1))  # after the shuffle
    assert up / (5 / 24 * ranks ** (4 / 3)) == pytest.approx(doubling, abs=0.0006)
    assert down / (7 / 6 * ranks) == pytest.approx(halving, abs=0.0006)


@pytest.mark.parametrize("shape", ["8x8x8", "4x4", "5x5x5"])
@pytest.mark.parametrize("collective", ["allgather", "reduce_scatter"])
def test_all_ports_share_the_load(checker: Path, shape: str, collective: str) -> None:
    """P - 1 blocks over the busiest link with one port, of parts of blocks as many as directions with all."""
    ranks = prod(map(int, shape.split("x")))
    assert float(query(checker, "loads", collective, "bucket", shape, 0)) == ranks - 1
    assert float(query(checker, "loads", collective, "bucket_ported", shape, 0)) == ranks - 1


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("allreduce", "hypercube", 12), "a hypercube needs a power of two; 12 ranks given"),
        (("allgather", "distance_halving", "3x4"), "distance halving needs a power of two; 12 ranks given"),
        (("allgather", "neighbour_exchange", 7), "neighbour exchange needs an even number of ranks; 7 given"),
        (("allreduce", "binomial", 4), "binomial has no allreduce"),
    ],
)
def test_refusals_say_what_is_needed(checker: Path, words: tuple[object, ...], why: str) -> None:
    assert verdict(checker, *words)["refused"] == why
