"""A real Slurm of four nodes, one of which has a clock that goes too fast: it is found by its name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import drivers
import slurm
import turns
from firstlight import ROOT
from firstlight.commands.nodes import folder
from slurm import Cluster

REASON = slurm.why_not()
HERE = Path(__file__).parent
pytestmark = [
    pytest.mark.native,
    pytest.mark.patient,
    pytest.mark.full,
    pytest.mark.skipif(bool(REASON), reason=f"no Slurm can be started: {REASON}"),
]
SLOW = "n3"
REQUEST = ("faulty.mpi_good", "--placement", "1x1x1", "--toolchain", "gcc-base", "--mpi", "mpich", "--launches", "1")
SHORT = ("--budget", "1s", "--at-once", "1")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Start a cluster in which all times on the node SLOW appear thirty thousand times as long."""
    place = tmp_path_factory.mktemp("slurm")
    clock = drivers.linked("slow_clock.so", drivers.objects([HERE / "slow_clock.cpp"], "-fPIC", "-O1"), "-shared")
    prolog = place / "prolog.sh"
    prolog.write_text(
        f'#!/bin/sh\n[ "$SLURMD_NODENAME" = {SLOW} ] && echo export LD_PRELOAD={clock.absolute()}\nexit 0\n'
    )
    prolog.chmod(0o755)
    with Cluster(place / "four", nodes=4, prolog=prolog, patience=5) as started:
        yield started


def firstlight(cluster: Cluster, place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    cache = Path(os.environ.get("FIRSTLIGHT_CACHE", ROOT / ".fl")).absolute()
    paths = {"PYTHONPATH": str(ROOT / "src"), "FIRSTLIGHT_CACHE": str(cache)}
    # Open MPI's ranks of two nodes that are one host must not take shared memory for the way.
    own = {"FIRSTLIGHT_WORKLOADS": str(ROOT / "tests/support/workloads"), "OMPI_MCA_btl": "self,tcp"}
    environment = os.environ | paths | own | cluster.environment
    command = [sys.executable, "-m", "firstlight", *words]
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, timeout=turns.PATIENCE)


def test_a_slow_node_among_four_is_found_by_name_and_what_is_missing_is_measured_later(
    cluster: Cluster, tmp_path: Path
) -> None:
    words = ("--nodes", "4", "--setup-time", "5m", "--as", "four", "--wait")
    done = firstlight(cluster, tmp_path, "submit", *words, "--each-node", *REQUEST, *SHORT)
    output = (tmp_path / "results/jobs/four/output.txt").read_text()
    if "no MPI library matches" in output:
        pytest.skip("no MPICH here")
    assert done.returncode == 0, done.stderr + output
    assert f"4 nodes: {SLOW} differs from the others" in output
    assert firstlight(cluster, tmp_path, "nodes", "four").returncode == 1
    found = nodes_json(cluster, tmp_path)
    assert [o["hosts"] for o in found["outliers"]] == [[SLOW]] and found["outliers"][0]["worse"]
    evidence = found["outliers"][0]["evidence"]
    assert any(" of the median node (" in sentence or "to the other nodes" in sentence for sentence in evidence), (
        evidence
    )
    assert len(found["links"][0]["values"]) == 6 and found["missing"] == {}

    # One that was never begun and one whose run is gone: the same script measures these two, and nothing else again.
    record = json.loads((tmp_path / "results/four" / folder.RECORD).read_text())
    before = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "results/four/said").iterdir()}
    gone = [record["rounds"][0][1], record["rounds"][2][0]]
    for part in gone:
        part["status"] = None
        (tmp_path / "results/four" / part["name"]).rename(tmp_path / part["name"])
    (tmp_path / "results/four" / folder.RECORD).write_text(json.dumps(record | {"state": "interrupted"}))
    assert set(nodes_json(cluster, tmp_path)["missing"]) == {part["name"] for part in gone}
    cluster("sbatch", "--wait", str(tmp_path / "results/jobs/four/script.sh"))
    found = nodes_json(cluster, tmp_path)
    assert found["missing"] == {} and [o["hosts"] for o in found["outliers"]] == [[SLOW]]
    after = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "results/four/said").iterdir()}
    assert {name for name in after if after[name] != before[name]} == {f"{part['name']}.txt" for part in gone}


def test_each_node_is_measured_by_a_job_of_its_own_when_it_is_idle(cluster: Cluster, tmp_path: Path) -> None:
    """Another user's job runs on one node: the others are measured, and this one when that job has ended."""
    busy = cluster(
        "sbatch", "--parsable", "--nodelist=n1", "--exclusive", "--output=/dev/null", "--wrap", "sleep 600"
    ).stdout.strip()
    words = ("--idle", "--setup-time", "5m", "--as", "four", "--each-node", *REQUEST, "--budget", "1s")
    done = firstlight(cluster, tmp_path, "submit", *words, "--json")
    assert done.returncode == 0, done.stderr
    jobs = {Path(job["directory"]).name: job["job"] for job in json.loads(done.stdout)}
    _until_ended(cluster, [jobs[f"node-00{k}"] for k in (2, 3, 4)])
    output = (tmp_path / "results/four/jobs/node-002/output.txt").read_text()
    if "no MPI library matches" in output:
        pytest.skip("no MPICH here")
    assert nodes_json(cluster, tmp_path)["missing"] == {"node-001": "not started"}, output
    cluster("scancel", busy)
    _until_ended(cluster, [jobs["node-001"]])
    found = nodes_json(cluster, tmp_path)
    assert found["missing"] == {} and [o["hosts"] for o in found["outliers"]] == [[SLOW]]


def _until_ended(cluster: Cluster, jobs: Sequence[str]) -> None:
    deadline = time.monotonic() + turns.PATIENCE
    while any(cluster.state(job) in ("PENDING", "RUNNING", "CONFIGURING", "COMPLETING") for job in jobs):
        assert time.monotonic() < deadline, [cluster.state(job) for job in jobs]
        time.sleep(0.5)


def nodes_json(cluster: Cluster, place: Path) -> dict[str, object] | dict[str, list[dict[str, object]]]:
    done = firstlight(cluster, place, "nodes", "four", "--json")
    assert done.returncode in (0, 1, 4), done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]
