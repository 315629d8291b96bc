"""Host file with one node per rank: for Slurm's arbitrary distribution, and others that start ranks in its order."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.commands.map.formats import UnwritableError
from firstlight.commands.map.slots import Slot
from firstlight.core import shell

TITLE = "Slurm, for MPICH and others"
FILE = "hosts"


def text(slots: Sequence[Slot], axes: Sequence[int]) -> str:
    names = [s.host for s in slots]
    if None in names:
        raise UnwritableError("names of the nodes are unknown; add --node-names FILE, with one name per line")
    if len(set(names)) == 1:
        raise UnwritableError("the format contains only node names, but all ranks are on one node")
    return "".join(f"{name}\n" for name in names)


def parse(text: str) -> list[Sequence[object]]:
    """Return (node,) of each rank. Raises ValueError for an invalid file."""
    lines = text.splitlines()
    if not lines or any(not line.strip() or " " in line.strip() for line in lines):
        raise ValueError("a line should name one node")
    return [(line.strip(),) for line in lines]


def use(file: str, ranks: int) -> str:
    return f"SLURM_HOSTFILE={shell.line([file])} srun -n {ranks} --distribution=arbitrary ./program"
