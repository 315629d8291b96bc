#!/usr/bin/env python3
"""Verify and measure every variant for GPUs on this machine, also without a network.

It builds all variants for devices, launches each at small sizes with its check, measures them with `./fl run`, and
launches them under compute-sanitizer. Each step has a time limit. What ended before is not repeated by the next call,
unless its sources changed; steps that failed are repeated.

On a machine with a network, a wheelhouse of 54 MiB:   ./fl setup --make-wheelhouse wheels --mpi mpich
On the machine with the GPU:                           python3 tests/on_gpu.py --wheelhouse wheels
Rehearsal without a GPU, with emulated devices:        python3 tests/on_gpu.py --emulated
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))

from gpu_plan import SANITIZER_FOUND, SANITIZERS, Plan, Result, Results, Step, digest  # noqa: E402
from gpu_table import write_table  # noqa: E402

OK, FAILED, USAGE, ENVIRONMENT, UNFINISHED, INTERRUPTED = 0, 1, 2, 3, 4, 130
EXIT_STATUS = """\
exit status:
  0    every variant was verified, and every wrong one was rejected
  1    a step failed
  2    wrong usage
  3    no GPU, no nvcc, nothing can be set up, or another call is at work
  4    the time was up before the last step; the next call continues
  130  interrupted; the next call continues
"""
SHORTEST = 10.0
"""Seconds that must be left for a step to begin."""
PATIENCE = 20.0
"""Seconds for a step to end after SIGINT, before it is killed."""


# --- what is missing ------------------------------------------------------------------------------------------------


def gpus() -> list[str]:
    """Return the names of the GPUs that NVIDIA's driver lists."""
    try:
        words = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        found = done.stdout.splitlines() if done.returncode == 0 else []
    except (OSError, subprocess.TimeoutExpired):
        found = []
    return found or [str(path.parent.name) for path in Path("/proc/driver/nvidia/gpus").glob("*/information")]


def search_path() -> str:
    """Return PATH, with the folder of the CUDA toolkit if its compiler is not on it."""
    path = os.environ.get("PATH") or "/usr/bin:/bin"
    if shutil.which("nvcc", path=path):
        return path
    return f"{path}:{os.environ.get('CUDA_HOME', '/usr/local/cuda')}/bin"


def missing(emulated: bool) -> list[str]:
    found = []
    if not emulated and not shutil.which("nvcc", path=search_path()):
        found.append("nvcc (install the CUDA toolkit, or set CUDA_HOME to its folder)")
    if not any(shutil.which(name) for name in ("g++", "clang++", "c++")):
        found.append("a C++ compiler")
    if not emulated and not gpus():
        found.append("a GPU (--emulated rehearses all steps without one)")
    return found


# --- one step -------------------------------------------------------------------------------------------------------


def execute(plan: Plan, step: Step, limit: float) -> Result | None:
    """Run a step; None if it did not end in time."""
    for kind in ("jsonl", "log"):
        plan.file(step.name, kind).unlink(missing_ok=True)
    plan.file(step.name, "out").parent.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    environment = os.environ | {"PATH": search_path()} | step.environment
    with plan.file(step.name, "out").open("wb") as out, plan.file(step.name, "err").open("wb") as err:
        try:
            child = subprocess.Popen(
                step.words, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                start_new_session=True, preexec_fn=prepare,
            )  # fmt: skip
        except OSError as error:
            return Result(step.key, "failed", f"cannot start {step.words[0]}: {error.strerror}")
        try:
            status = child.wait(limit)
        except subprocess.TimeoutExpired:
            return None
        finally:
            end(child)
    outcome, reason = judge(plan, step, status)
    return Result(step.key, outcome, reason, round(time.monotonic() - begun, 2))


