"""What a reader finds in a file of another tool: cases with their executions, and where they come from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from firstlight.model.catalogue import Value
from firstlight.results.description import Better


class UnreadableError(ValueError):
    """A file that is not a whole result of a known tool. `line` counts from 1; 0: of the file as a whole."""

    def __init__(self, what: str, line: int = 0) -> None:
        super().__init__(what)
        self.line = line


class Source(NamedTuple):
    """A file: its name, its text, and its JSON document if it is one (None: it is not)."""

    name: str
    text: str
    document: object

    @property
    def lines(self) -> Iterator[tuple[int, str]]:
        """Return the lines with their numbers, without the ends of lines, as an editor counts them."""
        lines = self.text.removesuffix("\n").split("\n")
        return enumerate((line.removesuffix("\r") for line in lines), 1)


class Quantity(NamedTuple):
    unit: str
    better: Better


class Execution(NamedTuple):
    """One execution: its values by quantity. `failed`: the failure that the tool reports, "" if there is none.

    `began`: its date in seconds since the epoch. `after`: the seconds from the start of the first execution, at least.
    Both are None if the file does not show them.
    """

    values: dict[str, float]
    failed: str = ""
    began: float | None = None
    after: float | None = None


class Case(NamedTuple):
    """A benchmark with its parameters. `typed`: its command as the tool reports it, if that is not its name."""

    name: str
    parameters: dict[str, Value]
    executions: tuple[Execution, ...]
    typed: str = ""


class Results(NamedTuple):
    """The results in one file. `version`, `machine` and `date` are "" or None if the file does not contain them.

    `notes`: what the file reports and no figure shows.
    """

    tool: str
    version: str
    quantities: dict[str, Quantity]
    cases: tuple[Case, ...]
    machine: str = ""
    date: float | None = None
    notes: tuple[str, ...] = ()
