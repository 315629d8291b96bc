"""Fujitsu's coordinates on Tofu's virtual torus: `(x,y,z)` of each rank."""

from __future__ import annotations

import re
from collections.abc import Sequence

from firstlight.commands.map.formats import UnwritableError
from firstlight.commands.map.slots import Slot
from firstlight.core import shell

TITLE = "Fujitsu"
FILE = "coordinates"
_LINE = re.compile(r"\(\d+(,\d+){0,2}\)")


def text(slots: Sequence[Slot], axes: Sequence[int]) -> str:
    if not 1 <= len(axes) <= 3:
        raise UnwritableError("the nodes do not form a torus of one to three dimensions")
    lines = []
    for s in slots:
        left, at = s.node, []
        for extent in axes:
            left, here = divmod(left, extent)
            at.append(str(here))
        lines.append(f"({','.join(at)})\n")
    return "".join(lines)


def parse(text: str) -> list[Sequence[object]]:
    """Return the coordinates of each rank. Raises ValueError for an invalid line."""
    lines = text.splitlines()
    if any(not _LINE.fullmatch(line) for line in lines):
        raise ValueError("a line should be (x,y,z)")
    return [tuple(map(int, line[1:-1].split(","))) for line in lines]


def use(file: str, ranks: int) -> str:
    return shell.line(["mpiexec", "-n", ranks, "--vcoordfile", file, "./program"])
