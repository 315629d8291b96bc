"""Sizes as a user writes them: 1MiB, 1KiB..16MiB, shapes of a network."""

from __future__ import annotations

import re

from firstlight.errors import UsageError

_UNITS = {
    "": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mib": 1 << 20, "g": 1 << 30, "gib": 1 << 30,
    "kb": 10**3, "mb": 10**6, "gb": 10**9,
}  # fmt: skip
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)")
_SHAPE = re.compile(r"[1-9]\d{0,8}(x[1-9]\d{0,8})*")
MOST = 1 << 50
MOST_SIZES = 64


def parse(text: str) -> int:
    """Bytes in `24`, `24KiB`, `1.5MiB`, `64k` (binary), `1MB` (decimal). Raises UsageError."""
    match = _SIZE.fullmatch(text.strip().lower())
    if match is None or match[2] not in _UNITS:
        raise UsageError(f"{text!r} is no size; write it as 4096, 24KiB or 1MiB")
    size = float(match[1]) * _UNITS[match[2]]
    if size != int(size) or not 0 <= size <= MOST:
        raise UsageError(f"{text!r}: a size is a whole number of bytes up to {MOST >> 40} TiB")
    return int(size)


def parse_list(text: str) -> list[int]:
    """Ascending sizes in `8,1KiB..16MiB`: a range doubles from its first to its last. Raises UsageError."""
    found: set[int] = set()
    for word in text.split(","):
        first, dots, last = word.partition("..")
        low = parse(first)
        high = parse(last) if dots else low
        if dots and not 0 < low <= high:
            raise UsageError(f"{word!r} is no range of sizes; write the smaller first, as 1KiB..16MiB")
        while low < high:
            found.add(low)
            low *= 2
        found.add(high)
    if len(found) > MOST_SIZES:
        raise UsageError(f"{len(found)} sizes are more than {MOST_SIZES}; ask for fewer")
    return sorted(found)


def scale(topology: str, text: str) -> list[str]:
    """The topologies of a scale sweep: `4x4x4,8x8x8` or `64..4096` of the kind of `topology`, or whole specifications.

    A range doubles every axis that has not reached its end; the dimension of a hypercube goes up by one.
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
            raise UsageError(f"{word!r} is no shape; write --scale 4x4x4,8x8x8 or, for flat:P, --scale 64..65536")
        found += [f"{kind}:{shape}" for shape in (_between(kind, first, last) if dots else [first])]
    if len(found) > MOST_SIZES:
        raise UsageError(f"{len(found)} shapes are more than {MOST_SIZES}; ask for fewer")
    return list(dict.fromkeys(found))


def _between(kind: str, first: str, last: str) -> list[str]:
    low, high = ([int(n) for n in s.split("x")] for s in (first, last))
    if len(low) != len(high) or any(a > b for a, b in zip(low, high, strict=True)):
        raise UsageError(f"{first}..{last}: both ends of a range have the same axes, the smaller first")
    shapes = []
    while True:
        shapes.append("x".join(map(str, low)))
        if low == high:
            return shapes
        low = [min(b, a + 1 if kind == "hypercube" else 2 * a) for a, b in zip(low, high, strict=True)]
