"""Options of this run of the tests (conftest.py sets them before any test is collected)."""

from __future__ import annotations

full = False
"""--full: every compiler x MPI library x placement, sanitizers, faults, batch systems; else representatives once."""

of_machine = False
"""--of-machine: a fresh machine has already run the representatives with g++ and pip's MPICH."""

fresh = False
"""--fresh: launch also what was launched before with the same executable, placement and arguments."""
