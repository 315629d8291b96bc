"""Health: a run against limits, the accepted run and similar machines: red for a slow one, green for equal ones."""

from __future__ import annotations

import json
import math
import os
import random
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

import invented_run
import many_runs
import synthetic_machine
from commands import Captured, call
from firstlight import ROOT, runner
from firstlight.commands.health.checks import BAD, UNCLEAR
from firstlight.core.errors import ENVIRONMENT, INCONCLUSIVE, INTERRUPTED, OK, REGRESSION, USAGE

LATENCY = "memory latency, huge pages if offered"
ONLY = ("latency", "stream", "peak")


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("FIRSTLIGHT_CACHE", str(place))
    monkeypatch.setenv("FIRSTLIGHT_SITE", "")
    yield place


def run(folder: Path, name: str, seed: int, slower: float = 1.0, machine: str = "", drift: float = 0.0) -> Path:
    """Write a run. `slower`: a factor on the times of latency; `drift`: the deviation of the machine's level."""
    here, draw, level = synthetic_machine.machine(), random.Random(seed), 0.0
    tools = synthetic_machine.toolbox()
    gcc = tuple(t for t in tools.toolchains if t.name == "gcc-native")
    scene = invented_run.run(here, seed=seed, names=ONLY, toolbox=replace(tools, toolchains=gcc))
    programs = {cell.id: cell.program.workload for cell in scene.run.cells}
    records = []
    for record in scene.records:
        level = 0.95 * level + draw.gauss(0, drift * math.sqrt(1 - 0.95**2))
        by = math.exp(level) * (slower if programs[record.start.cell] == "latency" else 1.0)
        samples = tuple(replace(s, wall=s.wall * by) for s in record.samples)
        start = replace(record.start, time=scene.run.started + 8.0 * record.start.launch)
        records.append(replace(record, start=start, samples=samples))
    who = replace(here, name=machine or here.name)
    return many_runs.write(scene, folder, name, time.time() - 3600 + seed, records, machine=who)


def health(capsys: Captured, folder: Path, name: str, *words: str) -> tuple[int, dict[str, object]]:
    code, out, _ = call(capsys, "health", "--run", name, "--results", str(folder), "--json", *words)
    return code, json.loads(out)


def bad(found: Mapping[str, object], grade: str = BAD) -> list[str]:
    return [check["title"] for check in found["checks"] if check["grade"] == grade]  # type: ignore[attr-defined]


def accept(capsys: Captured, folder: Path, name: str) -> None:
    assert call(capsys, "history", str(folder), "--accept", name)[0] == OK


def test_a_slower_node_is_red_and_an_equal_one_green(tmp_path: Path, capsys: Captured) -> None:
    run(tmp_path, "first", 1)
    accept(capsys, tmp_path, "first")
    run(tmp_path, "equal", 2)
    run(tmp_path, "slow", 3, 1.4)
    code, found = health(capsys, tmp_path, "equal")
    assert (code, bad(found), found["accepted"]) == (OK, [], "first")
    code, found = health(capsys, tmp_path, "slow")
    assert code == REGRESSION and LATENCY in bad(found)
    assert all("latency" in title for title in bad(found))
    code, out, _ = call(capsys, "health", "--run", "slow", "--results", str(tmp_path))
    assert code == REGRESSION and "not healthy" in out.splitlines()[0]
    assert re.search(rf"✗ {LATENCY}: \d+ ns, 1\.\d+ × the accepted run's \d+ ns", " ".join(out.split()))


@pytest.mark.full
def test_forty_equal_runs_are_never_red(tmp_path: Path, capsys: Captured) -> None:
    """Levels that move by 2 % between launches, as those of a machine do."""
    run(tmp_path, "first", 1000, drift=0.02)
    accept(capsys, tmp_path, "first")
    for seed in range(40):
        run(tmp_path, f"run-{seed}", seed, drift=0.02)
        code, found = health(capsys, tmp_path, f"run-{seed}")
        assert code in (OK, INCONCLUSIVE) and not bad(found), found


def test_the_slow_one_of_similar_machines_is_red(tmp_path: Path, capsys: Captured) -> None:
    for k in range(5):
        run(tmp_path, f"node-{k}", k + 1, machine=f"node{k:010d}")
    run(tmp_path, "slow", 9, 1.4)
    code, found = health(capsys, tmp_path, "slow")
    assert code == REGRESSION and found["similar"] == 5 and LATENCY in bad(found)
    code, found = health(capsys, tmp_path, "node-2")
    assert (code, bad(found)) == (OK, [])


