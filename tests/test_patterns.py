"""Patterns of communication: every send has its receive, and who talks to whom is what the applications do."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from network_tool import ask, run

PROCESSES = (1, 2, 3, 4, 6, 8, 12, 16, 64, 250)


def patterns(simulator: Path) -> dict[str, Any]:
    lines = run(simulator, "patterns").stdout.splitlines()
    return {p["pattern"]: p for p in map(json.loads, lines)}


def pairs(simulator: Path, name: str, processes: int, *given: str) -> dict[str, list[tuple[int, int, int, int]]]:
    """Of each phase, in one repetition: (from, to, messages, bytes)."""
    words = ("--parameters", ",".join(given)) if given else ()
    lines = run(simulator, "pattern", name, "pairs", "--processes", processes, *words).stdout.splitlines()
    return {p["name"]: [(a, b, n, size) for a, b, n, size in p["pairs"]] for p in map(json.loads, lines)}


def test_every_send_has_its_receive(simulator: Path) -> None:
    for name in patterns(simulator):
        able = 0
        for processes in PROCESSES:
            done = run(simulator, "pattern", name, "check", "--processes", processes, status=None)
            if done.returncode == 2:
                assert f"; {processes} processes given" in done.stderr, f"{name}: {done.stderr}"
                continue
            assert json.loads(done.stdout) == {"why": ""}, name
            able += 1
        assert able >= 4, name


def test_eighty_thousand_processes_are_no_more_than_a_few(simulator: Path) -> None:
    shown = ask(simulator, "pattern", "lans", "--processes", 82944)
    assert shown["shape"] == [36, 48, 48]
    (phase,) = shown["phases"]
    assert phase["messages"] == 2 * (35 * 48 * 48 + 36 * 47 * 48 * 2)
    assert shown["partners"] == [3, 6, 6]


# --- NPB CG


@pytest.mark.parametrize("processes", [2, 4, 8, 16, 32, 1024])
def test_npb_cg_has_the_published_partners(simulator: Path, processes: int) -> None:
    bits = processes.bit_length() - 1
    rows, columns = 2 ** (bits // 2), 2 ** (bits - bits // 2)

    def transposed(me: int) -> int:
        if rows == columns:
            return me % rows * rows + me // rows
        return 2 * (me // 2 % rows * rows + me // 2 // rows) + me % 2

    found = pairs(simulator, "npb_cg", processes, "class=B")
    assert {a: b for a, b, _, _ in found["transpose"]} == {me: transposed(me) for me in range(processes)}
    for stage in range(1, bits - bits // 2 + 1):
        for name in ("partial sums", "sum of p.q", "sum of r.r", "sum of norms"):
            partners = {a: b for a, b, _, _ in found[f"{name}, stage {stage}"]}
            assert partners == {me: me ^ columns >> stage for me in range(processes)}
    assert len(found) == 4 * (bits - bits // 2) + 1


def hops(a: int, b: int, columns: int, rows: int) -> list[tuple[int, int, int]]:
    """The directed links (node, axis, sign) from a to b: along x first, the shorter way, + if both are."""
    way = []
    x, y = a % columns, a // columns
    for axis, extent, end in ((0, columns, b % columns), (1, rows, b // columns)):
        here = y if axis else x
        ahead = (end - here) % extent
        sign = 1 if ahead <= extent - ahead else -1
        for _ in range(min(ahead, extent - ahead)):
            way.append((x + columns * y, axis, sign))
            x, y = (x, (y + sign) % rows) if axis else ((x + sign) % columns, y)
    return way


@pytest.mark.parametrize(
    ("size", "processes", "hop_bytes", "maxima"), [("B", 1024, 902e6, 881e3), ("D", 8192, 134e9, 17.9e6)]
)
def test_npb_cg_loads_a_torus_as_published(
    simulator: Path, size: str, processes: int, hop_bytes: float, maxima: float
) -> None:
    """Of the vectors, with ranks in their order: bytes times links, and the sum over phases of the busiest link."""
    shown = ask(simulator, "pattern", "npb_cg", "--processes", processes, "--parameters", f"class={size}")
    columns, rows = shown["shape"]
    total = worst = 0
    for name, phase in pairs(simulator, "npb_cg", processes, f"class={size}").items():
        if name.startswith("sum of"):
            continue
        loads: Counter[tuple[int, int, int]] = Counter()
        for a, b, _, amount in phase:
            for link in hops(a, b, columns, rows):
                loads[link] += amount
        total += loads.total()
        worst += max(loads.values())
    assert total == pytest.approx(hop_bytes, rel=0.005)
    assert worst == pytest.approx(maxima, rel=0.005)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("npb_cg", "--processes", "12"), "npb_cg needs a power of two; 12 processes given"),
        (("npb_cg", "--processes", "4", "--parameters", "class=X"), "class is one of S, W, A, B, C, D, E, not 'X'"),
        (("lans", "--processes", "4", "--parameters", "nx=0"), "nx is a number from 1 to 16384, not '0'"),
        (("lans", "--processes", "4", "--parameters", "n=3"), "has no parameter 'n'; write NAME=VALUE with one of nx"),
        (("lans", "--processes", "4", "--parameters", "px=3"), "cannot put 4 processes into a grid"),
        (("lans", "--processes", "0"), "--processes should be a number from 1"),
        (("none", "--processes", "4"), "there is no pattern 'none'"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(simulator: Path, words: tuple[str, ...], why: str) -> None:
    done = run(simulator, "pattern", *words, status=2)
    assert why in done.stderr
    assert len(done.stderr.splitlines()) == 1
