"""On a real Slurm, a run submitted as a job has the same results as a local one, and survives the faults of jobs."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

import module_tree
import slurm
import turns
from firstlight import ROOT
from firstlight.results import store
from firstlight.results.record import LaunchRecord, Run
from real_calls import MEASURED
from slurm import Cluster

REASON = slurm.why_not()
pytestmark = [
    pytest.mark.native,
    pytest.mark.faults,
    pytest.mark.patient,
    pytest.mark.full,
    pytest.mark.skipif(bool(REASON), reason=f"no Slurm can be started: {REASON}"),
]
CACHE = Path(os.environ.get("FIRSTLIGHT_CACHE", ROOT / ".fl")).absolute()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("slurm")) as started:
        yield started


def variables(cluster: Cluster) -> dict[str, str]:
    paths = {"PYTHONPATH": str(ROOT / "src"), "FIRSTLIGHT_CACHE": str(CACHE)}
    return os.environ | paths | {"FIRSTLIGHT_WORKLOADS": str(ROOT / "tests/support/workloads")} | cluster.environment


def firstlight(
    cluster: Cluster, folder: Path, *words: str, own: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "firstlight", *words]
    own = own or variables(cluster)
    return subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, timeout=turns.PATIENCE)


def until(ready: Callable[[], object], what: str, seconds: float = turns.PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline, f"after {seconds:g} s still not: {what}"
        time.sleep(0.2)


def records(path: Path) -> tuple[Run, list[LaunchRecord]]:
    opened = store.open(path)
    return opened.run(), list(opened.records())


def launched(path: Path, least: int) -> bool:
    return (path / "run.json").exists() and len(store.open(path).launches()) >= least


def test_a_job_measures_as_a_local_run_does(cluster: Cluster, tmp_path: Path) -> None:
    words = ("--setup-time", "30m", "--as", "first", "faulty.good", "faulty.mpi_good", "--toolchain", "gcc-base")
    done = firstlight(cluster, tmp_path, "submit", "--wait", *words, "--launches", "2", "--budget", "40s")
    output = (tmp_path / "results/jobs/first/output.txt").read_text()
    assert done.returncode in MEASURED, done.stderr + output
    run, launches = records(tmp_path / "results/first")
    assert (run.id, run.machine.batch, run.machine.nodes) == ("first", "slurm", 1)
    assert run.state in ("complete", "budget")
    starters = {m.name: m.starter for m in run.toolbox.mpis}
    for record in launches:
        assert record.exit.ok, record.exit
        mpi = next(c for c in run.cells if c.id == record.start.cell).program.mpi
        if mpi is None:
            continue
        assert (Path(record.start.command[0]).name == "srun") == bool(starters[mpi])
        assert len(record.launch.binding) == 2
        if (os.cpu_count() or 1) > 1 and starters[mpi]:
            bound = [set(b.cpus) for b in record.launch.binding]
            assert not bound[0] & bound[1], "two ranks share a processor"
    assert any(starters.values()), f"srun starts no MPI library here: {run.not_available}"
    shown = firstlight(cluster, tmp_path, "figures", "first", "--json")
    assert {row["verdict"] for row in json.loads(shown.stdout)} == {"verified"}
    twice = firstlight(cluster, tmp_path, "submit", *words)
    assert (twice.returncode, "already exists" in twice.stderr) == (2, True)


@pytest.mark.skipif(not module_tree.HERE, reason=module_tree.ABSENT)
def test_a_job_loads_the_modules_that_were_asked_for(cluster: Cluster, tmp_path: Path) -> None:
    """On its nodes: whose compiler built, and what run.json keeps of it."""
    compiler = module_tree.make(tmp_path)
    (tmp_path / "site.toml").write_text("[toolchains.new]\nmodules = ['trial/13.1']\n")
    own = module_tree.environment(tmp_path, variables(cluster))
    words = (
        "--site-file",
        "site.toml",
        "--modules",
        "new",
        "submit",
        "--wait",
        "--setup-time",
        "30m",
        "--as",
        "modular",
    )
    request = ("faulty.good", "--toolchain", "gcc-base", "--launches", "1", "--budget", "40s")
    done = firstlight(cluster, tmp_path, *words, *request, own=own)
    output = (tmp_path / "results/jobs/modular/output.txt").read_text()
    assert done.returncode in MEASURED, done.stderr + output
    run, launches = records(tmp_path / "results/modular")
    assert run.machine.batch == "slurm" and launches and all(record.exit.ok for record in launches)
    assert run.modules is not None and (run.modules.toolchain, list(run.modules.modules)) == ("new", ["trial/13.1"])
    assert {t.cxx for t in run.toolbox.toolchains if t.name == "gcc-base"} == {str(compiler)}
    wrong = ("--modules", "trial/2", "submit", "--wait", "--as", "none", *request)
    refused = firstlight(cluster, tmp_path, *wrong, own=own)
    assert refused.returncode == 2 and "trial/2" in refused.stderr


def test_two_nodes(cluster: Cluster, tmp_path: Path) -> None:
    """Both are this host, which Open MPI's shared memory does not survive: MPICH shows that ranks are spread."""
    words = ("--nodes", "2", "--setup-time", "30m", "--as", "wide", "faulty.mpi_good", "--toolchain", "gcc-base")
    words += ("--mpi", "mpich", "--placement", "2x1x1", "--placement", "2x2x1", "--launches", "1", "--budget", "40s")
    done = firstlight(cluster, tmp_path, "submit", "--wait", *words)
    output = (tmp_path / "results/jobs/wide/output.txt").read_text()
    if "no MPI library matches" in output:
        pytest.skip("no MPICH here")
    assert done.returncode in MEASURED, done.stderr + output
    run, launches = records(tmp_path / "results/wide")
    assert run.machine.nodes == 2
    assert sorted(record.launch.ranks for record in launches) == [2, 4]
    for record in launches:
        assert record.exit.ok and record.launch.nodes == 2, record.exit
        half = record.launch.ranks // 2
        assert [b.node for b in record.launch.binding] == [0] * half + [1] * half
        assert Path(record.start.command[0]).name == "srun" and "--nodes=2" in record.start.command


