"""HPL: the output of xhpl."""

from __future__ import annotations

import re
from collections.abc import Iterator

from firstlight.commands.import_.fields import columns, moment, number, whole_number
from firstlight.commands.import_.results import Case, Execution, Quantity, Results, Source, UnreadableError
from firstlight.model.catalogue import Value

TOOL = "HPL"
_TITLE = re.compile(r"HPLinpack (?P<version>\S+)\s+--\s+High-Performance Linpack benchmark\b.*")
_ROW = re.compile(r"W[RC]\S*\s.*")
_START = re.compile(r"HPL_pdgesv\(\) start time (?P<date>.*\S)\s*")
_CHECK = re.compile(r"\|\|Ax-b\|\|_oo/.*=\s*(?P<residual>\S+) \.+ (?P<verdict>PASSED|FAILED)\s*")
_FINISHED = re.compile(r"Finished\s+(?P<count>\d{1,9}) tests.*")
_SKIPPED = re.compile(r"\s+(?P<count>\d{1,9}) tests skipped.*")
_END = re.compile(r"End of Tests\.\s*")
BENCHMARK = "Linpack"


def matches(source: Source) -> bool:
    """Return whether the output has HPL's title first: that of HPC Challenge contains it, too."""
    titles = (line for _, line in source.lines if _TITLE.fullmatch(line) or "HPC Challenge Benchmark" in line)
    return _TITLE.fullmatch(next(titles, "")) is not None


def read(source: Source) -> Results:
    """Return a case for each test: its size, blocks, grid and variant."""
    version, tests, wanted, skipped, ended, last = "", list[_Test](), None, 0, False, 0
    for last, line in source.lines:
        if title := _TITLE.fullmatch(line):
            version = title["version"]
        elif _ROW.fullmatch(line):
            tests.append(_Test(last, line.split()))
        elif start := _START.fullmatch(line):
            _latest(tests, last).began = moment(start["date"], last)
        elif line.startswith("||Ax-b||_oo/"):
            _latest(tests, last).check(last, line)
        elif finished := _FINISHED.fullmatch(line):
            wanted = int(finished["count"])
        elif left_out := _SKIPPED.fullmatch(line):
            skipped = int(left_out["count"])
        ended |= _END.fullmatch(line) is not None
    if not ended or wanted is None:
        raise UnreadableError("is truncated: the end of the tests is missing", last)
    if wanted - skipped != len(tests):
        raise UnreadableError(f"contains {len(tests)} results but reports {wanted - skipped}", last)
    dates = [test.began for test in tests if test.began is not None]
    quantities = {"flop_rate": Quantity("Gflop/s", "higher")}
    return Results(TOOL, version, quantities, tuple(_cases(tests)), date=min(dates, default=None))


class _Test:
    """A row of the results, and what follows it."""

    def __init__(self, at: int, words: list[str]) -> None:
        columns(words, 7, at)
        self.parameters: dict[str, Value] = {"algorithm": words[0]}
        self.parameters |= {k: whole_number(w, at) for k, w in zip(("n", "nb", "p", "q"), words[1:5], strict=True)}
        number(words[5], at)
        self.rate, self.failed = number(words[6], at), ""
        self.began: float | None = None

    def check(self, at: int, line: str) -> None:
        """Read the line of the residual."""
        found = _CHECK.fullmatch(line)
        if found is None:
            raise UnreadableError("is a residual check that neither PASSED nor FAILED", at)
        if found["verdict"] == "FAILED":
            self.failed = f"{TOOL} reports that its residual check failed: {found['residual'][:40]}"


def _latest(tests: list[_Test], at: int) -> _Test:
    if not tests:
        raise UnreadableError("comes before the first result", at)
    return tests[-1]


def _cases(tests: list[_Test]) -> Iterator[Case]:
    for test in tests:
        yield Case(BENCHMARK, test.parameters, (Execution({"flop_rate": test.rate}, test.failed, began=test.began),))