def prepare() -> None:
    """Let the kernel end this process with its parent, however that ends (Linux), and let SIGINT reach it."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def end(child: subprocess.Popen[bytes]) -> None:
    """End a step and all that it started; `./fl run` writes its report first."""
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(PATIENCE)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def judge(plan: Plan, step: Step, status: int) -> tuple[str, str]:
    kind = step.name.partition(" ")[0]
    if kind in ("check", *SANITIZERS):
        return of_launch(plan, step, status)
    fine = (0, 1, 4) if kind == "measure" else (0,)
    return ("passed", "") if status in fine else ("failed", last_line(plan.file(step.name, "err")) or f"exit {status}")


def of_launch(plan: Plan, step: Step, status: int) -> tuple[str, str]:
    """Return the outcome of a program's launch by its record: every check passed, or one failed if the variant is
    wrong.
    """
    broken = ".broken_" in step.name
    if status == SANITIZER_FOUND:
        return "failed", last_line(plan.file(step.name, "log")) or "compute-sanitizer reports an error"
    if status == 2:
        return "refused", last_line(plan.file(step.name, "err")).rpartition(": this variant of ")[2]
    checks = [line for line in lines(plan.file(step.name, "jsonl")) if line.get("type") == "check"]
    wrong = [check for check in checks if not check.get("ok")]
    if broken:
        number, _, count = step.name.rpartition(" of ")
        last = number.rpartition(" ")[2] == count
        accepted = ("failed" if last else "accepted", "its check accepts what is wrong")
        return ("passed", "") if status == 1 and wrong else accepted
    if status == 0 and checks and not wrong:
        return "passed", ""
    reason = str(wrong[0].get("what", "")) if wrong else last_line(plan.file(step.name, "err"))
    return "failed", reason or f"exit {status}, {len(checks)} checks"


def lines(path: Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in path.read_bytes().splitlines()]
    except (OSError, ValueError):
        return []


def last_line(path: Path) -> str:
    try:
        every = path.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.strip() for line in reversed(every) if line.strip()), "")


# --- all steps ------------------------------------------------------------------------------------------------------


def run_steps(plan: Plan, results: Results, until: float) -> tuple[list[Step], bool]:
    """Run what has not passed; return the steps that are known, and whether the time was up."""
    known = []
    for step in plan.steps(results):
        known.append(step)
        if results.done(step):
            continue
        left = until - time.monotonic()
        if left < SHORTEST:
            return known, True
        limit = min(step.limit, left)
        print(f"{step.name} ...", end=" ", flush=True)
        result = execute(plan, step, limit)
        if result is None and limit < step.limit:
            print("cut: the time is up", flush=True)
        else:
            result = result or Result(step.key, "failed", f"no end within {step.limit:.0f} s", step.limit)
            results.keep(step, result)
            print(f"{result.outcome}, {result.seconds:.1f} s {result.reason}".rstrip(), flush=True)
        if step.name == "measure":
            execute(plan, plan.figures(), 120.0)
        write_table(plan, results, known)
    return known, False


# --- the command ----------------------------------------------------------------------------------------------------


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXIT_STATUS, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("workload", nargs="*", metavar="WORKLOAD", help="only these workloads; all if not given")
    parser.add_argument("--wheelhouse", type=Path, metavar="DIR", help="install only from these wheels")
    parser.add_argument("--output", type=Path, default=ROOT / "results/on_gpu", metavar="DIR", help="table and results")
    parser.add_argument("--time", type=float, default=570, metavar="S", help="end after so many seconds (570)")
    parser.add_argument("--budget", type=float, default=180, metavar="S", help="seconds for measuring (180)")
    parser.add_argument("--emulated", action="store_true", help="rehearse: processors emulate the devices")
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    given, begun = arguments(words), time.monotonic()
    if given.wheelhouse and not given.wheelhouse.is_dir():
        print(f"on_gpu: there is no folder {given.wheelhouse}", file=sys.stderr)
        return USAGE
    if unknown := [name for name in given.workload if not [*ROOT.glob(f"workloads/*/{name}/workload.toml")]]:
        print(f"on_gpu: there is no workload {', '.join(unknown)}", file=sys.stderr)
        return USAGE
    if lacking := missing(given.emulated):
        print(f"on_gpu: this machine lacks {'; '.join(lacking)}", file=sys.stderr)
        return ENVIRONMENT
    folder = given.output.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    lock = (folder / "lock").open("w")  # until this process ends
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        print(f"on_gpu: another call is at work in {folder}", file=sys.stderr)
        return ENVIRONMENT
    sanitizer = None if given.emulated else shutil.which("compute-sanitizer", path=search_path())
    plan = Plan(folder, given, digest(), sanitizer)
    results = Results(plan)
    for number in (signal.SIGINT, signal.SIGTERM):  # shells ignore SIGINT for background processes
        signal.signal(number, signal.default_int_handler)
    try:
        known, cut = run_steps(plan, results, begun + given.time)
    except KeyboardInterrupt:
        print("\non_gpu: interrupted; the next call continues", file=sys.stderr)
        return INTERRUPTED
    write_table(plan, results, known)
    print((folder / "table.md").read_text(), end="")
    if not sanitizer:
        print("compute-sanitizer was not used: " + ("emulated devices" if given.emulated else "it is not installed"))
    failed = [step.name for step in known if not results.done(step)]
    print(f"{len(known) - len(failed)} of {len(known)} steps passed; {folder}/table.md, {folder}/results")
    failed += [row["variant"] for row in plan.output(plan.figures()) if row["verdict"] == "failed"]
    if cut:
        print("on_gpu: the time is up; the next call continues", file=sys.stderr)
        return UNFINISHED
    if failed and failed[0] == "environment":
        return ENVIRONMENT
    return FAILED if failed else OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
