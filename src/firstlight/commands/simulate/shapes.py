"""Shapes of a network as a user writes them: 4x4x4, 8x8x8 or 64..4096."""

from __future__ import annotations

import re

from firstlight.core.errors import UsageError

_SHAPE = re.compile(r"[1-9]\d{0,8}(x[1-9]\d{0,8})*")
MOST = 64


def sweep(topology: str, text: str) -> list[str]:
    """Return the topologies of a scale sweep: `4x4x4,8x8x8` or `64..4096` of `topology`'s kind, or whole ones.

    A range doubles every axis that has not reached its end; the dimension of a hypercube increases by one.
    Raises UsageError.
    """
    kind = topology.partition(":")[0]
    found: list[str] = []
    for word in text.split(","):
        word = word.strip()
        first, dots, last = word.partition("..")
        if ":" in word and not dots:
            found.append(word)
            continue
        if not _SHAPE.fullmatch(first) or (dots and not _SHAPE.fullmatch(last)):
            raise UsageError(f"{word!r} is not a shape; write --scale 4x4x4,8x8x8 or, for flat:P, --scale 64..65536")
        found += [f"{kind}:{shape}" for shape in (_between(kind, first, last) if dots else [first])]
    if len(found) > MOST:
        raise UsageError(f"{len(found)} shapes are more than {MOST}; name fewer")
    return list(dict.fromkeys(found))


def _between(kind: str, first: str, last: str) -> list[str]:
    low, high = ([int(n) for n in s.split("x")] for s in (first, last))
    if len(low) != len(high) or any(a > b for a, b in zip(low, high, strict=True)):
        raise UsageError(f"{first}..{last}: both ends of a range must have the same axes, the smaller end first")
    shapes = []
    while True:
        shapes.append("x".join(map(str, low)))
        if low == high:
            return shapes
        low = [min(b, a + 1 if kind == "hypercube" else 2 * a) for a, b in zip(low, high, strict=True)]
