"""The workload of checkpoints: what it writes and measures, by strategy, and what it refuses."""

from __future__ import annotations

import os
import random
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from test_checkpoint import ranks_of, rounds

import native
from firstlight.execute.build import Built
from firstlight.execute.launch import command, launch
from firstlight.model.plan import Cell, Placement

CHECKPOINT = native.workloads["checkpoint"]
WHOLE = 8 * 32**3
"""Bytes of the state."""


def program(variant: str) -> Built:
    return native.plain("checkpoint", variant)


def values(built: Built, folder: Path, name: str, *words: str) -> list[float]:
    """Return the largest value over the ranks, of each sample."""
    place = Placement(ranks=2) if built.program.mpi else Placement()
    output = native.verified(built, place, folder, "n=32", *words)
    return [sample["values"][name][2] for sample in output.of("sample")]


@pytest.mark.native
@pytest.mark.parametrize(
    ("variant", "copies"),
    [("serial", 1), ("async", 1), ("mpi_files", 1), ("mpi_one_file", 1), ("mpi_partner", 2), ("mpi_parity", 2)],
)
def test_each_strategy_writes_the_state_and_its_redundancy(variant: str, copies: int, tmp_path: Path) -> None:
    """Parity of two ranks is a copy. Heads and manifests are small."""
    if not native.buildable(next(v for v in CHECKPOINT.variants if v.name == variant), native.toolchain("base")):
        pytest.skip("no MPI library here")
    for written in values(program(variant), tmp_path, "written"):
        assert copies * WHOLE < written < 1.01 * copies * WHOLE + 1000


@pytest.mark.native
def test_changed_blocks_are_a_share_of_the_state(tmp_path: Path) -> None:
    """Require that only blocks that changed in two generations are written; the first cell always changes."""
    built = program("changed")
    output = native.verified(
        built, Placement(), tmp_path, "n=80", "changed=1,10,100", effort=("--samples", "8", "--steps", "1")
    )
    shares: dict[int, list[float]] = {}
    for sample in output.of("sample"):
        case = output.of("case")[sample["case"]]
        shares.setdefault(case["parameters"]["changed"], []).append(sample["values"]["written"][2] / (8 * 80**3))
    late = {changed: some[3:] for changed, some in shares.items()}  # the first two generations are written whole
    assert max(late[1]) < 0.15 and max(late[10]) < 0.45 and min(late[100]) > 1


@pytest.mark.native
def test_what_the_program_computes_meanwhile_is_a_value_of_asynchronous_variants_only(tmp_path: Path) -> None:
    assert min(values(program("async"), tmp_path, "slow_down")) >= 0
    output = native.verified(program("serial"), Placement(), tmp_path, "n=32")
    assert all("slow_down" not in sample["values"] for sample in output.of("sample"))


@pytest.mark.native
@pytest.mark.parametrize("memory", [False, True])
def test_a_restart_is_cold_on_a_disk_and_not_in_memory(memory: bool, tmp_path: Path) -> None:
    place = Path("/dev/shm") if memory else tmp_path
    kind = subprocess.run(["stat", "-f", "-c", "%T", place], capture_output=True, text=True, check=True).stdout.strip()
    if (kind == "tmpfs") != memory:
        pytest.skip(f"{place} is on {kind}")
    where = ("--storage", f"t={place}/fl-test-{tmp_path.name}-{os.getpid()}")
    words = ("n=32", "target=t")
    output = native.verified(program("serial"), Placement(), tmp_path, *words, effort=(*native.EFFORT, *where))
    for share in (sample["values"]["resident"][2] for sample in output.of("sample")):
        assert share == 1 if memory else share < 0.01


@pytest.mark.native
def test_values_are_judged_without_the_folder_of_a_target() -> None:
    """The plan names a target before a launch has made a folder in it."""
    built = program("serial")
    assert native.direct(built, "--describe", "target=results", "n=32").returncode == 0
    done = native.direct(built, "target=results", "n=32")
    assert done.returncode == 2 and "the folder of the target results is unknown" in done.stderr
    done = native.direct(built, "--describe", "n=4096")
    assert done.returncode == 2 and "GiB" in done.stderr


@pytest.mark.native
@pytest.mark.faults
@pytest.mark.parametrize("variant", ["serial", "async", "mpi_files", "mpi_partner", "mpi_one_file"])
def test_nothing_is_left_of_a_launch_whose_process_is_killed(variant: str, tmp_path: Path) -> None:
    """One process is killed while it saves or restores. The launch fails with the reason."""
    built, draw = program(variant), random.Random(variant)
    assert built.executable is not None
    target = tmp_path / "target"
    target.mkdir()
    place = Placement(ranks=2) if built.program.mpi else Placement()
    words = ("target=t", "n=64", "--samples", "100000", "--case-seconds", "1000")
    for trial in range(rounds(2, 4)):
        output = tmp_path / f"record.{trial}"
        cell = Cell("test", built.program, place, words)
        ready = command(
            cell, built.executable, native.toolbox(), output=output, machine=native.here, storage={"t": target}
        )
        with ThreadPoolExecutor(1) as pool:
            ended = pool.submit(launch, ready, 100, f"{tmp_path.name}-{trial}")
            while not list(target.rglob("*.manifest")) and not ended.done():
                time.sleep(0.01)
            time.sleep(draw.uniform(0, 0.3))
            while not (ranks := ranks_of(os.getpid(), built.executable)) and not ended.done():
                time.sleep(0.01)
            for process in draw.sample(list(ranks.values()), min(1, len(ranks))):
                process.kill()
            outcome = ended.result()
        assert not outcome.ok and "aborted: signal" in outcome.reason, outcome  # of this process, or of another one
        assert not list(target.iterdir())
