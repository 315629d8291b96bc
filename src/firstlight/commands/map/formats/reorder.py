"""Cray MPICH's MPICH_RANK_ORDER: ranks in the order in which nodes are filled."""

from __future__ import annotations

import re
from collections.abc import Sequence

from firstlight.commands.map.formats import UnwritableError
from firstlight.commands.map.slots import Slot

TITLE = "Cray MPICH"
FILE = "MPICH_RANK_ORDER"


def text(slots: Sequence[Slot], axes: Sequence[int]) -> str:
    each: dict[int, list[tuple[int, int]]] = {}
    for rank, s in enumerate(slots):
        each.setdefault(s.node, []).append((s.place, rank))
    nodes = sorted(each)
    most = max(len(some) for some in each.values())
    if nodes != list(range(len(nodes))) or any(len(each[n]) != most for n in nodes[:-1]):
        raise UnwritableError("the format fills nodes one after another, but this map leaves gaps")
    return "".join(",".join(str(rank) for _, rank in sorted(each[n])) + "\n" for n in nodes)


def parse(text: str) -> list[Sequence[object]]:
    """Return (rank,) in the order of the nodes; `4-7` means four ranks, and # begins a comment."""
    found: list[Sequence[object]] = []
    for line in text.splitlines():
        for word in filter(None, re.split(r"[,\s]+", line.partition("#")[0])):
            match = re.fullmatch(r"(\d+)(?:-(\d+))?", word)
            if match is None:
                raise ValueError(f"{word!r} is not a rank")
            found += [(r,) for r in range(int(match[1]), int(match[2] or match[1]) + 1)]
    if sorted(int(str(r[0])) for r in found) != list(range(len(found))):
        raise ValueError("each rank should occur once")
    return found


def use(file: str, ranks: int) -> str:
    return f"MPICH_RANK_REORDER_METHOD=3 srun -n {ranks} ./program   # in the folder of {file}"
