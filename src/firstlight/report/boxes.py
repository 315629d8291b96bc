"""Boxes: the elements of small drawings of machines."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


class Box(msgspec.Struct, frozen=True):
    """A rectangle in user units with its label in the middle; `style` is a CSS class."""

    x: float
    y: float
    width: float
    height: float
    style: str
    label: str = ""
    second: str = ""
    top: bool = False  # label at the top left instead


class Picture(msgspec.Struct, frozen=True):
    width: float
    height: float
    boxes: tuple[Box, ...]
    scale: float  # how large to draw it where there is room
    words: str  # the same for those who cannot see it


def spans(cpus: Sequence[int]) -> str:
    """Return `CPU 0` or `CPUs 0-3, 8`."""
    return ("CPU " if len(cpus) == 1 else "CPUs ") + runs(cpus)


def runs(numbers: Sequence[int]) -> str:
    """Return `0-3, 8, 10-11`, at most a dozen of them."""
    found: list[list[int]] = []
    for n in sorted(numbers):
        if found and n == found[-1][1] + 1:
            found[-1][1] = n
        else:
            found.append([n, n])
    text = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in found[:12])
    return text + (", …" if len(found) > 12 else "")
