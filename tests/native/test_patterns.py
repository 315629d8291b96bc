"""Patterns of communication: every send has its receive, and who talks to whom is what the applications do."""

from __future__ import annotations

import ctypes
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import drivers
from firstlight import ROOT
from firstlight.commands.patterns import generator as patterns_of_python
from firstlight.commands.patterns import memory
from firstlight.commands.shared.command_line import group
from firstlight.core.errors import UsageError
from network_tool import query, run

PROCESSES = (1, 2, 3, 4, 6, 8, 12, 16, 64, 250)


def patterns(simulator: Path) -> dict[str, Any]:
    lines = run(simulator, "patterns").stdout.splitlines()
    return {p["pattern"]: p for p in map(json.loads, lines)}


def pairs(simulator: Path, name: str, processes: int, *given: str) -> dict[str, list[tuple[int, int, int, int]]]:
    """Return for each phase, in one repetition: (from, to, messages, bytes)."""
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
    shown = query(simulator, "pattern", "lans", "--processes", 82944)
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
    """Return the directed links (node, axis, sign) from a to b: along x first, the shorter way, + if both are equal."""
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
    """Vectors only, with ranks in their order: bytes times links, and the sum over phases of the busiest link."""
    shown = query(simulator, "pattern", "npb_cg", "--processes", processes, "--parameters", f"class={size}")
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
        (("none", "--processes", "4"), "no pattern 'none'; available: finite_elements, gamess, "),
        (
            ("nicam", "--processes", "4", "--parameters", "r=9"),
            "nicam with r=9 has 2621440 regions; at most 2097152 for 4",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(simulator: Path, words: tuple[str, ...], why: str) -> None:
    done = run(simulator, "pattern", *words, status=2)
    assert why in done.stderr
    assert len(done.stderr.splitlines()) == 1


# --- the icosahedral grid


@pytest.fixture(scope="module")
def icosahedron() -> ctypes.CDLL:
    return drivers.library(Path(__file__).with_name("patterns_functions.cpp"), "-O1")


@pytest.mark.parametrize("g", range(5))
def test_twelve_points_have_five_neighbours_and_the_rest_six(icosahedron: ctypes.CDLL, g: int) -> None:
    """Neighbours are mutual, and the triangles close to a sphere."""
    points = 10 * 4**g + 2
    assert icosahedron.points_with(g, 5) == 12
    assert icosahedron.points_with(g, 6) == points - 12
    if g > 0:  # only on the icosahedron: opposite triangles are not neighbours, and three others form circles
        assert icosahedron.triangles(g) == 20 * 4**g


@pytest.mark.parametrize(("g", "r"), [(3, 0), (4, 1), (4, 2), (5, 3)])
def test_every_region_has_four_edge_neighbours(icosahedron: ctypes.CDLL, g: int, r: int) -> None:
    assert icosahedron.edge_neighbours(g, r, 0) == icosahedron.edge_neighbours(g, r, 1) == 4


@pytest.mark.parametrize("processes", [2, 5, 10, 20, 37, 40, 80, 160, 320, 640])
def test_neighbouring_regions_give_a_process_no_more_than_nineteen_partners(simulator: Path, processes: int) -> None:
    for r in (3, 4):
        if processes > 10 * 4**r:
            continue
        shown = query(simulator, "pattern", "nicam", "--processes", processes, "--parameters", f"r={r},g={r + 2}")
        assert shown["partners"][2] <= 19
        (phase,) = shown["phases"]
        assert phase["own"] == 0


def test_nicam_s_partners_are_partners_in_return(simulator: Path) -> None:
    for owners in ("contiguous", "robin"):
        (found,) = pairs(simulator, "nicam", 40, "r=2", "g=4", f"owners={owners}").values()
        named = {(a, b) for a, b, _, _ in found}
        assert named == {(b, a) for a, b in named}


# --- what applications are made of


def test_the_sizes_of_the_collectives(simulator: Path) -> None:
    """The sizes are those of the programs' own formulas."""

    def together(name: str, processes: int, *given: str) -> dict[str, tuple[str, int, list[int], list[int]]]:
        shown = query(simulator, "pattern", name, "--processes", processes, "--parameters", ",".join(given))
        some = {p["name"]: p["together"] for p in shown["phases"] if p["together"]}
        return {k: (t["collective"], t["groups"], t["members"], t["bytes"]) for k, t in some.items()}

    ft = together("npb_ft", 64, "class=B")
    assert ft["transpose"] == ("alltoall", 1, [64, 64], [512 * 256 * 256 * 16 // 64**2] * 2)
    lines = together("npb_ft", 1024, "class=B")
    assert lines["transpose x and z"] == ("alltoall", 256, [4, 4], [512 * 256 * 256 * 16 // 1024 // 4] * 2)
    assert lines["transpose x and y"] == ("alltoall", 4, [256, 256], [512 * 256 * 256 * 16 // 1024 // 256] * 2)
    assert together("gamess", 5, "basis=10")["Fock matrix"] == ("allreduce", 1, [5, 5], [440, 440])
    assert together("modylas", 3, "cells=7,order=1")["multipoles"] == ("allgather", 1, [3, 3], [3 * 64] * 2)
    panels = together("hpl", 6, "n=100,nb=10,panel=4")  # 2 x 3: panel 4 belongs to row 0, column 1
    assert panels["panel along rows"] == ("broadcast", 2, [3, 3], [8 * (30 * 10 + 110)] * 2)
    assert panels["pivots"] == ("allreduce", 5, [1, 2], [8 * 24] * 2)
    assert panels["block row along columns"] == ("allgather", 3, [2, 2], [8 * 5 * 10, 8 * 5 * 20])


# --- against what was recorded, and the command


@pytest.mark.parametrize("run", ["S 2", "S 4", "S 8", "S 16", "S 128", "W 4", "W 8"])
def test_npb_cg_is_what_the_profiler_recorded_of_the_real_program(simulator: Path, run: str) -> None:
    """Every pair of ranks has the recorded messages and bytes of the whole run, including the untimed iteration and the
    residuals. tests/support/golden/npb_cg.json describes the recording; docs/patterns.md describes how to repeat it.
    """
    size, processes = run.split()
    golden = json.loads((ROOT / "tests" / "support" / "golden" / "npb_cg.json").read_text())["runs"][run]
    shown = patterns_of_python.show(simulator, "npb_cg", int(processes), [f"class={size}"])
    made = patterns_of_python.matrix(simulator, "npb_cg", int(processes), [f"class={size}"], shown.iterations)
    assert [[p.source, p.target, p.messages, p.bytes] for p in made.pairs] == golden


def run_patterns(*words: str, status: int = 0) -> str:
    done = CliRunner().invoke(group, ["patterns", *words])
    assert done.exit_code == status, done.output
    return done.output


@pytest.mark.usefixtures("simulator")
def test_the_command_lists_shows_and_draws(tmp_path: Path) -> None:
    assert "NICAM (icosahedral atmosphere)" in run_patterns()
    names = [p["pattern"] for p in json.loads(run_patterns("--json"))]
    assert names == sorted(names)
    assert len(names) >= 12
    text = run_patterns("npb_cg", "--processes", "1024", "-p", "class=B")
    assert "Ranks send to 5 to 6 others" in text
    assert "transpose" in text
    shown = json.loads(run_patterns("npb_cg", "-n", "4", "-p", "class=S", "--json"))
    matrix = json.loads(run_patterns("npb_cg", "-n", "4", "-p", "class=S", "--json", "--matrix"))
    assert sum(m for _, _, m, _ in matrix["pairs"]) == sum(p["messages"] * p["repetitions"] for p in shown["phases"])
    page = tmp_path / "pattern.html"
    run_patterns("nicam", "-n", "40", "--output", str(page))
    assert page.read_text().count('class="heat"') == 1  # bytes; each pair has as many messages
    run_patterns("gamess", "-n", "4", "--output", str(page))  # nothing names a peer


def test_buffers_of_two_tiers_take_what_r4_says(simulator: Path) -> None:
    """2 KiB for each that is contacted, 1 MiB for 1024 hot ones at most; collectives along trees, alltoall by pairs."""
    assert memory.model(82_944, 82_943, 0) == 8 * 1296 + 2048 * 82_943
    assert memory.model(4000, 3000, 3000) == 8 * 63 + 2048 * 3000 + (1024 << 20)
    assert pytest.approx(11.6e6 * 1024) == memory.PLAIN * 80_000
    nicam = patterns_of_python.show(simulator, "nicam", 40)
    found = memory.need(nicam)
    assert (found.contacted, found.hot) == (nicam.contacted, nicam.often)  # no collectives
    assert (
        memory.need(patterns_of_python.show(simulator, "gamess", 1000)).hot == 10
    )  # broadcast and sum: partners of one cube
    one = memory.need(patterns_of_python.show(simulator, "gamess", 1))
    assert (one.contacted, one.hot, one.bytes) == (0, 0, 8)
    squares = memory.need(patterns_of_python.show(simulator, "npb_ft", 4096))
    assert squares.contacted == 15 + 255 + 12 == squares.hot  # planes, rows, and a sum of all
    all_ranks = memory.need(patterns_of_python.show(simulator, "npb_ft", 16))
    assert all_ranks.contacted == all_ranks.hot == 15
    counts = [n.processes for n in memory.curve(simulator, "npb_cg", ["class=S"], (1, 3, 4))]
    assert counts == [1, 4]  # a power of two
    with pytest.raises(UsageError, match="power of two"):
        memory.curve(simulator, "npb_cg", [], (3,))


@pytest.mark.usefixtures("simulator")
def test_the_command_tells_what_buffers_need(tmp_path: Path) -> None:
    page = tmp_path / "memory.html"
    text = run_patterns("--memory", "-n", "16", "--node-memory", "64MiB", "--output", str(page))
    assert "A single process exceeds this limit in " in text and "npb_ft with 16 processes or more" in text
    assert "plain design" in page.read_text() and "npb_ft" in page.read_text()
    assert json.loads(run_patterns("npb_ft", "--memory", "-n", "16", "--json"))["npb_ft"][0]["hot"] == 15
    assert "No process exceeds this limit" in run_patterns("hpl", "--memory", "-n", "4", "--node-memory", "1GiB")


@pytest.mark.usefixtures("simulator")
@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("npb_cg",), "the number of processes is missing"),
        (("-n", "4"), "no pattern is named"),
        (("npb_cg", "-n", "3"), "npb_cg needs a power of two; 3 processes given"),
        (("npb_cg", "-n", "4", "-p", "class"), "write -p NAME=VALUE"),
        (("npb_cg", "-n", "4", "-p", "class=S,na=3"), "write -p NAME=VALUE for each"),
        (("npb_cg", "-n", "4", "--matrix"), "--matrix requires --json"),
        (("npb_cg", "-n", "3", "--memory"), "npb_cg needs a power of two; 3 processes given"),
        (("npb_cg", "-n", "4", "--memory", "--matrix"), "choose one"),
        (("--memory", "-p", "class=S"), "name the pattern"),
        (("npb_cg", "-n", "4", "--node-memory", "1GiB"), "requires --memory"),
    ],
)
def test_the_command_says_what_to_do_instead(words: tuple[str, ...], why: str) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        group.main(["patterns", *words], standalone_mode=False)