def test_fewer_than_four_machines_name_none(tmp_path: Path, capsys: Captured) -> None:
    for k in range(2):
        run(tmp_path, f"node-{k}", k + 1, machine=f"node{k:010d}")
    run(tmp_path, "slow", 9, 1.4)
    assert health(capsys, tmp_path, "slow")[0] == INCONCLUSIVE  # no limit and no run to compare with


@pytest.mark.parametrize(("limit", "code"), [("30 ns", REGRESSION), ("900 ns", OK), ("0.9 us", OK)])
def test_a_limit_of_the_site_file_decides(limit: str, code: int, tmp_path: Path, capsys: Captured) -> None:
    site = tmp_path / "site.toml"
    site.write_text(f'[limits]\n"{LATENCY}" = "{limit}"\n')
    run(tmp_path / "results", "one", 1)
    words = ("health", "--run", "one", "--results", str(tmp_path / "results"))
    status, out, _ = call(capsys, "--site-file", str(site), *words)
    assert status == code and ("limit" in out)
    assert (f"{LATENCY}: " in out) == (code == REGRESSION)


def test_a_limit_without_a_measurement_is_unclear(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site.toml"
    site.write_text('[limits]\n"message latency, empty, 2 ranks" = "1 us"\n')
    monkeypatch.setenv("FIRSTLIGHT_SITE", str(site))
    run(tmp_path / "results", "one", 1)
    code, found = health(capsys, tmp_path / "results", "one")
    assert code == INCONCLUSIVE and bad(found, UNCLEAR) == ["message latency, empty, 2 ranks"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('"memory latenzy, huge pages if offered" = "90 ns"', "did you mean 'memory latency, huge pages if offered'?"),
        (f'"{LATENCY}" = "90 GB/s"', "is measured in ns, not in GB/s"),
        (f'"{LATENCY}" = "fast"', "is not a number with a unit; write a value such as 180 GB/s"),
        (f'"{LATENCY}" = 90', "limits"),
    ],
)
def test_wrong_limits_are_one_line(line: str, message: str, tmp_path: Path, capsys: Captured) -> None:
    site = tmp_path / "site.toml"
    site.write_text(f"[limits]\n{line}\n")
    run(tmp_path / "results", "one", 1)
    words = ("health", "--run", "one", "--results", str(tmp_path / "results"))
    code, _, err = call(capsys, "--site-file", str(site), *words)
    assert code == USAGE and message in err.splitlines()[-1]


def test_accepting_needs_a_healthy_run(tmp_path: Path, capsys: Captured) -> None:
    run(tmp_path, "first", 1)
    run(tmp_path, "slow", 3, 1.4)
    code, out, err = call(capsys, "health", "--run", "first", "--accept", "--results", str(tmp_path))
    assert code == INCONCLUSIVE and "no limit" in out and "first is accepted" in err
    code, _, err = call(capsys, "health", "--run", "slow", "--accept", "--results", str(tmp_path))
    assert code == REGRESSION and "not accepted" in err
    assert health(capsys, tmp_path, "slow")[1]["accepted"] == "first"


def test_a_disturbed_run_is_inconclusive(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path, "first", 1)
    accept(capsys, tmp_path, "first")
    run(tmp_path, "slow", 3, 1.4)
    monkeypatch.setattr("firstlight.analysis.disturbance.DISTURBED", 0.0)
    code, out, _ = call(capsys, "health", "--run", "slow", "--results", str(tmp_path))
    assert code == INCONCLUSIVE and "wall and CPU time diverged" in out


def test_openmetrics_has_the_status_and_every_row(tmp_path: Path, capsys: Captured) -> None:
    run(tmp_path, "one", 1)
    file = tmp_path / "health.prom"
    code, _, _ = call(capsys, "health", "--run", "one", "--results", str(tmp_path), "--openmetrics", str(file))
    lines = file.read_text().splitlines()
    assert code == INCONCLUSIVE and lines[-1] == "# EOF"
    samples = [line for line in lines if not line.startswith("#")]
    pattern = re.compile(r'[a-z_]+\{([a-z]+="([^"\\\n]|\\.)*",?)+\} [-+0-9.e]+')
    assert all(pattern.fullmatch(line) for line in samples)
    assert samples[0].startswith("firstlight_health{") and samples[0].endswith(" 4")
    assert sum(line.startswith("firstlight_row{") for line in samples) == len(
        health(capsys, tmp_path, "one")[1]["checks"]
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--run", "nothing"), "no run named"),
        (("dot", "--run", "one"), "leave out the workloads"),
        (("--budget", "soon"), "is not a budget"),
        (("--openmetrics", "no/such/folder/x"), "there is no folder"),
    ],
)
def test_wrong_usage_is_one_line(words: tuple[str, ...], message: str, tmp_path: Path, capsys: Captured) -> None:
    run(tmp_path, "one", 1)
    code, _, err = call(capsys, "health", "--results", str(tmp_path), *words)
    assert code == USAGE and message in err and len(err.strip().splitlines()) == 1


