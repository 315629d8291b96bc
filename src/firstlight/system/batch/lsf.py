"""IBM Spectrum LSF (bsub); requests for whole nodes use the node counts of its CORAL systems."""

from __future__ import annotations

import math
import re
from pathlib import Path

from firstlight.system.batch.system import JobRequest, State, plain

LABEL = "LSF"
COMMAND = "bsub"
WARNS = False  # its -wa signals all processes of the job, also those of the launch that is to end by itself

_WAITING = {"PEND", "PSUSP", "WAIT", "USUSP", "SSUSP", "UNKWN"}
_ENDED = {"DONE", "EXIT", "ZOMBI"}


def header(request: JobRequest) -> list[str]:
    minutes = math.ceil(request.seconds / 60)
    options = [
        f"-J {request.name}",
        *_size(request),
        f"-W {minutes // 60}:{minutes % 60:02d}",
        f"-o {plain(request.output)}",  # and what is printed as an error, too; it is appended
        "-r",
    ]
    options += [f"-q {request.partition}"] if request.partition else []
    options += [f"-P {request.account}"] if request.account else []
    return [f"#BSUB {option}" for option in (*options, *request.directives)]


def _size(request: JobRequest) -> list[str]:
    """Return the size options: the number of whole nodes, which only sites with jsrun know, else slots per node."""
    if request.per_node is None:
        return [f"-nnodes {request.nodes}"]
    counts = [f"-n {request.nodes * request.per_node}", f'-R "span[ptile={request.per_node}]"', "-x"]
    return [*counts, *([f'-gpu "num={request.gpus}"'] if request.gpus else [])]


def submission(script: Path) -> tuple[str, ...]:
    """Return a command that passes the script by standard input: only some sites read the directives of an argument."""
    return ("sh", "-c", f'exec {COMMAND} <"$1"', COMMAND, str(script))


def job(printed: str) -> str | None:
    """Return the job's name from `Job <29209> is submitted to queue <batch>.`, else None."""
    match = re.search(r"^Job <([0-9]{1,20})> is submitted\b", printed, re.MULTILINE)
    return match[1] if match else None


def questions(job: str) -> list[tuple[str, ...]]:
    return [("bjobs", "-noheader", "-o", "stat exit_code", job)]


def state(printed: str) -> State | None:
    """Parse `RUN -`, or `EXIT 130`; return None for other output."""
    words = printed.split()
    if not words:
        return None
    if words[0] in _WAITING or words[0] == "RUN":
        return State("running" if words[0] == "RUN" else "waiting", words[0])
    if words[0] not in _ENDED:
        return None
    code = int(words[1]) if len(words) > 1 and re.fullmatch(r"[0-9]{1,3}", words[1], re.ASCII) else None
    return State("ended", words[0], 0 if words[0] == "DONE" else code)
