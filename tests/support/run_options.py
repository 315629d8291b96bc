"""Options of this run of the tests (conftest.py sets them before any test is collected)."""

from __future__ import annotations

import hashlib

full = False
"""--full: every compiler x MPI library x placement, sanitizers, faults, batch systems; else representatives once."""

of_machine = False
"""--of-machine: a fresh machine has already run the representatives with g++ and pip's MPICH."""

commit = ""
"""The commit that is tested with --of-machine; "" without it, or if git names none."""


def due(test: str) -> bool:
    """Return whether this commit runs a test that is marked `full`: a third of them, and the next commit others."""
    return not commit or hashlib.sha256(f"{commit} {test}".encode()).digest()[0] % 3 == 0


fresh = False
"""--fresh: launch also what was launched before with the same executable, placement and arguments."""
