"""`[energy] command` of the site file: a command that prints the power of the node in watts, once or once per line.

A command that prints one line and ends is started again after `interval`. A command that goes on is read line by line,
which needs less of the processors.
"""

from __future__ import annotations

from pathlib import Path

from firstlight.system.energy import Denied, Meter, Source, first
from firstlight.system.energy.printed import PrintedGauge

PLACE = 0
FIRST = 10.0
"""Seconds for the first reading."""
WHAT, FIX = "[energy] command of the site file", "correct this command, see docs/site.md"


def find(root: Path, command: str = "", interval: float = 1.0) -> Source | Denied | None:
    """Return the gauge of the site's command, if there is one and it prints a number."""
    if not command:
        return None
    gauge = PrintedGauge(("sh", "-c", command), interval)
    try:
        found = first(gauge, FIRST)
    except OSError as error:
        return Denied(WHAT, f"cannot be started: {error.strerror}", FIX)
    if found is None:
        return Denied(WHAT, f"printed no power, in a line such as 350 W, within {FIRST:g} s", FIX)
    return Source(Meter("site file", "the node", interval), gauge=gauge)
