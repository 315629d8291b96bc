"""Name and sort the methods of an elliptic solver for drawings.

A method is the published one (BPX), multigrid, or a library; its best variant represents it.
"""

from __future__ import annotations

from collections.abc import Iterable

from firstlight.analysis.verdict import Figure
from firstlight.core.units import count, significant
from firstlight.model.plan import Placement

PUBLISHED, MULTIGRID = "BPX", "multigrid"
LIBRARY = "peer_"
COARSEST = 16  # cells a side of the grid of all nodes at level 0


def method(variant: str) -> str:
    """Return `BPX`, `multigrid`, or the library that a variant calls."""
    if variant.startswith(LIBRARY):
        return variant.removeprefix(LIBRARY)
    return MULTIGRID if MULTIGRID in variant.split("_") else PUBLISHED


def level(figure: Figure) -> int | None:
    """Return the number of refinements; None if the record has no valid one."""
    found = dict(figure.identity.parameters).get("level")
    return found if isinstance(found, int) and 0 <= found <= 20 else None


def unknowns(refinements: int) -> int:
    """Return R1's number of unknowns: all nodes of quadratic triangles on 8 x 8 squares, including boundary nodes."""
    side: int = (COARSEST << refinements) + 1
    return side * side


def cores(figure: Figure) -> int:
    p = figure.identity.placement
    return p.ranks * p.threads


def shape(placement: Placement) -> str:
    """Return NODESxRANKSxTHREADS, as `--placement` expects it."""
    return f"{placement.nodes}x{placement.per_node}x{placement.threads}"


def amount(number: float) -> str:
    """Format a number of unknowns, as `4.20 M`."""
    for size, name in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= size:
            return significant(number / size) + name
    return f"{number:g}"


def on(number: int) -> str:
    return f"on {count(number, 'core')}"


def axis(levels: Iterable[int]) -> dict[str, object]:
    """Return a logarithmic axis of unknowns with one tick per level."""
    some = sorted(set(levels))
    return {
        "title": {"text": "unknowns (below: level)"}, "type": "log", "tickvals": [unknowns(v) for v in some],
        "ticktext": [f"{amount(unknowns(v))}<br>{v}" for v in some],
    }  # fmt: skip
