"""Open MPI's rankfile: `rank 3=node07 slot=2`; +n7 is the eighth node of the allocation. Slots count cores."""

from __future__ import annotations

import re
from collections.abc import Sequence

from firstlight.commands.map.slots import Slot
from firstlight.core import shell

TITLE = "Open MPI"
FILE = "rankfile"
_LINE = re.compile(r"rank\s+(\d+)\s*=\s*(\S+)\s+slots?\s*=\s*(\d+)")


def text(slots: Sequence[Slot], axes: Sequence[int]) -> str:
    lines = [f"rank {r}={s.host or f'+n{s.node}'} slot={s.place}" for r, s in enumerate(slots)]
    return "\n".join(lines) + "\n"


def parse(text: str) -> list[Sequence[object]]:
    """Return (node, slot) of each rank. Raises ValueError for an invalid file."""
    found: dict[int, tuple[str, int]] = {}
    for line in text.splitlines():
        match = _LINE.fullmatch(line.strip())
        if match is None or int(match[1]) in found:
            raise ValueError(f"{line!r} is not a line of a rankfile")
        found[int(match[1])] = match[2], int(match[3])
    if sorted(found) != list(range(len(found))):
        raise ValueError("ranks are missing")
    if len(set(found.values())) < len(found):
        raise ValueError("two ranks have the same slot")
    return [found[r] for r in range(len(found))]


def use(file: str, ranks: int) -> str:
    return shell.line(["mpiexec", "-n", ranks, "--rankfile", file, "./program"])
