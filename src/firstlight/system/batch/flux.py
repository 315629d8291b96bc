"""Flux (flux batch): the script is the first program of a Flux instance of its own, with a broker on each node."""

from __future__ import annotations

import math
import re
from pathlib import Path

from firstlight.system.batch.system import JobRequest, State, plain

LABEL = "Flux"
COMMAND = "flux"
WARNS = False  # its --signal goes to the brokers, not to the script

_WAITING = {"DEPEND", "PRIORITY", "SCHED"}
_RUNNING = {"RUN", "CLEANUP"}


def header(request: JobRequest) -> list[str]:
    options = [
        f"--job-name={request.name}",
        f"--nodes={request.nodes}",
        *_size(request),
        f"--time-limit={math.ceil(request.seconds / 60)}m",
        f"--output={plain(request.output)}",
    ]
    options += [f"--queue={request.partition}"] if request.partition else []
    options += [f"--bank={request.account}"] if request.account else []
    return [f"# flux: {option}" for option in (*options, *request.directives)]


def _size(request: JobRequest) -> list[str]:
    """Return the size options: a slot per CPU; with GPUs a slot per node, because Flux counts GPUs per slot."""
    gpus = [f"--gpus-per-slot={request.gpus}"] if request.gpus else []
    if request.per_node is None:
        return ["--exclusive", *([f"--nslots={request.nodes}", *gpus] if gpus else [])]
    if gpus:
        return [f"--nslots={request.nodes}", f"--cores-per-slot={request.per_node}", *gpus]
    return [f"--nslots={request.nodes * request.per_node}", "--cores-per-slot=1"]


def submission(script: Path) -> tuple[str, ...]:
    return (COMMAND, "batch", str(script))


def job(printed: str) -> str | None:
    """Return the job's name from a line `f2dUTEBdT`, else None; the first letter may be a Greek-looking f with hook."""
    lines = printed.strip().splitlines()
    match = re.fullmatch(r"[fƒ]?[0-9A-Za-z]+", lines[-1].strip()) if lines else None
    return match[0] if match else None


def questions(job: str) -> list[tuple[str, ...]]:
    return [(COMMAND, "jobs", "--no-header", "--format={state} {result} {returncode}", job)]


def state(printed: str) -> State | None:
    """Parse `RUN`, or `INACTIVE FAILED 130`; return None for other output."""
    words = printed.split()
    if not words:
        return None
    if words[0] in _WAITING or words[0] in _RUNNING:
        return State("waiting" if words[0] in _WAITING else "running", words[0])
    if words[0] != "INACTIVE":
        return None
    code = words[-1] if len(words) > 2 and re.fullmatch(r"[0-9]{1,3}", words[-1], re.ASCII) else None
    return State("ended", words[1] if len(words) > 1 else words[0], None if code is None else int(code))
