"""Scratch: the temporary folder of a launch, and what its programs may leave elsewhere.

A launch that runs, or may run, on several nodes has no folder: the other nodes would not find it.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Mapping
from pathlib import Path

from firstlight.system.machine import Machine, allocation
from firstlight.system.mpi_families import of
from firstlight.system.process.shm_leftovers import Leftovers
from firstlight.toolchain import Mpi

LONGEST = 32
"""Maximum characters of a user's TMPDIR: a launcher's sockets are below it, and their whole path has at most 107."""
LEAST = 16 << 20
"""Fewest free bytes of a user's TMPDIR: MPI libraries keep files of their ranks in it, and fail if it is full."""
SHARED = ("/dev/shm/ucx_shm_posix_*", "/dev/shm/psm[23]_shm*", "/dev/shm/__KMP_REGISTERED_LIB_*")
"""Patterns of what libraries below MPI (UCX, PSM) and LLVM's OpenMP share, for any MPI library."""


def expected_leftovers(mpi: Mpi | None, machine: Machine) -> Leftovers:
    """Return the folder, not yet made, with a unique name, and the patterns of other files that may remain."""
    folder = f"{_base(os.environ)}/fl-{secrets.token_hex(6)}" if _only_here(machine) else ""
    return Leftovers(folder, SHARED + (of(mpi.family).shm_patterns if mpi is not None else ()), time.time())


def variables(leftovers: Leftovers, mpi: Mpi | None) -> dict[str, str]:
    """Return variables that make the programs of the launch use its folder."""
    if not leftovers.folder:
        return {}
    return {"TMPDIR": leftovers.folder} | (of(mpi.family).temporary(leftovers.folder) if mpi is not None else {})


def _base(environment: Mapping[str, str]) -> str:
    chosen = Path(environment.get("TMPDIR", "")).as_posix().rstrip("/")
    short = len(chosen) <= LONGEST and chosen.startswith("/")
    return chosen if short and os.access(chosen, os.W_OK | os.X_OK) and _free(chosen) >= LEAST else "/tmp"


def _free(folder: str) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def _only_here(machine: Machine) -> bool:
    """Return whether all ranks run on this node: ranks of a job run elsewhere when this is the submit node."""
    if machine.nodes > 1:
        return False
    node = os.uname().nodename.partition(".")[0]
    return not machine.batch or node in {host.partition(".")[0] for host in allocation.discover().hosts}
