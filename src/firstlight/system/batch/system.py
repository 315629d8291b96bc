"""The interface of a batch system's file: every file of this folder is one, except those in _NO_SYSTEMS."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Literal, Protocol

import msgspec

from firstlight.core.errors import UsageError

_NO_SYSTEMS = ("limits", "queue", "script", "system")
"""The files of this folder that are not a batch system."""


class JobRequest(msgspec.Struct, frozen=True):
    """What a job needs. `seconds`: its time limit; `warning`: seconds before that limit at which a signal ends the run.

    `per_node`: CPUs wanted of each node, None for whole nodes; `gpus`: GPUs of each node. `directives` are passed on
    as they are.
    """

    name: str
    seconds: float
    warning: float
    output: Path
    nodes: int = 1
    per_node: int | None = None
    partition: str = ""
    account: str = ""
    directives: tuple[str, ...] = ()
    gpus: int = 0


class Work(msgspec.Struct, frozen=True):
    """What a job does: `begin` the run, or `resume` it where `record` is there already. Words of command lines.

    `setup` are lines of the user (module load); `variables` are set before anything is started.
    """

    folder: Path
    record: Path
    begin: tuple[str, ...]
    resume: tuple[str, ...]
    setup: tuple[str, ...] = ()
    variables: dict[str, str] = {}


class State(msgspec.Struct, frozen=True):
    """Where a job is. `word` is the batch system's own, `code` the exit status of its script once that is known."""

    kind: Literal["waiting", "running", "ended"]
    word: str
    code: int | None = None


class System(Protocol):
    """The module of a batch system. Its functions only compose and parse text; their caller runs the commands."""

    LABEL: str  # Slurm
    COMMAND: str  # the program that submits: where it is on the search path, the system is here
    WARNS: bool  # whether it signals the script itself before the time is over

    def header(self, request: JobRequest) -> list[str]:
        """Return the directives, one per line."""
        ...

    def submission(self, script: Path) -> tuple[str, ...]:
        """Return the command that submits a script."""
        ...

    def job(self, printed: str) -> str | None:
        """Return the job's name from the output of that command; None if there is none."""
        ...

    def questions(self, job: str) -> Sequence[tuple[str, ...]]:
        """Return the commands that report a job's state, the best first."""
        ...

    def state(self, printed: str) -> State | None:
        """Return the state from the output of one of them; None if it reports none."""
        ...


def systems() -> dict[str, System]:
    """Return every batch system that has a file, by name."""
    package = "firstlight.system.batch"
    names = sorted(m.name for m in iter_modules([str(Path(__file__).parent)]) if m.name not in _NO_SYSTEMS)
    return {name: import_module(f"{package}.{name}") for name in names}


def clock(seconds: float) -> str:
    """Return the time as HH:MM:00, rounded up to whole minutes: batch systems count in minutes."""
    minutes = math.ceil(seconds / 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:00"


def plain(path: Path) -> str:
    """Return the path as text for a directive. Raises UsageError for a path that directives cannot contain."""
    text = str(path)
    if not all(c.isalnum() or c in "/._+,@=-" for c in text):
        raise UsageError(
            f"{text}: job scripts cannot use this path; choose a results folder (--results) without blanks and "
            f"special characters"
        )
    return text
