"""The messenger: its protocol over a transport that does the worst that MPI allows, its limits and memory on MPI."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import threading
import uuid
from ctypes import CDLL, Structure, byref, c_longlong, create_string_buffer
from pathlib import Path
from typing import Any

import pytest

import drivers
import native
import turns
from firstlight import ROOT
from firstlight.execute.build import Built
from firstlight.execute.launch import command, flaw, launch
from firstlight.model.plan import Cell, Placement
from firstlight.system.process import tree

FOLDER = ROOT / "workloads/network/messages"
MESSAGES = native.workloads["messages"]
NAMES = (
    "seed", "ranks", "messages", "fault", "talkative", "slow_slots", "slow_bytes", "slow_eager", "fast_slots",
    "fast_bytes", "fast_eager", "upgrade_after", "fast_peers", "prepared", "reclaim",
)  # fmt: skip
PUBLISHED = {
    "slow_slots": 16, "slow_bytes": 128, "slow_eager": 128, "fast_slots": 64, "fast_bytes": 16384, "fast_eager": 13700,
    "upgrade_after": 15, "fast_peers": 1024,
}  # fmt: skip
SIMULATED = ROOT / "tests/workloads/network/messages_simulated.cpp"
INCLUDES = (f"-I{ROOT / 'native/harness/include'}", f"-I{FOLDER}")
FAULTS = {1: "flags before texts", 2: "credits before copies", 3: "memory that is not zero", 4: "knocks that are lost"}


class Settings(Structure):
    _fields_ = [(name, c_longlong) for name in NAMES]


@pytest.fixture(scope="module")
def simulated() -> CDLL:
    library = drivers.library(SIMULATED, "-O1", "-Wall", "-Wextra", "-Werror", *INCLUDES)
    library.bytes.restype = c_longlong
    return library


def wrong(library: CDLL, **settings: int) -> str:
    """Return the errors of a simulated run of random messages; usually none."""
    what = create_string_buffer(200)
    return what.value.decode() if library.simulate(byref(Settings(**settings)), what, 200) else ""


def drawn(rng: random.Random, fault: int = 0) -> dict[str, int]:
    slow_bytes, fast_bytes = rng.choice([16, 24, 32]), rng.choice([16, 40, 128])
    prepared, reclaim = rng.choice([(0, 0), (0, 1), (0, 1), (1, 0)])
    return {
        "seed": rng.randrange(1 << 40), "ranks": rng.randint(1, 6), "messages": rng.randint(1, 200), "fault": fault,
        "talkative": rng.choice([1, 3, 20]), "slow_slots": rng.randint(1, 4), "slow_bytes": slow_bytes,
        "slow_eager": rng.randint(0, slow_bytes), "fast_slots": rng.randint(1, 5), "fast_bytes": fast_bytes,
        "fast_eager": rng.randint(0, fast_bytes), "upgrade_after": rng.randint(0, 5), "fast_peers": rng.randint(0, 3),
        "prepared": prepared, "reclaim": reclaim,
    }  # fmt: skip


@pytest.mark.full
def test_no_interleaving_loses_overtakes_or_blocks(simulated: CDLL) -> None:
    """Rings of one slot, no fast ring, one that all want: whatever the transport delays, cuts and reorders."""
    rng = random.Random(20261123)
    for _ in range(400):
        settings = drawn(rng)
        assert wrong(simulated, **settings) == "", settings


@pytest.mark.parametrize("fault", FAULTS, ids=FAULTS.get)
def test_the_simulation_finds(simulated: CDLL, fault: int) -> None:
    rng = random.Random(1)
    assert any(wrong(simulated, **drawn(rng, fault)) for _ in range(60)), FAULTS[fault]


@pytest.mark.full
def test_nothing_is_read_or_written_beside_a_ring(simulated: CDLL) -> None:
    """The same programs watched by sanitizers: rings, texts and contacts are blocks of their own."""
    flags = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", *INCLUDES)
    watched = drivers.program("messages_watched", [SIMULATED], *flags)
    rng = random.Random(20261124)
    runs = [drawn(rng) for _ in range(120)]
    lines = "".join(" ".join(str(settings[name]) for name in NAMES) + "\n" for settings in runs)
    done = subprocess.run([watched], input=lines, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr  # gcc warns that its support of fibers is incomplete
    assert done.stdout == "\n" * len(runs)


# --- memory ------------------------------------------------------------


def in_bytes(library: CDLL, ranks: int, contacted: int, hot: int, *, in_use: bool = True, **other: int) -> int:
    settings = Settings(**({"ranks": ranks} | PUBLISHED | other))
    return int(library.bytes(byref(settings), c_longlong(contacted), c_longlong(hot), int(in_use)))


def test_the_model_is_the_published_one_with_flags_and_credits(simulated: CDLL) -> None:
    """R4: 2 KiB for each process contacted, 1 MiB for each that is hot, 1024 at most; ordinary use: some 400 MB."""
    for ranks, contacted, hot in ((2, 1, 1), (100, 99, 6), (82_944, 82_943, 1024), (82_944, 82_943, 9000)):
        published = 2048 * contacted + (1 << 20) * min(hot, 1024)
        found = in_bytes(simulated, ranks, contacted, hot)
        assert found == 2208 * contacted + 1_049_088 * min(hot, 1024) + -(-8 * (33 + -(-ranks // 64)) // 128) * 128
        assert published < found < 1.09 * published + 11_000
        assert found <= in_bytes(simulated, ranks, contacted, hot, in_use=False) < 2 * found + 40_000
    assert 300e6 < in_bytes(simulated, 82_944, 82_943, 170) < 400e6
    assert in_bytes(simulated, 82_944, 19, 19) < 0.1 * 16 * 2**30  # 10 % of a node of the K computer


def test_the_plain_design_takes_what_r4_says(simulated: CDLL) -> None:
    """145 B in 256 slots for each of four interfaces: 145 KiB a peer, 11.6 GB for 80,000."""
    ours = in_bytes(simulated, 80_000, 1, 1, prepared=1, fast_slots=1024, fast_bytes=136)
    assert ours == pytest.approx(11.6e9, rel=0.02)  # slots of 144 B, a flag and a length included


# --- on MPI ------------------------------------------------------------


def library() -> str | None:
    """Return the library that does not spin on shared processors, if it is here."""
    names = [m.name for m in native.toolbox().mpis]
    return next((name for name in names if name != "mpich"), names[0] if names else None)


@pytest.fixture(scope="module")
def built() -> dict[str, Built]:
    """Build with gcc's base flags."""
    tool = native.toolchain("base")
    if tool is None or library() is None:
        pytest.skip("no gcc or no MPI library here")
    good = [v for v in MESSAGES.variants if not v.broken and native.buildable(v, tool)]
    wanted = [p for v in good for p in native.programs(MESSAGES, v, tool) if p.mpi == library()]
    found = native.make(wanted)
    assert all(one.error == "" for one in found.values())
    return {program.variant: one for program, one in found.items()}


