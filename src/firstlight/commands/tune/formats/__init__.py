"""Files by which MPI libraries choose algorithms of collectives: one format a file; a family names the one it reads."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Protocol

from firstlight.commands.tune.setting import Setting
from firstlight.commands.tune.table import Table
from firstlight.system.mpi_families import of
from firstlight.toolchain import Mpi


class Format(Protocol):
    """The functions of a file of this folder."""

    def settings(self, mpi: Mpi, collective: str, ranks: int) -> list[Setting]:
        """The algorithms of this library that can be forced. Raises BuildError where they cannot be known."""
        ...

    def name(self, mpi: Mpi) -> str:
        """The name of the library's file."""
        ...

    def text(self, mpi: Mpi, table: Table, words: Mapping[tuple[str, str], str]) -> str:
        """What the file holds. `words`: what it calls each (collective, algorithm) of the table. Raises BuildError."""
        ...

    def environment(self, file: Path) -> dict[str, str]:
        """What makes the library read the file."""
        ...


def find(mpi: Mpi) -> Format | None:
    """The format that this library reads; None where firstlight knows of none."""
    named = of(mpi.family).tuning
    if not named:
        return None
    found: Format = import_module(f"{__name__}.{named}")  # a module with the functions of the protocol
    return found
