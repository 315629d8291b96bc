"""The queue: find the batch system of this machine, submit a script to it, and query the state of a job."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from firstlight.core.errors import FirstlightError, UsageError
from firstlight.system.batch.system import State, System, systems
from firstlight.system.process import bounded

_OF_A_JOB = ("SLURM_", "PBS_", "FLUX_JOB_", "FLUX_TASK_", "LSB_", "LS_", "PMI_", "PMIX_")
_OF_THE_USER = ("SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_CLUSTERS", "PBS_CONF_FILE", "PBS_DEFAULT", "PBS_SERVER")
"""Variables that a new job must not inherit from the job in which `submit` is typed, and those that it needs anyway."""


def choose(name: str | None) -> System:
    """Return the batch system of that name, else the one whose command is here.

    Raises UsageError for an unknown name or more than one system, FirstlightError if there is none.
    """
    known = systems()
    if name is not None:
        if name not in known:
            raise UsageError(f"no batch system named {name!r}; available: {', '.join(known)}")
        return known[name]
    here = [n for n, system in known.items() if shutil.which(system.COMMAND)]
    if len(here) == 1:
        return known[here[0]]
    if here:
        raise UsageError(f"more than one batch system is available; choose with --system {' or '.join(here)}")
    commands = ", ".join(f"{system.LABEL} ({system.COMMAND})" for system in known.values())
    raise FirstlightError(f"no batch system was found (searched for {commands}); on a single machine, use ./fl run")


def submit(system: System, script: Path) -> str:
    """Submit the script and return the job's name. Raises FirstlightError with the batch system's own message."""
    words = system.submission(script)
    try:
        done = _run(words, cwd=script.parent)
    except OSError as error:
        raise FirstlightError(f"cannot start {words[0]}: {error.strerror}; is {system.LABEL} installed?") from error
    except subprocess.TimeoutExpired as error:
        raise FirstlightError(
            f"{words[0]} does not answer; check with {system.LABEL} whether the job exists"
        ) from error
    job = system.job(done.stdout)
    if done.returncode != 0 or job is None:
        message = " ".join((done.stderr or done.stdout).split()) or f"status {done.returncode}"
        raise FirstlightError(f"{system.LABEL} did not accept the job: {message}")
    return job


def output(words: tuple[str, ...]) -> str:
    """Return what a command of the batch system prints. Raises FirstlightError if it fails."""
    try:
        done = _run(words)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FirstlightError(f"{words[0]} cannot be run: {error}") from error
    if done.returncode != 0:
        raise FirstlightError(f"{words[0]} failed: {' '.join(done.stderr.split()) or f'status {done.returncode}'}")
    return done.stdout


def state(system: System, job: str) -> State | None:
    """Return the job's state; None if the batch system does not know the job (any more) or does not answer."""
    for words in system.questions(job):
        try:
            done = _run(words)
        except (OSError, subprocess.TimeoutExpired):
            continue
        found = system.state(done.stdout) if done.returncode == 0 else None
        if found is not None:
            return found
    return None


def clean(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without the variables that describe another job."""
    return {
        name: value for name, value in environment.items() if name in _OF_THE_USER or not name.startswith(_OF_A_JOB)
    }


def _run(words: tuple[str, ...], cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return bounded.run(words, timeout=120, environment=clean(os.environ), folder=cwd)
