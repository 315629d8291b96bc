"""Formats: write files that select collective algorithms for MPI libraries; a family names the format that it reads."""

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
        """Return the algorithms of this library that can be forced. Raises BuildError if they cannot be found."""
        ...

    def name(self, mpi: Mpi) -> str:
        """Return the name of the library's file."""
        ...

    def text(self, mpi: Mpi, table: Table, words: Mapping[tuple[str, str], str]) -> str:
        """Return the file's text. `words`: its name of each (collective, algorithm) of the table. Raises BuildError."""
        ...

    def environment(self, file: Path) -> dict[str, str]:
        """Return the variables that make the library read the file."""
        ...


def find(mpi: Mpi) -> Format | None:
    """Return the format that this library reads; None if firstlight does not know one."""
    named = of(mpi.family).tuning
    if not named:
        return None
    found: Format = import_module(f"{__name__}.{named}")  # a module with the functions of the protocol
    return found
