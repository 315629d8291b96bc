"""Arguments: how values of parameters are written on the command line of a program, and read back."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from firstlight.model.catalogue import Value

Values = Mapping[str, Sequence[Value]]
"""The values of each parameter or option, by name."""

Options = Mapping[str, Sequence[str]]
"""The words that a parameter accepts, by its name."""

_EXACT = 2**53  # every reader of JSON reads integers below this exactly


def compose(parameters: Mapping[str, Iterable[Value]]) -> tuple[str, ...]:
    """Return one word `name=value,value` for each parameter."""
    return tuple(f"{name}={','.join(map(str, some))}" for name, some in parameters.items())


def values(text: str) -> tuple[Value, ...]:
    """Return the values of a list `value,value`."""
    return tuple(map(value, text.split(",")))


def value(text: str) -> Value:
    """Return the number if it is printed exactly so, else the text, as the observer records parameters."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            number = kind(text)
            if str(number) == text and text[-1].isdigit() and abs(number) < _EXACT:
                return number
    return text


def is_pattern(given: Value) -> bool:
    """Return whether a program expands the value to each option that it matches."""
    return "*" in str(given)


def matching(given: Value, options: Sequence[str]) -> list[str]:
    """Return the options that a pattern matches; an empty list for any other value."""
    return [o for o in options if fnmatchcase(o, str(given))] if is_pattern(given) else []


def number(given: Value | None) -> float | None:
    """Return a value as the number that a program reads, which may be written in any form; None for a word."""
    try:
        return None if given is None else float(given)
    except ValueError:
        return None
