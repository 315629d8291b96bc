"""STREAM by John D. McCalpin: the output of stream.c."""

from __future__ import annotations

import re

from firstlight.commands.import_.fields import columns, number, whole_number
from firstlight.commands.import_.results import Case, Execution, Quantity, Results, Source, UnreadableError
from firstlight.model.catalogue import Value

TOOL = "STREAM"
_VERSION = re.compile(r"STREAM version \$Revision: (?P<version>\S+) \$\s*")
_SETTINGS = {
    "elements": re.compile(r"Array size = (\d+) \(elements\).*"),
    "element_bytes": re.compile(r"This system uses (\d+) bytes per array element\.\s*"),
    "threads": re.compile(r"Number of Threads counted = (\d+)\s*"),
}
_USUAL = {"element_bytes": 8}  # double precision, unless stream.c was changed
_HEAD = re.compile(r"Function\s+(Best )?Rate \(?MB/s\)?\s+Avg time\s+Min time\s+Max time\s*")
_ROW = re.compile(r"(?P<kernel>Copy|Scale|Add|Triad):\s+(?P<numbers>.*\S)\s*")
KERNELS = ("Copy", "Scale", "Add", "Triad")
_VALID = re.compile(r"Solution Validates.*")
_INVALID = re.compile(r"Failed Validation on array .*")


def matches(source: Source) -> bool:
    return any(_VERSION.fullmatch(line) for _, line in source.lines)


def read(source: Source) -> Results:
    """Return the best rate of each of the four kernels."""
    version, head, valid, last = "", False, False, 0
    failed: list[str] = []
    parameters: dict[str, Value] = {}
    rates: dict[str, float] = {}
    for last, line in source.lines:
        if title := _VERSION.fullmatch(line):
            if version:
                raise UnreadableError("is the title of a second run: import one run per file", last)
            version = title["version"]
        for name, form in _SETTINGS.items():
            if found := form.fullmatch(line):
                parameters |= {name: n} if (n := whole_number(found[1], last)) != _USUAL.get(name) else {}
        head |= _HEAD.fullmatch(line) is not None
        if row := _ROW.fullmatch(line):
            _require(head, "is a row before the columns of its table", last)
            _require(row["kernel"] not in rates, "occurs twice", last)
            rates[row["kernel"]] = _rate(row["numbers"].split(), last)
        elif head and line.startswith(KERNELS):
            raise UnreadableError("is a truncated row", last)
        valid |= _VALID.fullmatch(line) is not None
        failed += [line] if _INVALID.fullmatch(line) else []
    _require(set(rates) == set(KERNELS), f"is truncated: only {len(rates)} of the four rates are present", last)
    _require(
        valid or bool(failed), "is truncated: the line about validation, which follows the rates, is missing", last
    )
    execution = f"{TOOL} reports: {failed[0].strip()}" if failed else ""
    cases = [Case(kernel, parameters, (Execution({"bandwidth": rates[kernel]}, execution),)) for kernel in KERNELS]
    return Results(TOOL, version, {"bandwidth": Quantity("MB/s", "higher")}, tuple(cases))


def _require(condition: bool, what: str, line: int) -> None:
    if not condition:
        raise UnreadableError(what, line)


def _rate(words: list[str], line: int) -> float:
    """Return the rate of a row, which has three times after it. Raises UnreadableError."""
    columns(words, 4, line)
    rate, *_times = (number(word, line) for word in words)
    return rate
