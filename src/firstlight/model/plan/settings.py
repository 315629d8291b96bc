"""Settings: parameters of workloads that a user sets on the command line, as words `name=value[,value...]`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from firstlight.core.errors import UsageError
from firstlight.model.catalogue import Value

Settings = Mapping[str, Mapping[str, Sequence[Value]]]
"""The values that the user sets, by workload, then by parameter."""
NONE: Settings = {}
Defaults = Mapping[str, Mapping[str, Value]]
"""The default values of programs, by workload, then by parameter."""
PLAIN: Defaults = {}

_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_WORD = re.compile(r"[\w.*?+-]{1,100}", re.ASCII)
_EXACT = 2.0**53  # whole numbers below are literal, as programs read them


class Setting(NamedTuple):
    """One parameter and its values, as typed."""

    name: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}={','.join(self.values)}"


def parse(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[Setting, ...]]:
    """Return the words that name workloads, and the settings. Raises UsageError for a malformed setting."""
    found: dict[str, Setting] = {}
    for word in (w for w in words if "=" in w):
        name, _, text = word.partition("=")
        if not _NAME.fullmatch(name):
            raise UsageError(f"{word[:80]!r} sets no parameter: write name=value, as in n=1e6,1e7")
        values = tuple(text.split(","))
        if not all(values):
            raise UsageError(f"{word[:80]!r} lacks a value: write name=value, as in n=1e6,1e7")
        if name in found:
            raise UsageError(f"{name} is set twice; to set several values, write {name}={found[name].values[0]},...")
        found[name] = Setting(name, values)
    return tuple(w for w in words if "=" not in w), tuple(found.values())


def names_file(text: str) -> bool:
    """Return whether a value is the path of a file: it has a dot or a slash and is not a number."""
    return ("/" in text or "." in text) and not _NUMBER.fullmatch(text)


def value(name: str, text: str) -> Value:
    """Parse a value that is not a file, each number in one form. Raises UsageError for what no program accepts."""
    if _NUMBER.fullmatch(text):
        number = float(text)
        if math.isfinite(number):
            return int(number) if number == int(number) and abs(number) < _EXACT else number
        raise UsageError(f"{name}={text[:80]}: the number is too large")
    if not _WORD.fullmatch(text):
        raise UsageError(f"{name}={text[:80]!r} is not a number, a word or a file")
    return text