def largest(output: native.Output) -> list[dict[str, Any]]:
    """Return for each case the largest values that its last sample observed."""
    last = {sample["case"]: {name: x[2] for name, x in sample["values"].items()} for sample in output.of("sample")}
    return [last[k] for k in sorted(last)]


@pytest.mark.native
@pytest.mark.full
@pytest.mark.parametrize(
    ("ranks", "variant", "scenarios", "limits"),
    [
        (2, "mpi_two_tier_reclaim", "neighbours,drift", [0, 1]),
        (5, "mpi_two_tier", "all", [0, 1, 3]),
        (9, "mpi_two_tier_reclaim", "drift", [3]),
        (8, "mpi_two_tier", "pairs", [1]),
    ],
)
def test_every_scenario_and_every_limit_hold(
    ranks: int,
    variant: str,
    scenarios: str,
    limits: list[int],
    built: dict[str, Built],
    simulated: CDLL,
    tmp_path: Path,
) -> None:
    """The program's own check compares every message, and accounts with the rules; here both with the model again."""
    if ranks > 3 and library() == "mpich":
        pytest.skip("its processes spin where they share processors")
    words = (f"scenario={scenarios}", "bytes=100", "rounds=20", f"fast_peers={','.join(map(str, limits))}")
    output = native.verified(built[variant], Placement(ranks=ranks), tmp_path, *words)
    cases = [case["parameters"] for case in output.of("case")]
    assert len(cases) == len(limits) * len(scenarios.split(","))
    for case, seen in zip(cases, largest(output), strict=True):
        limit, met, fast = case["fast_peers"], int(seen["contacted"]), int(seen["fast_peers"])
        assert fast <= limit
        assert seen["buffers"] == in_bytes(simulated, ranks, met, fast, fast_peers=limit)
        if case["scenario"] == "all":
            assert fast == min(limit, ranks - 1)


