"""Readers of other tools' results, one file per tool: `matches` recognizes a file, `read` returns its results.

The name of the file is the name of the workload in the run.
"""

from __future__ import annotations

import json
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol, cast

import msgspec

from firstlight.commands.import_.results import Results, Source, UnreadableError
from firstlight.core import reading

MOST_NAMES, MOST_CASES = 1000, 20_000
"""Maximum numbers of different benchmarks, and of results, in a file."""


class Reader(Protocol):
    """One file of this package. `TOOL`: the name of the tool."""

    TOOL: str

    def matches(self, source: Source) -> bool:
        """Return whether this is a result of the tool, by its title or its keys."""

    def read(self, source: Source) -> Results:
        """Return the results. Raises UnreadableError."""


def readers() -> dict[str, Reader]:
    """Return the readers by their names."""
    return {m.name: cast(Reader, import_module(f"{__name__}.{m.name}")) for m in iter_modules(__path__)}


def read(name: str, data: bytes) -> tuple[str, Results]:
    """Return the name of the reader that recognises a file, and the results in it. Raises UnreadableError."""
    source = _source(name, data)
    known = readers()
    found = [(reader, module) for reader, module in known.items() if module.matches(source)]
    if not found:
        tools = ", ".join(sorted((module.TOOL for module in known.values()), key=str.lower))
        raise UnreadableError(f"is not a result of {tools}", 1)
    reader, module = found[0]
    results = module.read(source)
    if not results.cases:
        raise UnreadableError(f"contains no {module.TOOL} figure", 1)
    if len(results.cases) > MOST_CASES or len({case.name for case in results.cases}) > MOST_NAMES:
        raise UnreadableError(f"has more than {MOST_NAMES} benchmarks or {MOST_CASES} figures", 1)
    return reader, results


def _source(name: str, data: bytes) -> Source:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise UnreadableError("is not text in UTF-8", data.count(b"\n", 0, error.start) + 1) from None
    if not text.strip():
        raise UnreadableError("is empty", 1)
    if not text.endswith("\n") and not text.lstrip().startswith("{"):
        raise UnreadableError("is truncated: the last line is incomplete", text.count("\n") + 1)
    return Source(name, text, _document(text) if text.lstrip().startswith("{") else None)


def _document(text: str) -> object:
    """Return a JSON document without repeated keys. Raises UnreadableError with the line of the defect."""
    try:
        found: object = json.loads(text, parse_constant=_refuse)
        repeated = reading.twice(text.encode())
        msgspec.json.encode(found)  # refuses what no record can contain: larger integers, half of a character
    except json.JSONDecodeError as error:
        raise UnreadableError(f"is not complete JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise UnreadableError("is nested too deeply", 1) from None
    except (ValueError, OverflowError) as error:
        raise UnreadableError(f"is not readable JSON: {error}", 1) from None
    if repeated:
        raise UnreadableError(f"the key {repeated!r} occurs twice", 1)
    return found


def _refuse(word: str) -> object:
    raise ValueError(f"{word} is not a number of JSON")
