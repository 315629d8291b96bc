"""Absence: what this machine lacks and what was not planned for it, each once."""

from __future__ import annotations

from firstlight.record import Run
from firstlight.toolchains import Absent

_WITH = " with "


def absences(run: Run) -> list[Absent]:
    """A program that lacks the same thing with several toolchains is one entry: `dot.x with gcc-base / gcc-fast`."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for a in dict.fromkeys((*run.not_available, *run.toolbox.absent)):
        program, _, toolchain = a.what.partition(_WITH)
        found.setdefault((program, a.why, a.fix), []).append(toolchain)
    return [
        Absent(_WITH.join(x for x in (program, " / ".join(filter(None, toolchains))) if x), why, fix)
        for (program, why, fix), toolchains in found.items()
    ]
