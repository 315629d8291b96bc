"""`tests/on_gpu.py` on machines without a GPU: its plan, its judgement of launches, its continuation after a kill."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import gpu_plan
import gpu_programs
import gpu_table
import native
import on_gpu
import turns
from firstlight import ROOT
from firstlight.model.catalogue import on_device
from gpu_plan import Plan, Result, Results, Step

WORDS = ["mpiexec", "-n", "2", "/store/x", "n=1", "--output", gpu_programs.OUTPUT]


def program(variant: str, *trials: list[str]) -> dict[str, object]:
    return {
        "name": f"{variant} gcc", "variant": variant, "broken": ".broken_" in variant, "sha256": "1234", "error": "",
        "executable": "/store/x", "environment": {"A": "1"}, "trials": list(trials),
    }  # fmt: skip


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """Two workloads, of which the first has a right and a wrong variant, and compute-sanitizer."""
    monkeypatch.setenv("FIRSTLIGHT_CACHE", str(tmp_path / "cache"))
    given = argparse.Namespace(workload=[], wheelhouse=tmp_path, emulated=False, budget=60.0)
    made = Plan(tmp_path / "out", given, "abcdef0123456789", "/tools/compute-sanitizer")
    (tmp_path / "out" / "steps").mkdir(parents=True)
    outputs = {
        "list": {"x": ["cuda"], "y": ["cuda"]},
        "build x": [program("x.cuda", WORDS), program("x.broken_cuda", WORDS, WORDS, WORDS)],
        "build y": [program("y.cuda")],
    }
    for name, output in outputs.items():
        made.file(name, "out").write_text(json.dumps(output))
    return made


def taken(plan: Plan, outcomes: dict[str, str]) -> list[Step]:
    """Return all steps, where each ends as `outcomes` lists by its name, or passes."""
    results, every = Results(plan), []
    for step in plan.steps(results):
        every.append(step)
        results.keep(step, Result(step.key, outcomes.get(step.name, "passed")))
    return every


def test_the_constants_of_both_worlds_agree() -> None:
    assert gpu_plan.RECORD == gpu_programs.OUTPUT


def test_every_step_has_its_place_and_its_limit(plan: Plan) -> None:
    steps = taken(plan, {"check x.broken_cuda gcc 1 of 3": "accepted"})
    assert [step.name for step in steps] == [
        "environment", "list", "build x", "check x.cuda gcc 1 of 1", "check x.broken_cuda gcc 1 of 3",
        "check x.broken_cuda gcc 2 of 3", "build y", "measure", "memcheck x.cuda gcc", "racecheck x.cuda gcc",
    ]  # fmt: skip
    assert all(0 < step.limit <= 400 for step in steps)
    environment, check, measure, watched = (steps[k] for k in (0, 3, 7, 8))
    assert environment.words[-3:] == ("--offline", "--wheelhouse", str(plan.folder.parent))
    record = str(plan.file(check.name, "jsonl"))
    assert check.words == ("mpiexec", "-n", "2", "/store/x", "n=1", "--output", record)
    assert (check.key, check.environment) == ("1234", {"A": "1"})
    assert {"x.cuda", "y.cuda", "--standard", "--as"} <= set(measure.words) and "--resume" not in measure.words
    assert watched.words[:6] == ("mpiexec", "-n", "2", "/tools/compute-sanitizer", "--tool", "memcheck")
    assert watched.words[-4:-1] == ("/store/x", "n=1", "--output")


def test_a_run_that_was_begun_is_resumed(plan: Plan) -> None:
    begun = plan.folder / "results" / plan.run
    begun.mkdir(parents=True)
    (begun / "run.json").write_text("{}")
    words = plan.measure(["x.cuda"]).words
    assert plan.measure(["x.cuda"]).key != plan.measure(["y.cuda"]).key
    assert words[-2:] == ("--resume", plan.run) and "x.cuda" not in words


def test_only_the_named_workloads_are_taken(plan: Plan) -> None:
    plan.given.workload = ["y"]
    names = [step.name for step in taken(plan, {})]
    assert names == ["environment", "list", "build y", "measure"]
    plan.given.emulated = True
    assert [step.name for step in taken(plan, {})] == names[:-1]
    assert on_gpu.main(["nothing"]) == on_gpu.USAGE


def test_without_an_environment_nothing_follows(plan: Plan) -> None:
    assert [s.name for s in taken(plan, {"environment": "failed"})] == ["environment", "list"]
    assert "build y" in [s.name for s in taken(plan, {"build x": "failed"})]


CHECKS = '{"type": "check", "ok": true}\n'
WRONG = '{"type": "check", "ok": false, "what": "element 3 is 5"}\n'


@pytest.mark.parametrize(
    ("name", "status", "record", "outcome", "reason"),
    [
        ("check x.cuda gcc 1 of 1", 0, CHECKS, "passed", ""),
        ("check x.cuda gcc 1 of 1", 0, "", "failed", "a message"),
        ("check x.cuda gcc 1 of 1", 1, CHECKS + WRONG, "failed", "element 3 is 5"),
        ("check x.cuda gcc 1 of 1", -11, CHECKS, "failed", "a message"),
        ("check x.cuda gcc 1 of 1", 2, "", "refused", "a message"),
        ("check x.broken_cuda gcc 1 of 2", 1, WRONG, "passed", ""),
        ("check x.broken_cuda gcc 1 of 2", 0, CHECKS, "accepted", "its check accepts what is wrong"),
        ("check x.broken_cuda gcc 2 of 2", 0, CHECKS, "failed", "its check accepts what is wrong"),
        ("check x.broken_cuda gcc 2 of 2", -11, "", "failed", "its check accepts what is wrong"),
        ("memcheck x.cuda gcc", on_gpu.SANITIZER_FOUND, CHECKS, "failed", "ERROR SUMMARY: 2 errors"),
        ("racecheck x.cuda gcc", 0, CHECKS, "passed", ""),
    ],
)
def test_a_launch_is_judged_by_its_record(
    plan: Plan, name: str, status: int, record: str, outcome: str, reason: str
) -> None:
    step = Step(name, "", (), 1.0)
    plan.file(name, "jsonl").write_text(record)
    plan.file(name, "err").write_text("x.cuda: this variant of a message\n\n")
    plan.file(name, "log").write_text("========= ERROR SUMMARY: 2 errors\n")
    found, why = on_gpu.judge(plan, step, status)
    assert found == outcome and why.endswith(reason) and bool(why) == bool(reason)


def test_the_table_has_the_outcomes_and_the_share_of_the_ceiling(plan: Plan) -> None:
    steps = taken(plan, {"check x.broken_cuda gcc 1 of 3": "accepted", "racecheck x.cuda gcc": "failed"})
    common = {"workload": "x", "variant": "cuda", "metric": "bandwidth", "unit": "GB/s", "verdict": "verified"}
    figures = [
        common | {"parameters": {"n": 1}, "median": 2.5, "of_ceiling": 0.5, "reason": None},
        common | {"parameters": {"n": 8}, "median": 4.0, "of_ceiling": 0.8, "reason": None},
        common | {"parameters": {"n": 9}, "median": None, "of_ceiling": None, "reason": "late"},
    ]
    plan.file("figures", "out").write_text(json.dumps(figures))
    gpu_table.write_table(plan, Results(plan), steps)
    rows = [line.strip("| ").split(" | ") for line in (plan.folder / "table.md").read_text().splitlines()[2:]]
    assert [row[:6] for row in rows] == [
        ["x.broken_cuda gcc", "rejected", "-", "-", "not measured", "-"],
        ["x.cuda gcc", "verified", "verified", "failed", "4 GB/s (bandwidth, n=8)", "0.80"],
        ["y.cuda gcc", "not run", "-", "-", "not measured", "-"],
    ]


class Few(Plan):
    """Two steps of half a minute and one of no time."""

    def steps(self, results: Results) -> Iterator[Step]:
        yield Step("hang", "", ("sleep", "30"), 0.2)
        yield Step("list", "", ("true",), 20.0)
        yield Step("absent", "", (str(self.folder / "nothing"),), 20.0)
        yield Step("late", "", ("sleep", "30"), 20.0)


def test_a_step_ends_with_its_limit_and_all_with_the_time(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(on_gpu, "SHORTEST", 0.0)
    few = Few(plan.folder, plan.given, plan.sources, None)
    results = Results(few)
    steps, _ = on_gpu.run_steps(few, results, time.monotonic() + 3)
    found = [results.of(step) for step in steps]
    assert [r and r.outcome for r in found] == ["failed", "passed", "failed", None]
    assert found[0] and found[0].reason == "no end within 0 s" and found[2] and "cannot start" in found[2].reason
    assert "late ... cut: the time is up" in capsys.readouterr().out
    monkeypatch.setattr(on_gpu, "SHORTEST", 10.0)
    assert on_gpu.run_steps(few, results, time.monotonic() + 5) == (steps[:1], True)


@pytest.mark.parametrize("lacks", ["a GPU", "nvcc"])
def test_what_is_missing_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], lacks: str
) -> None:
    for name in ("g++", "nvcc") if lacks == "a GPU" else ("g++",):
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "none"))
    monkeypatch.setattr(on_gpu, "gpus", lambda: ["H200"] if lacks == "nvcc" else [])
    assert on_gpu.main(["--output", str(tmp_path / "out")]) == on_gpu.ENVIRONMENT
    line = capsys.readouterr().err
    assert line.startswith(f"on_gpu: this machine lacks {lacks}") and line.count("\n") == 1 and ";" not in line
    assert not (tmp_path / "out").exists()


FL = """#!/bin/sh
case $1 in figures) echo '[]' ;; esac
"""
LISTING = """import json, pathlib, sys
here = pathlib.Path(__file__).parent
words = [str(here / "program"), "--output", "/the/record.jsonl"]
one = {"broken": False, "sha256": "1", "error": "", "executable": words[0], "environment": {}}
if sys.argv[1] == "list":
    print(json.dumps({"a": ["emulated"], "b": ["emulated"]}))
