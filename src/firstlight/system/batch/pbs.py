"""PBS: OpenPBS and PBS Professional (qsub)."""

from __future__ import annotations

import re
from pathlib import Path

from firstlight.core.errors import UsageError
from firstlight.system.batch.system import JobRequest, State, clock, plain

LABEL = "PBS"
COMMAND = "qsub"
WARNS = False  # SIGTERM comes with the end of the time, SIGKILL ten seconds later: too late for a report

_STATES = {"running": "RE", "ended": "FCX"}


def header(request: JobRequest) -> list[str]:
    """Return the directives. Raises UsageError without `per_node`: PBS has no word for a whole node, only for CPUs."""
    if request.per_node is None:
        raise UsageError("PBS requires the number of CPUs per node: add --per-node N")
    chunk = f"select={request.nodes}:ncpus={request.per_node}:mpiprocs={request.per_node}"
    chunk += f":ngpus={request.gpus}" if request.gpus else ""
    options = [
        "-N " + f"fl-{request.name}"[:15],  # older versions refuse longer names, and a digit in front
        f"-l {chunk}",
        "-l place=scatter:excl",
        f"-l walltime={clock(request.seconds)}",
        "-j oe",
        f"-o {plain(request.output)}",
        "-r y",
    ]
    options += [f"-q {request.partition}"] if request.partition else []
    options += [f"-A {request.account}"] if request.account else []
    return [f"#PBS {option}" for option in (*options, *request.directives)]


def submission(script: Path) -> tuple[str, ...]:
    return (COMMAND, str(script))


def job(printed: str) -> str | None:
    """Return the job's name from a line `12.server`, else None."""
    lines = printed.strip().splitlines()
    match = re.fullmatch(r"[0-9]+(\[\])?(\.[\w.-]+)?", lines[-1].strip(), re.ASCII) if lines else None
    return match[0] if match else None


def questions(job: str) -> list[tuple[str, ...]]:
    """Return the commands, first with `-x`, which also reports jobs that have ended, if the server keeps them."""
    return [("qstat", "-x", "-f", job), ("qstat", "-f", job)]


def state(printed: str) -> State | None:
    letter = re.search(r"^\s*job_state = ([A-Z])\s*$", printed, re.MULTILINE)
    if letter is None:
        return None
    kind = next((kind for kind, letters in _STATES.items() if letter[1] in letters), "waiting")
    if kind != "ended":
        return State("running" if kind == "running" else "waiting", letter[1])
    status = re.search(r"^\s*Exit_status = (-?[0-9]{1,5})\s*$", printed, re.MULTILINE)
    code = int(status[1]) if status else None
    # 256 and more: 256 + the signal that ended the script; below 0: PBS itself could not run it.
    return State("ended", letter[1], code if code is not None and 0 <= code < 256 else None)
