"""One process simulates jobs of thousands: its memory does not grow, and no number overflows."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import drivers
from firstlight import ROOT

pytestmark = pytest.mark.native

HERE = Path(__file__).parent
HARNESS = ROOT / "native" / "harness"
WATCHED = (
    "-O1",
    "-fsanitize=undefined",
    "-fno-sanitize-recover=all",
    "-Wno-psabi",
    f"-I{HARNESS}/include",
    f"-I{HARNESS}/src",
)
GRIDS = {16: (2, 2, 2, 2), 8192: (16, 8, 8, 8), 80_000: (20, 20, 20, 10)}
"""Processes along t, x, y and z; each has a block of 4^4."""


def test_a_process_takes_memory_for_its_own_block_of_a_lattice() -> None:
    sources = (HERE / "lattice_memory.cpp", HARNESS / "src" / "support.cpp")
    include = f"-I{ROOT}/workloads/lqcd/dirac"
    program = drivers.program("lattice_memory", sources, *WATCHED, "-DFL_JUDGE", include)
    taken: dict[int, dict[str, int]] = {}
    for ranks, grid in GRIDS.items():
        done = subprocess.run([program, *map(str, grid)], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        taken[ranks] = {name: int(size) for name, size in map(str.split, done.stdout.splitlines())}
    assert set(taken[16]) == {"dirac", "dirac_solver", "dirac_overlap"}
    for ranks in GRIDS:  # the sentence of a check has the coordinates in it
        assert taken[ranks] == pytest.approx(taken[16], rel=1e-3)


def test_divisions_grids_and_inputs_hold_for_80_000_processes() -> None:
    include = f"-I{ROOT}/workloads/network/collectives"
    sources = (HERE / "large_jobs.cpp", HARNESS / "src" / "support.cpp", HARNESS / "src" / "comm_serial.cpp")
    program = drivers.program("large_jobs", sources, *WATCHED, include)
    done = subprocess.run([program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
