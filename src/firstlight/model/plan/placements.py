"""Placements: NODESxRANKSxTHREADS as a suite or a user writes it, made concrete for the nodes and cores here."""

from __future__ import annotations

import re
from collections.abc import Sequence

from firstlight.core.errors import UsageError
from firstlight.model.plan.types import Placement
from firstlight.system.machine import Machine, cores

_NODES = r"all-[1-9]\d{0,6}|all|half|[1-9]\d{0,9}"
_SHAPE = re.compile(rf"({_NODES})x({cores.GPUS}|{cores.WORD})x({cores.WORD})", re.ASCII)
MOST = 1 << 20  # nodes, ranks or threads: a larger number is a slip of the keyboard


def expand(shapes: Sequence[str], machine: Machine) -> tuple[list[Placement], list[str]]:
    """Return the placements that `shapes` mean here, once each, and the shapes that are not available here.

    A shape is NODESxRANKSxTHREADS: nodes, ranks per node, threads per rank. Each is a number or one of `all`, `half`
    and `all-1` (`all-2`, ...): of the nodes of the allocation for the first, of the cores of a node for the others.
    `all-threads` means the hardware threads of a node, `gpus` (ranks only) one rank for each of its GPUs. Numbers may
    exceed the cores (oversubscription), but not the nodes.

    Raises UsageError for anything else.
    """
    found: list[Placement] = []
    absent: list[str] = []
    for shape in shapes:
        match = _SHAPE.fullmatch(shape.strip().lower())
        if match is None:
            raise UsageError(
                f"{shape!r} is not a placement; write NODESxRANKSxTHREADS (nodes, ranks per node, threads per rank), "
                f"such as 1x4x2 or allxall-1x1"
            )
        nodes = cores.share(match[1], machine.nodes)
        ranks, threads = cores.ranks(match[2], machine), cores.amount(match[3], machine)
        if min(nodes, ranks, threads) < 1 or nodes > machine.nodes:
            absent.append(shape)
        elif max(nodes, ranks, threads) > MOST:
            raise UsageError(f"{shape!r}: a placement has at most {MOST} nodes, ranks and threads; correct the number")
        else:
            found.append(Placement(nodes, nodes * ranks, threads))
    return list(dict.fromkeys(found)), list(dict.fromkeys(absent))
