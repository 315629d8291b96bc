"""Counters of HPE Cray nodes: energy of the whole node, with processors, memory, accelerators and network interface.

The files are updated ten times per second (S. J. Martin, D. Rush, M. Kappel: Cray advanced platform monitoring and
control, Cray User Group 2015) and every user may read them.
"""

from __future__ import annotations

from pathlib import Path

from firstlight.system.energy import Counter, Denied, Meter, Source
from firstlight.system.energy.files import forbidden, number

PLACE = 10
UPDATE = 0.1


def find(root: Path, command: str = "", interval: float = 1.0) -> Source | Denied | None:
    """Return the counter of the node, in joules."""
    file = next((root / "sys").glob("*/pm_counters/energy"), None)
    if file is None:
        return None
    if forbidden(file):
        return Denied("energy counter of the node", f"{file} is not readable", f"sudo chmod a+r {file}")
    if number(file) is None:
        return None
    return Source(Meter("pm_counters", "the whole node", UPDATE, (Counter("node", 1.0),)), (file,))
