"""What a reader finds in a file of another tool: cases with their executions, and where they come from."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from firstlight.core.units import count
from firstlight.model.catalogue import Value
from firstlight.results.description import Better

MOST_VALUE = 1e300


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


def columns(words: Sequence[str], wanted: int, line: int) -> None:
    """Raise UnreadableError if a row does not have as many values as its table has columns."""
    if len(words) != wanted:
        raise UnreadableError(f"has {count(len(words), 'value')} where {wanted} are expected", line)


def number(word: str, line: int) -> float:
    """Return a number of a text file. Raises UnreadableError."""
    try:
        found = float(word)
    except ValueError:
        raise UnreadableError(f"{word[:40]!r} is not a number", line) from None
    return plausible(found, line)


def plausible(found: float, line: int = 0, what: str = "a value") -> float:
    """Return a number that a figure may have. Raises UnreadableError."""
    if not (math.isfinite(found) and 0 <= found <= MOST_VALUE):
        raise UnreadableError(f"{what} is {found:g}; a figure is finite and not negative", line)
    return found


def whole_number(word: str, line: int) -> int:
    """Return a count or a size of a text file. Raises UnreadableError."""
    if not re.fullmatch(r"[0-9]{1,18}", word):
        raise UnreadableError(f"{word[:40]!r} is not a whole number", line)
    return int(word)


def moment(text: str, line: int = 0) -> float:
    """Return the seconds since the epoch of a date as C prints it, in local time. Raises UnreadableError."""
    try:
        return max(0.0, time.mktime(time.strptime(" ".join(text.split()), "%a %b %d %H:%M:%S %Y")))
    except (ValueError, OverflowError):
        raise UnreadableError(f"{text[:40]!r} is not a date", line) from None


def slug(text: str) -> str:
    """Return a name of a metric or parameter that resembles a text: lower-case letters, digits and underscores."""
    found = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:32].rstrip("_")
    return found if found[:1].isalpha() else f"x{found}"[:32]
