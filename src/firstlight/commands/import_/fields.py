"""Fields of another tool's file: numbers, dates and names, or UnreadableError with the line."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence

from firstlight.commands.import_.results import UnreadableError
from firstlight.core.units import count

MOST_VALUE = 1e300


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
        raise UnreadableError(f"{what} is {found:g}; figures must be finite and not negative", line)
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
