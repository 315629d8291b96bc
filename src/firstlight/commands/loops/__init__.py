"""Loops: tune the loops of C programs that a pragma marks, and verify them against the original loops.

    pragma, source  parse a marked loop: the pragma's clauses, the loop with its names and types, its hash
    view            preprocess the file: expand macros, include headers
    nest, change/   rewrite the parse tree of a loop: one kind of change per file
    dispatch        call a candidate by trip count, and golden if no candidate is allowed
    engines/        select the candidates to try: one search method per file
    unit, trial     compile, verify and time candidates, each in a process of its own
    judging         decide which candidates are faster than golden, with the intervals of `./fl compare`
    choosing        decide which candidate runs at which trip counts, and where golden does
    tuner           run these steps in order
    emit, wrapper   write the tuned file with its seal; compile programs with it
    records, page   store the result of each loop next to the tuned file; write the page from these records

No change is proven: each candidate is verified against the golden loop, and only verified candidates are timed.
"""

from __future__ import annotations

import msgspec

from firstlight.core.errors import UsageError


class NotUnderstoodError(UsageError):
    """Error for a marked loop that is compiled unchanged; its message is one line with the reason."""


class Pragma(msgspec.Struct, frozen=True):
    """The content of `#pragma tune`. `low`, `high`: the trip counts that matter, both included."""

    low: int = 1
    high: int = 10_000
    even: bool = False
    not_pow2: bool = False
    tolerance: float = 1e-12  # relative; of reassoc only
    reassoc: bool = False
    extents: dict[str, str] = {}  # elements from 0 on that a call may touch: C expressions
    ranges: dict[str, tuple[str, str, str]] = {}  # by name: "uniform" or "ascending", low, high: C expressions

    def takes(self, trip: int) -> bool:
        """Return whether candidates are made for this trip count."""
        pow2 = trip > 0 and trip & (trip - 1) == 0
        return self.low <= trip <= self.high and not (self.even and trip % 2) and not (self.not_pow2 and pow2)


class Param(msgspec.Struct, frozen=True):
    """A free name of a loop. `rows`: the dimensions behind the first of an array of arrays."""

    name: str
    type: str  # of an element, as it is written: `const double`
    array: bool = False
    rows: tuple[str, ...] = ()
    written: bool = False
    restrict: bool = False

    def declared(self, restrict: bool = False) -> str:
        """Return the C declaration as a parameter: a scalar that the loop changes is passed by its address."""
        if not self.array:
            return f"{self.type} *fl_{self.name}" if self.written else f"{self.type} {self.name}"
        mark = " __restrict" if restrict or self.restrict else " "
        pointer = f"*{mark.strip()}{' ' if mark.strip() else ''}{self.name}"
        rows = "".join(f"[{row}]" for row in self.rows)
        return f"{self.type} ({pointer}){rows}" if rows else f"{self.type} {pointer}"

    @property
    def handed(self) -> str:
        return f"&{self.name}" if self.written and not self.array else self.name