else:
    name = sys.argv[2] + ".emulated"
    print(json.dumps([one | {"name": name + " gcc", "variant": name, "trials": [[words[0], sys.argv[2], *words[1:]]]}]))
"""
PROGRAM = """#!/bin/sh
cd "$(dirname "$0")/../.."
echo "$1 $$" >>launched
[ "$1" = b ] && [ ! -e free ] && exec sleep 300
echo '{"type": "check", "ok": true}' >"$3"
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return the script in a checkout of stand-ins: two workloads; the program of the second waits for a file."""
    root = tmp_path / "a checkout"
    (root / "tests" / "support").mkdir(parents=True)
    shutil.copy(ROOT / "tests/on_gpu.py", root / "tests")
    for name in ("gpu_plan.py", "gpu_table.py"):
        shutil.copy(ROOT / "tests/support" / name, root / "tests/support")
    (root / "pyproject.toml").touch()
    for name, text in (
        ("fl", FL),
        ("tests/support/gpu_programs.py", LISTING),
        ("tests/support/program", PROGRAM),
    ):
        (root / name).write_text(text)
        (root / name).chmod(stat.S_IRWXU)
    (root / ".fl/venv/bin").mkdir(parents=True)
    (root / ".fl/venv/bin/python").symlink_to(sys.executable)
    return root


def test_after_a_kill_the_next_call_repeats_only_what_had_not_ended(checkout: Path) -> None:
    words = [sys.executable, str(checkout / "tests/on_gpu.py"), "--emulated"]
    environment = {"PATH": os.environ["PATH"]}
    launched = checkout / "launched"
    first = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, cwd="/")
    turns.await_(lambda: launched.exists() and "b " in launched.read_text(), "the second program")
    child = int(launched.read_text().split()[-1])
    first.send_signal(signal.SIGKILL)
    first.wait()
    turns.await_(lambda: not Path(f"/proc/{child}").exists(), "the end of the second program")
    assert "a.emulated gcc | verified" in (checkout / "results/on_gpu/table.md").read_text()

    (launched.parent / "free").touch()
    second = subprocess.run(words, env=environment, capture_output=True, text=True, cwd="/", check=False)
    assert second.returncode == on_gpu.OK, second.stderr
    assert [line.split()[0] for line in launched.read_text().splitlines()] == ["a", "b", "b"]
    begun = [line.split(" ...")[0] for line in second.stdout.splitlines() if " ... " in line]
    assert begun == ["check b.emulated gcc 1 of 1", "measure"]
    assert "b.emulated gcc | verified" in second.stdout and "7 of 7 steps passed" in second.stdout

    third = subprocess.run(words, env=environment, capture_output=True, text=True, cwd="/", check=False)
    assert third.returncode == on_gpu.OK and " ... " not in third.stdout


def test_the_list_has_every_variant_for_devices() -> None:
    for workload in native.workloads.values():
        devices = {v.name for v in workload.variants if on_device(v.needs)}
        assert {v.name for v in gpu_programs.chosen(workload, emulated=False)} == devices
        emulating = {v.name for v in gpu_programs.chosen(workload, emulated=True)} - devices
        assert emulating == {v.name for v in workload.variants if "emulated" in v.name}
        assert not devices or all(gpu_programs.trials(workload, workload.variant(name)) for name in devices)
