"""Formats: write files that place ranks for launchers, one format per file."""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from importlib import import_module
from typing import Protocol

from firstlight.commands.map.slots import Slot
from firstlight.core.errors import FirstlightError


class UnwritableError(FirstlightError):
    """Error for a map that the format cannot express; its message is the reason."""


class Format(Protocol):
    """The interface of a format. A file that is parsed and written again describes the same placement."""

    TITLE: str
    FILE: str

    def text(self, slots: Sequence[Slot], axes: Sequence[int]) -> str:
        """Return the file's text: the slot of each rank; `axes`: the torus of the nodes. Raises UnwritableError."""
        ...

    def parse(self, text: str) -> list[Sequence[object]]:
        """Return the entries of such a file in its order. Raises ValueError for an invalid file."""
        ...

    def use(self, file: str, ranks: int) -> str:
        """Return the command that starts ranks with the file."""
        ...


def every() -> dict[str, Format]:
    """Return all formats by the names of their modules."""
    found: dict[str, Format] = {}
    for module in pkgutil.iter_modules(__path__):
        made: Format = import_module(f"{__name__}.{module.name}")  # a module with what the protocol requests
        found[module.name] = made
    return found
