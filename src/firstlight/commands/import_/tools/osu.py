"""OSU Micro-Benchmarks: the tables that the MPI benchmarks print."""

from __future__ import annotations

import re
from collections.abc import Sequence

from firstlight.commands.import_.fields import columns, number, slug, whole_number
from firstlight.commands.import_.results import Case, Execution, Quantity, Results, Source, UnreadableError
from firstlight.model.catalogue import Value

TOOL = "OSU Micro-Benchmarks"
_TITLE = re.compile(r"# OSU (?P<name>\S.*?) v(?P<version>\d\S*)\s*")
_COLUMN = re.compile(
    r"Size|Iterations|Validation|MB/s|Messages/s|[A-Z][A-Za-z0-9_. ]*?\s*\((?P<unit>us|MB/s|%|Messages/s)\)"
)
_SETTING = re.compile(r"\[ (?P<name>[a-z ]+): (?P<value>\d+) \]")
_USUAL = "MPI_CHAR"  # the datatype that the benchmarks use by default
QUANTITIES = {"MB/s": Quantity("MB/s", "higher"), "Messages/s": Quantity("1/s", "higher")}
UNITS = {"us": Quantity("us", "lower"), "%": Quantity("%", "higher"), **QUANTITIES}
NAMES = {"MB/s": "bandwidth", "Messages/s": "message_rate"}


def matches(source: Source) -> bool:
    return any(_TITLE.fullmatch(line) for _, line in source.lines)


def read(source: Source) -> Results:
    """Return the rows of every table in a file; lines before the first title are not of the benchmark."""
    reader = _Tables()
    for number_, line in source.lines:
        reader.take(number_, line)
    reader.end()
    return Results(TOOL, reader.version, reader.quantities, tuple(reader.cases))


class _Tables:
    """The tables that were read so far."""

    def __init__(self) -> None:
        self.version = ""
        self.quantities: dict[str, Quantity] = {}
        self.cases: list[Case] = []
        self._name, self._at, self._rows = "", 0, 0
        self._parameters: dict[str, Value] = {}
        self._columns: Sequence[str] = ()

    def take(self, at: int, line: str) -> None:
        """Read the next line. Raises UnreadableError."""
        if title := _TITLE.fullmatch(line):
            self.end()
            if self.version not in ("", title["version"]):
                raise UnreadableError(f"is of version {title['version']}, the tables before of {self.version}", at)
            self.version = title["version"]
            self._name = re.sub(r"^MPI[ -]|\s+Test$", "", title["name"])
            self._at, self._rows, self._parameters, self._columns = at, 0, {}, ()
        elif self._name and line.startswith("#"):
            self._comment(at, line)
        elif self._name and line.strip():
            self._row(at, line.split())

    def end(self) -> None:
        """End a table. Raises UnreadableError if it has no row."""
        if self._name and not self._rows:
            raise UnreadableError("is truncated: this table has no row", self._at)

    def _comment(self, at: int, line: str) -> None:
        """Read the columns of the table, or a setting; other comments do not concern its numbers."""
        head = self._header(line)
        if head and self._rows:
            raise UnreadableError("repeats the column names of the same table", at)
        self._columns = head or self._columns
        self._parameters |= {slug(s["name"]): int(s["value"][:18]) for s in _SETTING.finditer(line)}
        if (datatype := re.fullmatch(r"# Datatype: (\w+)\.?\s*", line)) and datatype[1] != _USUAL:
            self._parameters["datatype"] = datatype[1]

    def _header(self, line: str) -> list[str]:
        """Return the columns of a head such as `# Size  Avg Latency(us)`, [] for another comment."""
        found, at, text = [], 0, line.lstrip("# ").rstrip()
        while at < len(text):
            column = _COLUMN.match(text, at)
            if column is None or (column.end() < len(text) and not text[column.end()].isspace()):
                return []
            found.append(column[0])
            at = column.end() + len(text[column.end() :]) - len(text[column.end() :].lstrip())
        return found

    def _row(self, at: int, words: Sequence[str]) -> None:
        if not self._columns:
            raise UnreadableError("is a row before the columns of its table", at)
        columns(words, len(self._columns), at)
        values, parameters, failed = {}, dict(self._parameters), ""
        for column, word in zip(self._columns, words, strict=True):
            if column == "Size":
                parameters["bytes"] = whole_number(word, at)
            elif column == "Validation":
                if word not in ("Pass", "Fail"):
                    raise UnreadableError(f"{word[:40]!r} is neither Pass nor Fail", at)
                failed = f"{TOOL} report that validation failed" if word == "Fail" else ""
            elif column == "Iterations":
                whole_number(word, at)
            else:
                values[self._quantity(column)] = number(word, at)
        self.cases.append(Case(self._name, parameters, (Execution(values, failed),)))
        self._rows += 1

    def _quantity(self, column: str) -> str:
        """Return the name of a column's quantity: latency for `Avg Latency(us)`."""
        known = _COLUMN.fullmatch(column)
        unit = known["unit"] or column if known else column
        name = NAMES.get(column) or slug(re.sub(r"\s*\(.*|^Avg\s+", "", column))
        self.quantities[name] = UNITS[unit]
        return name