NODES = """
#include <mpi.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
int main(int n, char** v) {
  MPI_Init(&n, &v);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char mine[64] = "", all[64 * 64] = "";
  if (const char* node = std::getenv("SLURMD_NODENAME")) std::strncpy(mine, node, 63);
  MPI_Gather(mine, 64, MPI_CHAR, all, 64, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int k = 0; rank == 0 && k < size; ++k) std::printf(" %s", all + 64 * k);
  MPI_Finalize();
}
"""


def test_a_user_s_program_runs_on_the_nodes_of_the_job(cluster: Cluster, tmp_path: Path) -> None:
    """Launched by firstlight where `mpiexec -n {ranks}` is typed, and by a user's own srun as it is."""
    (tmp_path / "nodes.cpp").write_text(NODES)
    bench = f"{shlex.quote(sys.executable)} -m firstlight bench --launches 1 --budget 30s"
    kept = shlex.quote(str(tmp_path / "nodes"))
    lines = (
        f"{bench} --as ours --toolchain gcc-base --mpi mpich --build '{{mpicxx}} nodes.cpp -o nodes; cp nodes {kept}' "
        '--placement 2x1x1 --placement 2x2x1 --check \'test "$(cat {out})" = "$(cat {ranks}.txt)"\' '
        "-- mpiexec -n {ranks} ./nodes",
        f"{bench} --as theirs --expect ' n1 n2' -- srun --mpi=pmi2 --overlap --nodes=2 --ntasks=2 {kept}",
    )
    (tmp_path / "2.txt").write_text(" n1 n2")
    (tmp_path / "4.txt").write_text(" n1 n1 n2 n2")
    script = tmp_path / "job.sh"
    script.write_text("\n".join(["#!/bin/bash", "#SBATCH --nodes=2 --exclusive --output=output.txt", *lines, ""]))
    words = ["sbatch", "--parsable", str(script)]
    sent = subprocess.run(words, cwd=tmp_path, env=variables(cluster), capture_output=True, text=True, timeout=60)
    ended(cluster, sent.stdout.strip())
    output = (tmp_path / "output.txt").read_text()
    if "no MPI library matches" in output:
        pytest.skip("no MPICH here")
    run, launches = records(tmp_path / "results/ours")
    assert run.machine.nodes == 2 and len(launches) == 2, output
    for record in launches:
        assert record.exit.ok and record.launch.nodes == 2, output
        after = record.start.command[record.start.command.index("--", 3) :]
        assert Path(after[1]).name == "srun" and "--nodes=2" in after
    for name, figures in (("ours", 2), ("theirs", 1)):
        shown = json.loads(firstlight(cluster, tmp_path, "figures", name, "--json").stdout)
        assert {row["verdict"] for row in shown} == {"verified"}, output
        assert sum(row["metric"] == "time" for row in shown) == figures


