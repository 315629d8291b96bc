"""Slurm (sbatch). A job that is requeued after a node failed runs its script again, which resumes the run."""

from __future__ import annotations

import re
from pathlib import Path

from firstlight.system.batch.system import JobRequest, State, clock, plain

LABEL = "Slurm"
COMMAND = "sbatch"
WARNS = True

_WAITING = {"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT", "SUSPENDED"}
_RUNNING = {"RUNNING", "CONFIGURING", "COMPLETING", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED"}
_OUT = {"down", "drained", "draining", "drain", "fail", "failing", "maint", "unknown", "future", "inval"}


def header(request: JobRequest) -> list[str]:
    # %-signs stand for numbers in an output path; plain() lets none through.
    options = [
        f"--job-name={request.name}",
        f"--nodes={request.nodes}",
        "--exclusive" if request.per_node is None else f"--ntasks-per-node={request.per_node}",
        f"--time={clock(request.seconds)}",
        f"--output={plain(request.output)}",
        "--open-mode=append",
        f"--signal=B:TERM@{request.warning:.0f}",
        "--requeue",
    ]
    options += [f"--gpus-per-node={request.gpus}"] if request.gpus else []
    options += [f"--partition={request.partition}"] if request.partition else []
    options += [f"--account={request.account}"] if request.account else []
    return [f"#SBATCH {option}" for option in (*options, *request.directives)]


NODES = ("sinfo", "--noheader", "--Node", "--format=%N %P %T")
"""The command that lists each node with its partition and its state."""


def nodes(printed: str, partition: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the nodes of a partition that accept jobs, and the state of each other node.

    `partition`: one name or several with commas; "" is the default partition, which Slurm marks with a star.
    """
    wanted = set(partition.split(",")) - {""}
    good: dict[str, None] = {}
    bad: dict[str, str] = {}
    for name, where, word in (line.split() for line in printed.splitlines() if len(line.split()) == 3):
        if where.rstrip("*") in wanted or (not wanted and where.endswith("*")):
            if word.endswith("*") or word.rstrip("~#!%$@^-") in _OUT:
                bad[name] = word
            else:
                good[name] = None
    return tuple(good), bad


def on_node(host: str) -> str:
    """Return the option that starts a job on this node only."""
    return f"--nodelist={host}"


def submission(script: Path) -> tuple[str, ...]:
    return (COMMAND, "--parsable", str(script))


def job(printed: str) -> str | None:
    """Return the job's name from `4711`, or `4711;cluster`, else None."""
    lines = printed.strip().splitlines()
    match = re.match(r"([0-9]+)(?:;|$)", lines[-1].strip()) if lines else None
    return match[1] if match else None


def questions(job: str) -> list[tuple[str, ...]]:
    """Return the commands: scontrol forgets a job minutes after its end; sacct, if there is accounting, does not."""
    return [
        ("scontrol", "--oneliner", "show", "job", job),
        ("sacct", "--noheader", "--parsable2", "--allocations", f"--jobs={job}", "--format=State,ExitCode"),
    ]


def state(printed: str) -> State | None:
    """Parse `JobState=RUNNING ... ExitCode=0:0`, or `COMPLETED|0:0`. Slurm prints a status as code:signal."""
    word = re.search(r"(?:\bJobState=|^)([A-Z_]{4,})", printed, re.MULTILINE)
    if word is None:
        return None
    if word[1] in _WAITING or word[1] in _RUNNING:
        return State("waiting" if word[1] in _WAITING else "running", word[1])
    status = re.search(r"(?:\bExitCode=|\|)([0-9]{1,3}):([0-9]{1,3})\b", printed)
    code = int(status[1]) if status and status[2] == "0" else None
    # Slurm may report status 0 for a job that timed out or lost its node.
    return State("ended", word[1], code if code or word[1] == "COMPLETED" else None)
