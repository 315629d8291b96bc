"""Change: what is done to a loop, one kind a file, each a rewriting of its parse tree; no file proves it legal.

A file has `choices(piece)`: the values beside "" (leave it), and `apply(piece, value)`: the piece rewritten. They are
applied in the order of ORDER, each to what the one before left. One with `ENABLES` is searched for first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType

import msgspec

from firstlight.commands.loops import NotUnderstoodError, Param

ORDER = ("interchange", "tile", "strip", "lanes", "scan", "unroll", "simd", "prefetch", "restrict", "flags")
LEGALITY = "not proven: verified"

Point = Mapping[str, str]
"""The value of each change; those that are left out are not made."""


class NotApplicableError(NotUnderstoodError):
    """A change that this loop does not take, or not after the changes before."""


class Piece(msgspec.Struct, frozen=True):
    """The code of a candidate: statements that stand in a function of these parameters."""

    code: str
    params: tuple[Param, ...]
    family: str  # gcc, clang
    reassoc: bool
    restrict: bool = False
    attributes: tuple[str, ...] = ()  # of the function
    opening: tuple[str, ...] = ()  # lines at the beginning of its block


def kinds() -> dict[str, ModuleType]:
    return {name: import_module(f"{__name__}.{name}") for name in ORDER}


def space(piece: Piece) -> dict[str, tuple[str, ...]]:
    """What may be tried: the changes that the loop takes, each with its values, in the order to search in."""
    some = sorted(kinds().items(), key=lambda item: not getattr(item[1], "ENABLES", False))
    found = {name: ("", *kind.choices(piece)) for name, kind in some}
    return {name: values for name, values in found.items() if len(values) > 1}


def applicable(apply: Callable[[Piece, str], Piece], piece: Piece, values: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the values with which a change can be made, for one that can only be tried."""
    found = []
    for value in values:
        try:
            apply(piece, value)
        except NotApplicableError:
            continue
        found.append(value)
    return tuple(found)


def changed(piece: Piece, point: Point) -> Piece:
    """Raises NotApplicableError where the changes do not go together."""
    for name, kind in kinds().items():
        if value := point.get(name, ""):
            piece = kind.apply(piece, value)
    return piece


def describe(point: Point) -> str:
    """`interchange ikj, unroll 4`; "golden" where nothing is changed."""
    return ", ".join(f"{name} {point[name]}" for name in ORDER if point.get(name)) or "golden"
