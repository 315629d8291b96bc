"""Random valid inputs: each is verified, or refused in one clear line; none hangs, crashes or fails a check.

`VALID_INPUTS=200` tries 200 of each kind, from a random seed; a failure names the seed of its input.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import native
import valid_inputs
from commands import needs
from firstlight.commands.shared import command_line
from firstlight.core import reading
from firstlight.core.errors import OK, USAGE
from firstlight.results.description import Description
from native import EFFORT, Placement

pytestmark = [pytest.mark.full, pytest.mark.native]

MANY = int(os.environ.get("VALID_INPUTS", "4"))
SEEDS = range(MANY) if "VALID_INPUTS" not in os.environ else [secrets.randbelow(1 << 40) for _ in range(MANY)]

FILES: list[tuple[str, str, Placement, str, Callable[[Random], str], str]] = [
    ("spmv", "serial", Placement(), "matrix", valid_inputs.matrix, "mtx"),
    ("spmv", "omp", Placement(threads=3), "matrix", valid_inputs.matrix, "mtx"),
    ("spmv", "mpi", Placement(ranks=3), "matrix", valid_inputs.matrix, "mtx"),
    ("cg", "serial", Placement(), "matrix", valid_inputs.definite, "mtx"),
    ("hartree_fock", "serial", Placement(), "molecule", valid_inputs.molecule, "xyz"),
]


@pytest.mark.parametrize("which", FILES, ids=lambda f: f"{f[0]}-{f[1]}")
def test_a_file_is_verified_or_refused_in_one_line(
    which: tuple[str, str, Placement, str, Callable[[Random], str], str], tmp_path: Path
) -> None:
    workload, variant, place, parameter, made, ending = which
    built = native.plain(workload, variant)
    kernels = ("kernel=*",) if workload == "spmv" else ()
    for seed in SEEDS:
        file = tmp_path / f"{seed}.{ending}"
        with file.open("w", newline="") as written:
            written.write(made(Random(seed)))
        output = native.run(built, place, (f"{parameter}={file}", *kernels, "--seed", str(1 + seed % 9999)), tmp_path)
        wrong = [c for c in output.of("check") if not c["ok"]]
        assert output.status in (OK, USAGE) and not wrong, (seed, output.reason, output.stderr, wrong, file.read_text())
        refused = output.of("refused")
        if workload == "spmv":
            # Half storage requires a symmetric matrix, ELL rows of similar length; other formats accept any.
            assert output.status == OK, (seed, output.stderr)
            assert {c["parameters"]["kernel"] for c in refused} <= {"symmetric", "ell"}, (seed, refused)
            assert len(output.of("case")) >= len(output.of("check")) / 3 > 0


@needs("simulate")
def test_a_schedule_in_goal_has_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in SEEDS:
        file = tmp_path / f"{seed}.goal"
        with file.open("w", newline="") as written:
            written.write(valid_inputs.goal(Random(seed)))
        assert command_line.call(["simulate", "collective", str(file), "--json"]) == OK, (
            seed,
            capsys.readouterr().err,
            file.read_text(),
        )
        (found,) = json.loads(capsys.readouterr().out)["predictions"]
        assert found["seconds"] >= 0 and not found.get("refused"), (seed, found)


REFUSING = 3600
"""Bytes of words: a program that refuses prints one line."""


VALUED = [w.name for w in native.workloads.values() if any(v.name == "serial" for v in w.variants)]


@pytest.mark.parametrize("workload", VALUED)
def test_values_within_their_ranges_are_verified_or_refused_in_one_line(workload: str) -> None:
    built = native.plain(workload, "serial")
    described = reading.json(built.describe, Description)
    assert built.executable is not None
    for seed in SEEDS if "VALID_INPUTS" in os.environ else SEEDS[:1]:
        chosen = valid_inputs.values(Random(seed), workload, described, 40)
        words = [f"{name}={value}" for name, value in chosen.items()]
        context = (workload, seed, words)
        try:
            done = subprocess.run(
                [built.executable, *words, *EFFORT, "--case-seconds", "0.1"],
                capture_output=True, text=True, timeout=300,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            pytest.fail(f"does not end: {context}")
        assert done.returncode in (OK, USAGE), (context, done.stdout[-2000:], done.stderr[-2000:])
        if done.returncode == USAGE:
            assert done.stderr.count("\n") == 1 and len(done.stderr) < REFUSING and done.stdout == "", (
                context,
                done.stderr,
            )
