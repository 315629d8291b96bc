"""Starters: launchers of MPI programs in an allocation other than mpiexec and srun; one launcher per file, words only.

A file returns the words that start ranks where a placement requires them. Nothing here runs anything: a trial in
`toolchains` proves that a launcher and a library work together, and `launch` starts what was proved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Protocol

from firstlight.system.mpi_families import Family, Layout, NodeCapacity
from firstlight.system.site.launchers import PLACES


class Starter(Protocol):
    """The module of a launcher. `devices(per_node, gpus)`, if it has one, returns the words that assign one of a node's
    `gpus` to each rank of a program for GPUs. Without it, and if it returns none, every rank sees all of them and the
    harness selects one by the rank's place on its node. `is_it(path)`, if it has one, returns whether a program of that
    name is this launcher: several are called mpiexec.
    """

    LABEL: str  # flux run
    COMMAND: str  # the program, as it is called on the search path
    SYSTEMS: tuple[str, ...]  # allocations in which it is tried unasked; others have to name it

    def ways(self, command: str, family: Family) -> Sequence[tuple[str, ...]]:
        """Return first words of command lines that may start programs of the family, best first."""
        ...

    def words(self, spread: Layout, room: NodeCapacity) -> Sequence[str]:
        """Return the words that follow: how many ranks where, and bound to what. What does not fit is not bound."""
        ...


@cache
def every() -> Mapping[str, Starter]:
    """Return every launcher that has a file, by name."""
    return {m.name: import_module(f"{__name__}.{m.name}") for m in iter_modules(__path__)}


def of(starter: Sequence[str]) -> Starter | None:
    """Return the launcher whose first words these are; None for srun and for a user's own command line."""
    name = Path(starter[0]).name
    return next((one for one in every().values() if name == one.COMMAND), None) if not written(starter) else None


def is_it(one: Starter, command: Path) -> bool:
    """Return whether a program of the launcher's name is this launcher."""
    return bool(getattr(one, "is_it", lambda path: True)(command))


def written(starter: Sequence[str]) -> bool:
    """Return whether these words are a user's own, with places for numbers."""
    return any("{" in word for word in starter)


def line(starter: Sequence[str], spread: Layout, room: NodeCapacity) -> tuple[str, ...]:
    """Return the words that start so many ranks, before the program's own."""
    if written(starter):
        numbers = {name: getattr(spread, name) for name in PLACES}
        return tuple(word.format_map(numbers) for word in starter)
    one = of(starter)
    assert one is not None  # of srun, launch has a file of its own
    return (*starter, *one.words(spread, room))
