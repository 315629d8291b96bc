"""The environment: the variables that steer OpenMP, MPI and BLAS, and the revision of the sources. Never a secret."""

from __future__ import annotations

import os
import re
import socket
import subprocess
from collections.abc import Mapping

from firstlight import ROOT
from firstlight.launch.environment import PREFIXES
from firstlight.mpi_families import outside
from firstlight.process import bounded

_BATCH = frozenset(
    f"SLURM_{name}"
    for name in (
        "JOB_NUM_NODES",
        "NNODES",
        "NTASKS",
        "NPROCS",
        "CPUS_PER_TASK",
        "CPUS_ON_NODE",
        "TASKS_PER_NODE",
        "CPU_BIND",
    )
)
_PRIVATE = re.compile(r"KEY|TOKEN|SECRET|PASS|AUTH|CRED|COOKIE|URI|URL|HOST|ADDR|USER|NODELIST|SERVER", re.IGNORECASE)
LONGEST = 1000  # characters kept of a value


def variables(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Those that reach a program and are known to be harmless, by name; the name of this host is taken out."""
    host = socket.gethostname()
    kept = {}
    for name, value in sorted(outside(environment).items()):
        if name in _BATCH or (name.startswith(PREFIXES) and not _PRIVATE.search(name)):
            hidden = re.sub(rf"\b{re.escape(host)}\b", "<host>", value) if host else value
            kept[name] = hidden[:LONGEST]
    return kept


def revision() -> str:
    """The commit of the sources, with `+` where they were changed since; empty outside a git checkout."""
    commit = _git("rev-parse", "--short=12", "HEAD")
    if not commit:
        return ""
    return commit + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")


def _git(*arguments: str) -> str:
    try:
        done = bounded.run(["git", "-C", str(ROOT), *arguments], timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""  # no git here: a run from an archive has no revision
    return done.stdout.strip() if done.returncode == 0 else ""
