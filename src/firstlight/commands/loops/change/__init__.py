"""Change: rewrite the parse tree of a loop, one kind of change per file; no file proves that its change is legal.

A file defines `choices(piece)`, which returns the values other than "" (no change), and `apply(piece, value)`, which
returns the rewritten piece. Changes are applied in the order of ORDER; one with `ENABLES` is searched first.
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
"""The value of each change by its name; a change without a value is not applied."""


class NotApplicableError(NotUnderstoodError):
    """Error for a change that this loop does not allow, alone or after the changes before it."""


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
    """Return the changes that apply to the loop, each with its values ("" first), in the order of the search."""
    some = sorted(kinds().items(), key=lambda item: not getattr(item[1], "ENABLES", False))
    found = {name: ("", *kind.choices(piece)) for name, kind in some}
    return {name: values for name, values in found.items() if len(values) > 1}


def applicable(apply: Callable[[Piece, str], Piece], piece: Piece, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values with which the change can be applied; it applies each value to find out."""
    found = []
    for value in values:
        try:
            apply(piece, value)
        except NotApplicableError:
            continue
        found.append(value)
    return tuple(found)


def changed(piece: Piece, point: Point) -> Piece:
    """Return the piece with the changes of a point. Raises NotApplicableError if they cannot be combined."""
    for name, kind in kinds().items():
        if value := point.get(name, ""):
            piece = kind.apply(piece, value)
    return piece


def describe(point: Point) -> str:
    """Return a label such as `interchange i-k-j, unroll 4`; "golden" if nothing is changed."""
    return ", ".join(f"{name} {point[name]}" for name in ORDER if point.get(name)) or "golden"