def test_the_slurm_script_drains_the_node_that_is_not_healthy(tmp_path: Path) -> None:
    tools = {
        "sinfo": "printf 'n1\\nn2\\nn2\\nn3\\n'",
        "squeue": 'case "$*" in *n3*) echo 7 ;; esac',
        "sbatch": 'for word; do case "$word" in --nodelist=*) export SLURMD_NODENAME="${word#*=}";; '
        '--output=*) out="${word#*=}";; esac; done\n'
        'sh > "$(printf %s "$out" | sed "s/%N/$SLURMD_NODENAME/")" || true',
        "scontrol": f'printf "%s\\n" "$*" >> {tmp_path}/drained',
        "firstlight": '[ "$SLURMD_NODENAME" = n2 ] || exit 0; printf "x: not healthy\\n  ✗ memory: 1 GB/s\\n"; exit 1',
    }
    for name, body in tools.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    script = ROOT / "contrib/health/slurm-check.sh"
    subprocess.run(["sh", script, "batch", tmp_path], env={"PATH": path}, check=True)
    assert not (tmp_path / "drained").exists() and not (tmp_path / "health-n3.txt").exists()
    subprocess.run(["sh", script, "batch", tmp_path], env={"PATH": path, "DRAIN": "yes"}, check=True)
    drained = (tmp_path / "drained").read_text().splitlines()
    assert drained == ["update NodeName=n2 State=drain Reason=firstlight: memory: 1 GB/s"]


def test_the_line_of_cron_prints_only_what_is_not_healthy(tmp_path: Path) -> None:
    (line,) = (x for x in (ROOT / "contrib/health/crontab").read_text().splitlines() if not x.startswith("#"))
    command = line.split(maxsplit=5)[5].replace("\\%", "%").replace("/var/lib/firstlight", str(tmp_path))
    command = command.replace("/usr/local/bin", str(tmp_path))
    for status in (0, 1, 3, 4):
        (tmp_path / "firstlight").write_text(f"#!/bin/sh\necho verdict\nexit {status}\n")
        (tmp_path / "firstlight").chmod(0o755)
        path = f"{tmp_path}:{os.environ['PATH']}"
        done = subprocess.run(["sh", "-c", command], env={"PATH": path}, capture_output=True, text=True)
        assert done.stdout == ("" if status in (0, 4) else "verdict\n")


def without_programs(monkeypatch: pytest.MonkeyPatch, ends: int) -> list[str]:
    """Let the run end with that status, and return the names of what was called."""
    called: list[str] = []
    toolbox = synthetic_machine.toolbox()

    def run(*_: object) -> SimpleNamespace:
        called.append("run")
        return SimpleNamespace(code=ends, directory=Path("gone"), missing="", line="the disk is full")

    monkeypatch.setattr(runner, "discover", lambda progress: (synthetic_machine.machine(), toolbox))
    monkeypatch.setattr(runner, "run", run)
    monkeypatch.setattr(runner, "resume", run)
    return called


@pytest.mark.parametrize(("ends", "message"), [(INTERRUPTED, "interrupted"), (ENVIRONMENT, "the disk is full")])
def test_a_run_that_was_stopped_is_not_judged(
    ends: int, message: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = without_programs(monkeypatch, ends)
    code, out, err = call(capsys, "health", "--results", str(tmp_path))
    assert (code, called, out) == (ends, ["run"], "") and message in err


def test_a_wrong_limit_is_reported_before_anything_is_measured(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = without_programs(monkeypatch, OK)
    site = tmp_path / "site.toml"
    site.write_text('[limits]\n"memory latenzy" = "90 ns"\n')
    code, _, err = call(capsys, "--site-file", str(site), "health", "--results", str(tmp_path))
    assert code == USAGE and "memory latenzy" in err and not called
