"""Files that tell launchers where ranks stand: one format a file."""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from importlib import import_module
from typing import Protocol

from firstlight.commands.map.slots import Slot
from firstlight.core.errors import FirstlightError


class UnwritableError(FirstlightError):
    """The format cannot say this map; the reason."""


class Format(Protocol):
    """What a file of this folder has. Files of one format say the same again when they are read and written."""

    TITLE: str
    FILE: str

    def text(self, slots: Sequence[Slot], axes: Sequence[int]) -> str:
        """What the file holds: the slot of each rank; `axes`: the torus that the nodes form. Raises UnwritableError."""
        ...

    def parse(self, text: str) -> list[Sequence[object]]:
        """What such a file says, in its order. Raises ValueError for what is none."""
        ...

    def use(self, file: str, ranks: int) -> str:
        """The command that starts ranks by it."""
        ...


def every() -> dict[str, Format]:
    """All formats by the names of their files."""
    found: dict[str, Format] = {}
    for module in pkgutil.iter_modules(__path__):
        made: Format = import_module(f"{__name__}.{module.name}")  # a module with what the protocol asks for
        found[module.name] = made
    return found
