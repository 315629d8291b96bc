"""HPC Challenge: the summary of hpccoutf.txt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from firstlight.commands.import_.fields import number
from firstlight.commands.import_.results import Case, Execution, Quantity, Results, Source, UnreadableError
from firstlight.model.catalogue import Value
from firstlight.report.export.hpcc import Known, known

TOOL = "HPC Challenge"
_TITLE = re.compile(r".*\bHPC Challenge Benchmark version (?P<version>\d\S*).*")
_HOST = re.compile(r"Hostname: '(?P<name>[^']{1,80})'\s*")
_TIME = re.compile(r"Current time \((?P<seconds>\d{1,11})\) is .*")
_BEGIN, _CLOSE = "Begin of Summary section.", "End of Summary section."
_END = "End of HPC Challenge tests."
_LINE = re.compile(r"(?P<name>\w+)=(?P<value>.*)")
UNITS = {
    "Tflop/s": ("flop_rate", 1000.0, Quantity("Gflop/s", "higher")),
    "Gflop/s": ("flop_rate", 1.0, Quantity("Gflop/s", "higher")),
    "GB/s": ("bandwidth", 1.0, Quantity("GB/s", "higher")),
    "GUP/s": ("update_rate", 1.0, Quantity("GUP/s", "higher")),
    "us": ("latency", 1.0, Quantity("us", "lower")),
}
_UNIT = re.compile(r"_(Tflops|Gflops|GBs|GUPs|usec|GBytes)$")


def matches(source: Source) -> bool:
    return any(_TITLE.fullmatch(line) for _, line in source.lines)


def read(source: Source) -> Results:
    """Return the figures of the summary, with the sizes that it contains."""
    version, machine, date, inside, closed, ended, last = "", "", None, False, False, False, 0
    summary: dict[str, tuple[int, str]] = {}
    for last, line in source.lines:
        if title := _TITLE.fullmatch(line):
            version = version or title["version"]
        elif host := _HOST.fullmatch(line):
            machine = host["name"]
        elif time := _TIME.fullmatch(line):
            date = date if date is not None else float(time["seconds"])
        ended |= line.strip() == _END
        closed |= line.strip() == _CLOSE
        if inside and not closed:
            found = _LINE.fullmatch(line)
            if found is None or found["name"] in summary:
                raise UnreadableError(
                    "is not a NAME=VALUE line of the summary" if found is None else "occurs twice", last
                )
            summary[found["name"]] = last, found["value"].strip()
        inside |= line.strip() == _BEGIN
    if not (inside and closed and ended):
        raise UnreadableError("is truncated: the summary or the end of the tests is missing", last)
    at, success = summary.get("Success", (last, ""))
    if success not in ("0", "1"):
        raise UnreadableError("Success of the summary is neither 0 nor 1", at)
    failed = "" if success == "1" else f"{TOOL} reports that a test failed (Success=0)"
    quantities = {name: quantity for name, _, quantity in UNITS.values()}
    return Results(TOOL, version, quantities, tuple(_cases(summary, failed, date)), machine, date)


def _cases(summary: Mapping[str, tuple[int, str]], failed: str, date: float | None) -> Iterator[Case]:
    for one in known():
        if one.name in summary and one.unit in UNITS:
            at, word = summary[one.name]
            name, factor, _ = UNITS[one.unit]
            if word.startswith("-"):
                continue  # the value of a test that was not run
            execution = Execution({name: factor * number(word, at)}, failed, began=date)
            yield Case(_UNIT.sub("", one.name), _sizes(one, summary), (execution,))


def _sizes(one: Known, summary: Mapping[str, tuple[int, str]]) -> dict[str, Value]:
    """Return the number of processes and the size of a benchmark: `StarDGEMM_Gflops` has that of `DGEMM_N`."""
    base = _UNIT.sub("", re.sub(r"^(Star|Single)", "", one.name))
    names = {"n": (f"{base}_N", f"{base}_n"), "elements": (f"{base.partition('_')[0]}_VectorSize",)}
    names["processes"] = ("CommWorldProcs",)
    return {
        parameter: int(value)
        for parameter, some in names.items()
        for name in some
        if (value := summary.get(name, (0, ""))[1]).isdecimal() and value.isascii() and len(value) < 19
    }
