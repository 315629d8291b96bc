"""`submit`: its requests, its refusals and its files. The batch system is a stand-in; other tests use a real one."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import pytest
from msgspec.structs import replace

from bench import Bench
from commands import Captured, call
from firstlight import runner
from firstlight.commands.shared import runs
from firstlight.core.errors import ENVIRONMENT, INCONCLUSIVE, OK, USAGE, UsageError
from firstlight.execute.launch.environment import compose
from firstlight.model.plan import EFFORT, Placement
from firstlight.results import store
from firstlight.results.store import documents
from firstlight.runner import resuming
from firstlight.runner.prepare import RunRequest
from firstlight.runner.progress import Plain
from firstlight.system import machine
from firstlight.system.batch import slurm


@pytest.fixture
def queue(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with an `sbatch` that runs the script immediately, and a `scontrol` that reports how it ended."""
    folder = bench.root / "bin"
    folder.mkdir()
    install(folder, "sbatch", "echo $# $2 >>sbatch.log; echo 77")
    install(folder, "scontrol", "echo JobId=77 JobState=FAILED ExitCode=1:0")
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr(
        "firstlight.system.batch.queue.shutil.which", lambda name: name if (folder / name).exists() else None
    )
    return folder


def install(folder: Path, name: str, body: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / name).chmod(0o755)


