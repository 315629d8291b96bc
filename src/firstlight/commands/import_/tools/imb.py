"""Intel MPI Benchmarks: the tables of IMB-MPI1 and the other parts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from firstlight.commands.import_.fields import columns, moment, number, slug, whole_number
from firstlight.commands.import_.results import Case, Execution, Quantity, Results, Source, UnreadableError
from firstlight.model.catalogue import Value

TOOL = "Intel MPI Benchmarks"
_TITLE = re.compile(r"#\s+Intel ?\(R\) MPI Benchmarks? (?P<version>\S.*?), (?P<part>\S+) part\s*")
_DATE = re.compile(r"# Date\s+: (?P<date>.*\S)\s*")
_BENCHMARK = re.compile(r"# Benchmarking (?P<name>\S.*?)\s*")
_PROCESSES = re.compile(r"# #processes = (?P<count>\d{1,9})\s*.*")
_COLUMN = re.compile(r"(?P<name>t(_[A-Za-z]+)?)\[usec\]|overlap\[%\]|Mbytes/sec|Msg/sec|defects|#bytes|#repetitions")
_END = re.compile(r"# All processes entering MPI_Finalize\s*")
_UNMEASURED = ("time-out.", "out-of-mem.")
QUANTITIES = {
    "Mbytes/sec": ("bandwidth", Quantity("MB/s", "higher")),
    "Msg/sec": ("message_rate", Quantity("1/s", "higher")),
    "overlap[%]": ("overlap", Quantity("%", "higher")),
}


def matches(source: Source) -> bool:
    return any(_TITLE.fullmatch(line) for _, line in source.lines)


def read(source: Source) -> Results:
    """Return the rows of every table in a file; lines before the title are not of the benchmark."""
    reader = _Tables()
    last = 0
    for last, line in source.lines:
        reader.take(last, line)
    if not reader.ended:
        raise UnreadableError("is truncated: the line about MPI_Finalize at its end is missing", last)
    return Results(TOOL, reader.version, reader.quantities, tuple(reader.cases), date=reader.date)


class _Tables:
    """The tables that were read so far."""

    def __init__(self) -> None:
        self.version, self.ended = "", False
        self.date: float | None = None
        self.quantities: dict[str, Quantity] = {}
        self.cases: list[Case] = []
        self._name = ""
        self._parameters: dict[str, Value] = {}
        self._columns: Sequence[str] = ()

    def take(self, at: int, line: str) -> None:
        """Read the next line. Raises UnreadableError."""
        if title := _TITLE.fullmatch(line):
            if self.version:
                raise UnreadableError("is the title of a second run: import one run per file", at)
            self.version = title["version"]
            if not re.match(r"20[1-9]\d\b", self.version):
                raise UnreadableError(
                    f"is of version {self.version}; only 2018 and later, with MB of 10^6 bytes, are supported", at
                )
        elif not self.version or not line.strip():
            return
        elif date := _DATE.fullmatch(line):
            self.date = moment(date["date"], at)
        elif benchmark := _BENCHMARK.fullmatch(line):
            self._name, self._parameters, self._columns = benchmark["name"], {}, ()
        elif processes := _PROCESSES.fullmatch(line):
            self._parameters["processes"] = int(processes["count"])
        elif _END.fullmatch(line):
            self.ended = True
        elif line.lstrip().startswith(("#bytes", "#repetitions")):
            self._head(at, line.split())
        elif not line.startswith("#"):
            self._row(at, line.split())

    def _head(self, at: int, words: Sequence[str]) -> None:
        for column in words:
            if not _COLUMN.fullmatch(column):
                raise UnreadableError(f"the column {column[:40]!r} is unknown", at)
        self._columns = words

    def _row(self, at: int, words: Sequence[str]) -> None:
        if not (self._name and self._columns):
            raise UnreadableError("is a row before the columns of its table", at)
        if any(mark in word for word in words for mark in _UNMEASURED):
            return  # the benchmark did not measure this size, and wrote why
        columns(words, len(self._columns), at)
        values, parameters, failed = {}, dict(self._parameters), ""
        for column, word in zip(self._columns, words, strict=True):
            if column == "#bytes":
                parameters["bytes"] = whole_number(word, at)
            elif column == "#repetitions":
                whole_number(word, at)
            elif column == "defects":
                failed = f"{TOOL} report defects: {word}" if number(word, at) > 0 else ""
            else:
                values[self._quantity(column)] = number(word, at)
        self.cases.append(Case(self._name, parameters, (Execution(values, failed, began=self.date),)))

    def _quantity(self, column: str) -> str:
        """Return the name of a column's quantity: time for `t[usec]`, time_avg for `t_avg[usec]`."""
        name, quantity = QUANTITIES.get(column, ("", Quantity("us", "lower")))
        name = name or slug(re.sub(r"^t", "time", column.partition("[")[0]))
        self.quantities[name] = quantity
        return name