@pytest.mark.native
@pytest.mark.full
@pytest.mark.faults
@pytest.mark.parametrize(
    ("number", "reason", "samples", "timeout"),
    [
        (signal.SIGKILL, "rank aborted: signal 9 (SIGKILL)", 2, turns.PATIENCE),
        (signal.SIGABRT, "rank aborted: signal 6 (SIGABRT)", 2, turns.PATIENCE),
        (signal.SIGSTOP, "timed out after 5 s and was killed", 0, 5),  # it hangs: the others wait for it in the library
    ],
)
def test_a_struck_rank_is_told_in_one_line_and_what_was_measured_is_kept(
    number: signal.Signals, reason: str, samples: int, timeout: float, built: dict[str, Built], tmp_path: Path
) -> None:
    one, output = built["mpi_two_tier"], tmp_path / "record.jsonl"
    assert one.executable is not None
    executable = str(one.executable)
    over, kept = threading.Event(), bytearray()

    def strike() -> None:
        while not over.wait(0.02):
            record = output.read_bytes() if output.exists() else b""
            if record and record.count(b'"type":"sample"') >= samples and (ranks := ranks_of(executable, str(output))):
                os.kill(ranks[-1], number)
                kept.extend(record)
                return

    striker = threading.Thread(target=strike)
    striker.start()
    try:
        with turns.party(2):
            ready = command(
                Cell("test", one.program, Placement(ranks=2), ("bytes=8", "rounds=8")), one.executable,
                native.toolbox(), output=output, machine=native.here,
                options=("--samples", "100000", "--sample-seconds", "0.01"),
            )  # fmt: skip
            outcome = launch(ready, timeout, uuid.uuid4().hex)
    finally:
        over.set()
        striker.join()
    assert (outcome.ok, outcome.reason) == (False, reason)
    assert output.read_bytes().startswith(kept) and kept.count(b'"type":"sample"') >= samples
    assert flaw(output) in ("an incomplete record", "no record")
    assert not ranks_of(executable, str(output))


def ranks_of(executable: str, output: str) -> list[int]:
    """Return the living processes of a launch, without its launcher."""
    found = []
    for pid in tree.table():
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
            if words[0] == executable and output in words:
                found.append(pid)
    return found


@pytest.mark.native
@pytest.mark.full
def test_a_drifting_hot_set_gets_rings_that_lie_idle(built: dict[str, Built], tmp_path: Path) -> None:
    words = ("scenario=drift", "bytes=100", "rounds=120", "fast_peers=2")
    fixed, reclaiming = (
        largest(native.verified(built[v], Placement(ranks=5), tmp_path, *words))[0]
        for v in ("mpi_two_tier", "mpi_two_tier_reclaim")
    )
    assert fixed["returns"] == 0 < reclaiming["returns"] and reclaiming["upgrades"] > fixed["upgrades"] == 2


@pytest.mark.native
def test_numbers_that_make_no_messenger_are_refused(built: dict[str, Built], tmp_path: Path) -> None:
    for words, why in ((("slow_eager=129",), "slow_eager"), (("rounds=60000", "burst=60000"), "fewer rounds")):
        output = native.run(built["mpi_two_tier"], Placement(ranks=2), words, tmp_path)
        assert output.status == 2 and why in output.stderr
    alone = native.run(built["mpi_two_tier"], Placement(ranks=1), ("bytes=8",), tmp_path)
    assert alone.status == 2 and "two processes" in alone.stderr