def test_a_dry_run_shows_the_script_and_leaves_nothing(queue: Path, capsys: Captured, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    options = ("--dry-run", "--nodes", "2", "--gpus", "4", "--as", "x")
    code, out, _ = call(capsys, "submit", *options, "dot.serial", "--toolchain", "gcc-*")
    assert code == OK and "#SBATCH --nodes=2\n" in out and "#SBATCH --gpus-per-node=4\n" in out
    seconds = f"{EFFORT['quick'].budget:.0f}s"
    words = f"run dot.serial --toolchain 'gcc-*' --as x --results {tmp_path}/results --budget {seconds}\n"
    assert out.endswith(words)
    assert f"run --resume {tmp_path}/results/x --results {tmp_path}/results\n" in out
    assert sorted(tmp_path.rglob("*")) == before


def test_a_job_is_submitted_once(queue: Path, capsys: Captured, tmp_path: Path) -> None:
    code, out, err = call(capsys, "submit", "--json", "--as", "x", "--", "--budget", "1m", "dot")
    job = json.loads(out)
    assert (code, job["job"], job["run"]) == (OK, "77", "x"), err
    folder = tmp_path / "results/jobs/x"
    assert sorted(p.name for p in folder.iterdir()) == ["job.json", "sbatch.log", "script.sh"]
    assert json.loads((folder / "job.json").read_text()) == job
    code, _, err = call(capsys, "submit", "--as", "x", "dot")
    assert code == USAGE and "x has already been submitted" in err and err.count("\n") == 1


@pytest.mark.parametrize(("more", "reader"), [((), "report"), (("--each-node",), "nodes")])
def test_the_command_that_shows_a_job_is_printed(
    more: tuple[str, ...], reader: str, queue: Path, capsys: Captured, tmp_path: Path
) -> None:
    code, out, err = call(capsys, "submit", "--nodes", "2", "--as", "x", *more, "dot")
    assert code == OK and f"when it has ended: ./fl {reader} {tmp_path}/results/x\n" in out, out + err


def test_a_job_that_is_refused_leaves_nothing(queue: Path, capsys: Captured, tmp_path: Path) -> None:
    install(queue, "sbatch", "echo 'error: Invalid account' >&2; exit 1")
    code, _, err = call(capsys, "submit", "--as", "x", "dot")
    assert (code, "Slurm did not accept the job: error: Invalid account" in err) == (ENVIRONMENT, True)
    assert list((tmp_path / "results/jobs").iterdir()) == []


NODES = """n1 debug* idle
n1 long idle
n2 debug* allocated~
n3 debug* down*
n4 debug* idle*
n5 debug* drained
n6 long mixed
"""


@pytest.mark.parametrize(
    ("partition", "good", "bad"),
    [
        ("", ("n1", "n2"), {"n3": "down*", "n4": "idle*", "n5": "drained"}),
        ("long", ("n1", "n6"), {}),
        ("debug,long", ("n1", "n2", "n6"), {"n3": "down*", "n4": "idle*", "n5": "drained"}),
        ("none", (), {}),
    ],
)
def test_the_nodes_of_a_partition_that_accept_jobs(partition: str, good: tuple[str, ...], bad: dict[str, str]) -> None:
    assert slurm.nodes(NODES, partition) == (good, bad)


def test_each_node_has_a_job_of_its_own_that_starts_when_it_is_idle(
    queue: Path, capsys: Captured, tmp_path: Path
) -> None:
    install(queue, "sinfo", f"printf '{NODES}'")
    words = ("submit", "--idle", "--as", "x", "--each-node", "--budget", "1m")
    code, out, err = call(capsys, *words[:4], "--dry-run", *words[4:])
    assert code == OK and "#SBATCH --nodelist=n1\n" in out and not (tmp_path / "results").exists()
    assert (
        "no job was submitted for 3 nodes in a state that accepts no jobs: n3 (down*), n4 (idle*) and n5 (drained)"
        in err
    )
    code, out, err = call(capsys, *words)
    assert code == OK and f"2 Slurm jobs in {tmp_path}/results/x; results: ./fl nodes" in out, err
    for name, host in (("node-001", "n1"), ("node-002", "n2")):
        script = (tmp_path / f"results/x/jobs/{name}/script.sh").read_text()
        assert f"#SBATCH --nodelist={host}\n" in script and "#SBATCH --nodes=1\n" in script
        assert f"run node --budget 1m --as {name} --results {tmp_path}/results/x --budget 60s\n" in script
        assert "each-node" not in script
    code, out, _ = call(capsys, "nodes", "x", "--json")
    found = json.loads(out)
    assert code == INCONCLUSIVE and found["hosts"] == ["n1", "n2"]
    assert found["missing"] == {"node-001": "not started", "node-002": "not started"}
    assert call(capsys, *words)[0] == USAGE


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--idle",), "--idle requires --each-node"),
        (("--idle", "--each-node", "--at-once", "2"), "omit --at-once"),
        (("--idle", "--nodes", "2", "--each-node"), "omit --nodes"),
        (("--idle", "--partition", "none", "--each-node"), "no node of the partition none accepts jobs"),
        (("--idle", "--system", "pbs", "--each-node"), "--idle is available under Slurm only, not under PBS"),
    ],
)
def test_what_cannot_start_when_nodes_are_idle_is_refused(
    queue: Path, capsys: Captured, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    install(queue, "sinfo", f"printf '{NODES}'")
    code, _, err = call(capsys, "submit", *words)
    assert (code, message in err, err.count("\n")) == (USAGE, True, 1), err
    assert not (tmp_path / "results").exists()


def test_jobs_that_were_submitted_before_one_is_refused_remain(queue: Path, capsys: Captured, tmp_path: Path) -> None:
    install(queue, "sinfo", f"printf '{NODES}'")
    install(queue, "sbatch", "case $2 in *node-002*) echo 'limit reached' >&2; exit 1;; esac; echo 77")
    code, _, err = call(capsys, "submit", "--idle", "--as", "x", "--each-node")
    assert code == ENVIRONMENT and "n2: Slurm did not accept the job: limit reached; 1 of 2 jobs submitted" in err
    assert [p.name for p in (tmp_path / "results/x/jobs").iterdir()] == ["node-001"]


def test_waiting_ends_with_the_status_of_the_job(queue: Path, capsys: Captured) -> None:
    code, _, err = call(capsys, "submit", "--wait", "dot")
    assert (code, "job 77: failed" in err) == (1, True)
    install(queue, "scontrol", "echo JobId=77 JobState=NODE_FAIL ExitCode=0:0")
    assert call(capsys, "submit", "--wait", "--as", "y", "dot")[0] == ENVIRONMENT


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--time", "5m"), "is too short"),
        (("--time", "nonsense"), "'nonsense' is not a time"),
        (("dott",), "no workload, variant or chapter named 'dott'"),
        (("--no-such-option",), "--no-such-option"),
        (("--budget", "x"), "'x' is not a budget"),
        (("--system", "nqs"), "no batch system named 'nqs'"),
        (("--as", "latest"), "cannot name a run"),
        (("--as", "a b"), "cannot name a run"),
        (("--as", "../x"), "cannot name a run"),
        (("--results", "a b"), "cannot use this path"),
        (("--", "--dry-run"), "must precede the options of run"),
        (("--resume", "nothing"), "no run named 'nothing'"),
    ],
)
def test_what_cannot_work_is_told_before_anything_is_submitted(
    queue: Path, capsys: Captured, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    code, _, err = call(capsys, "submit", *words)
    assert (code, message in err, err.count("\n")) == (USAGE, True, 1), err
    assert not (tmp_path / "results").exists()


def test_mpiexec_may_start_its_helpers_inside_of_a_job_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    assert "SLURM_OVERLAP" not in compose(Placement(), "x", {})
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert compose(Placement(), "x", {})["SLURM_OVERLAP"] == "1"


def test_a_set_up_line_that_fails_here_is_told(queue: Path, capsys: Captured, tmp_path: Path) -> None:
    code, _, err = call(capsys, "submit", "--setup", "false", "dot")
    assert (code, "a --setup line failed" in err) == (USAGE, True)
    assert not (tmp_path / "results").exists()


def test_a_run_has_the_name_that_was_asked_for_and_only_once(bench: Bench, capsys: Captured) -> None:
    assert call(capsys, "run", "--as", "mine", "--launches", "1")[0] == OK
    assert (bench.results / "mine" / "run.json").exists()
    code, _, err = call(capsys, "run", "--as", "mine")
    assert (code, "already exists" in err) == (USAGE, True)
    assert call(capsys, "run", "--as", "-x")[0] == USAGE
    assert call(capsys, "run", "--resume", "mine", "--as", "other")[0] == USAGE


def test_the_latest_run_is_the_latest_whatever_its_name(bench: Bench, capsys: Captured) -> None:
    for name in ("zebra", "20261121-000000-quick", "aardvark"):
        assert call(capsys, "run", "--as", name, "--launches", "1")[0] == OK
    with store.resume(bench.results / "zebra") as opened:
        opened.write_run(replace(opened.run(), started=1.0))
    assert runs.identifiers(bench.results)[0] == "zebra"
    later = replace(store.open(bench.results / "aardvark").run(), started=4e9)
    with store.resume(bench.results / "aardvark") as opened:
        opened.write_run(later)
    assert runs.find("latest").name == "aardvark"


def test_a_job_to_resume_a_run_takes_the_budget_that_is_left(bench: Bench, queue: Path, capsys: Captured) -> None:
    assert call(capsys, "run", "--as", "mine", "--launches", "1")[0] == OK
    with store.resume(bench.results / "mine") as opened:
        used = sum(record.exit.seconds for record in opened.records())
        opened.write_run(replace(opened.run(), budget=used + 50.2))
    _, out, _ = call(capsys, "submit", "--dry-run", "--resume", "mine")
    lines = {line.strip() for line in out.splitlines() if line.strip().startswith("exec ")}
    (line,) = lines
    assert "--resume" in line and "--as" not in line and line.endswith("--budget 50s")
    with store.resume(bench.results / "mine") as opened:
        opened.write_run(replace(opened.run(), budget=0.001))
    code, _, err = call(capsys, "submit", "--dry-run", "--resume", "mine")
    assert (code, "the budget of the run is used up; extend it with --budget" in err) == (USAGE, True)
    assert call(capsys, "submit", "--dry-run", "--resume", "mine", "--budget", "5m")[0] == OK


def test_a_run_goes_on_on_other_nodes_of_the_same_kind_in_a_batch_job_only(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress = Plain(open(os.devnull, "w"))  # noqa: SIM115, PTH123
    here = machine.discover()
    node = replace(here, batch="slurm", name="one")
    monkeypatch.setattr(machine, "discover", lambda: node)
    path = runner.run(RunRequest(results=bench.results, budget=0.01), progress).directory
    for other in (
        replace(node, name="other", batch=""),
        replace(node, name="other", processor="another"),
        replace(node, name="other", nodes=2),
    ):
        monkeypatch.setattr(machine, "discover", lambda other=other: other)
        with pytest.raises(UsageError, match="another machine"):
            runner.resume(path, progress, 1)
    monkeypatch.setattr(machine, "discover", lambda: replace(node, name="other"))
    runner.resume(path, progress, 1)
    runner.resume(path, progress, 1)
    assert [w for w in store.open(path).run().machine.warnings if "other nodes" in w] == [resuming.OTHER_NODES]


def test_a_job_keeps_the_files_that_settings_name(queue: Path, capsys: Captured, tmp_path: Path) -> None:
    """Until it starts, and where it runs, what becomes of the original does not matter."""
    (tmp_path / "mine.txt").write_text("mine")
    command = ("submit", "--as", "x", "dot", "n=50", "text=mine.txt,none", "--launches", "1")
    name = documents.of("mine.txt", b"mine").name
    kept = tmp_path / "results" / "jobs" / "x" / "documents" / name
    code, out, _ = call(capsys, "submit", "--dry-run", *command[1:])
    assert code == OK and f"run dot n=50 text={kept},none --launches 1 --as x" in out
    assert not (tmp_path / "results").exists()
    assert call(capsys, *command)[0] == OK
    assert kept.read_text() == "mine"
    (tmp_path / "mine.txt").write_text("another")
    script = shlex.split((tmp_path / "results/jobs/x/script.sh").read_text().rstrip().rpartition("\n")[2])
    code, _, err = call(capsys, *script[script.index("run") :])
    assert code == OK, err
    run = json.loads((tmp_path / "results" / "x" / "run.json").read_text())
    assert run["settings"] == {"dot": {"n": [50], "text": [name, "none"]}}
    code, _, err = call(capsys, "submit", "--", "--resume", "x", "n=50")
    assert (code, "a resumed run keeps its settings" in err) == (USAGE, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("dot", "text=./none.txt"), "text: ./none.txt: No such file or directory"),
        (("n=5",), "name the workload of this parameter"),
        (("dot", "n=,"), "lacks a value"),
        (("--results", "a,b", "dot", "text=./mine.txt"), "contains a comma"),
    ],
)
def test_settings_that_cannot_be_are_told_before_anything_is_submitted(
    queue: Path, capsys: Captured, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    code, _, err = call(capsys, "submit", *words)
    assert (code, message in err, err.count("\n")) == (USAGE, True, 1), err
    assert not (tmp_path / "results").exists()