@pytest.fixture
def running(cluster: Cluster, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Start a job and wait until it launches programs; return its name, and the directory of its run."""
    words = ("--setup-time", "30m", "--as", "long", "faulty.good", "--toolchain", "gcc-base", "--launches", "1000")
    sent = firstlight(cluster, tmp_path, "submit", "--json", *words, "--budget", "10m")
    assert sent.returncode == 0, sent.stderr
    job, path = json.loads(sent.stdout)["job"], tmp_path / "results" / "long"
    again = firstlight(cluster, tmp_path, "submit", *words)
    assert (again.returncode, "already been submitted" in again.stderr or "already exists" in again.stderr) == (2, True)
    try:
        until(lambda: launched(path, 3), "three launches")
        yield job, path
    finally:
        cluster("scancel", job)
        until(lambda: cluster.state(job) not in ("RUNNING", "PENDING", "COMPLETING"), "the end of the job")


def readable_and_resumable(cluster: Cluster, path: Path, state: str) -> None:
    """Check that the run has a state, can be reported, and continues."""
    run, before = records(path)
    assert run.state == state
    assert all(record.exit.ok for record in before), "the end of a job is not a failure of its programs"
    folder = path.parent.parent
    assert firstlight(cluster, folder, "report", "long").returncode == 0
    done = firstlight(cluster, folder, "run", "--resume", "long", "--budget", "2s")
    assert done.returncode in MEASURED, done.stderr
    run, after = records(path)
    assert len(after) > len(before) and run.state in ("budget", "complete")
    assert store.check(path) == []


def ended(cluster: Cluster, job: str) -> None:
    until(lambda: cluster.state(job) not in ("RUNNING", "PENDING", "COMPLETING"), "the end of the job")


def test_a_cancelled_job(cluster: Cluster, running: tuple[str, Path]) -> None:
    job, path = running
    cluster("scancel", job)
    ended(cluster, job)
    until(lambda: not (path / "owner").exists(), "the report of what is there")
    assert (path / "report.html").exists()
    readable_and_resumable(cluster, path, "interrupted")


def test_a_job_that_is_warned_of_its_time_limit(cluster: Cluster, running: tuple[str, Path]) -> None:
    job, path = running
    assert "--signal=B:TERM@120" in (path.parent / "jobs/long/script.sh").read_text()
    cluster("scancel", "--batch", "--signal=TERM", job)  # what --signal=B:TERM does
    ended(cluster, job)
    shown = cluster("scontrol", "--oneliner", "show", "job", job).stdout
    assert "ExitCode=130:0" in shown
    readable_and_resumable(cluster, path, "interrupted")


def test_a_requeued_job_resumes_its_run(cluster: Cluster, running: tuple[str, Path]) -> None:
    job, path = running
    before = len(records(path)[1])
    cluster("scontrol", "requeue", job)
    until(lambda: cluster.state(job) == "PENDING", "the job waits again")
    assert records(path)[0].state == "interrupted"
    before = len(records(path)[1])
    cluster("scontrol", "update", f"JobId={job}", "StartTime=now")
    until(lambda: len(store.open(path).launches()) > before, "launches of the second start")
    output = (path.parent / "jobs/long/output.txt").read_text()
    cluster("scancel", job)
    ended(cluster, job)
    until(lambda: not (path / "owner").exists(), "the report of what is there")
    assert "internal error" not in output
    readable_and_resumable(cluster, path, "interrupted")


def test_a_job_that_is_lost_with_its_node(cluster: Cluster, running: tuple[str, Path]) -> None:
    job, path = running
    owner = json.loads((path / "owner").read_text())
    os.kill(owner["pid"], signal.SIGKILL)
    ended(cluster, job)
    assert (path / "owner").exists()
    readable_and_resumable(cluster, path, "running")


HANGING = """
import json, os, sys
from pathlib import Path
from msgspec.structs import replace
from firstlight import toolchain
from firstlight.execute import launch
from firstlight.system import machine
from firstlight.execute.launch.srun import STEP, _steps
from firstlight.model.plan import Cell, Placement, Program
here = machine.discover()
tools = toolchain.discover(here, machine.cache_directory(), embed_mpi=False)
report = {}
for mpi in tools.mpis:
    if not mpi.starter:
        continue
    cell = Cell("dot.hang", Program("dot", "hang", "gcc-base", mpi.name), Placement(1, 2, 1), ())
    ready = launch.command(cell, Path(sys.argv[1]), tools, output=Path(sys.argv[2]), machine=here)
    outcome = launch.launch(ready, 3, f"hanging-{os.getpid()}")
    left = [p for p in Path("/proc").glob("[0-9]*/cmdline") if p.exists() and sys.argv[1].encode() in p.read_bytes()]
    report[mpi.name] = [outcome.reason, len(left) - 1, _steps(os.environ["SLURM_JOB_ID"])]
    try:
        wide = replace(cell, placement=Placement(2, 4, 1))
        launch.command(wide, Path("x"), tools, output=Path("y"), machine=replace(here, nodes=2))
    except Exception as error:
        report[mpi.name].append(str(error))
Path(sys.argv[2]).with_suffix(".json").write_text(json.dumps(report))
"""


def test_nothing_of_a_hanging_launch_survives_and_more_nodes_than_there_are_are_refused(
    cluster: Cluster, program: Callable[[str], Path], tmp_path: Path
) -> None:
    hanging = program("deaf(); hang()")
    script, output = tmp_path / "job.sh", tmp_path / "record.jsonl"
    (tmp_path / "hanging.py").write_text(HANGING)
    line = f"exec {sys.executable} {tmp_path}/hanging.py {hanging} {output}"
    script.write_text(f"#!/bin/bash\n#SBATCH --exclusive --output={tmp_path}/out.txt\n{line}\n")
    words = ["sbatch", "--parsable", str(script)]  # --wait would poll only every half minute
    job = subprocess.run(words, env=variables(cluster), capture_output=True, text=True, timeout=60).stdout.strip()
    ended(cluster, job)
    assert output.with_suffix(".json").exists(), (tmp_path / "out.txt").read_text()
    report = json.loads(output.with_suffix(".json").read_text())
    assert report, "srun starts no MPI library here"
    for reason, processes, steps, refused in report.values():
        assert (reason, processes, steps) == ("timed out after 3 s and was killed", 0, [])
        assert "the placement requires 2 nodes, but this Slurm job has 1" in refused
