"""Loops: loops of C programs that a pragma marks, made faster and proved beside what they were.

    pragma, source  what is marked: the pragma's clauses, the loop with its names and types, its hash
    view            the preprocessor's view of it: macros expanded, headers included
    nest, change/   what may be done to it: one kind of change a file, each a rewriting of the parse tree
    dispatch        which candidate is taken when, and golden where none may be
    engines/        which candidates are tried: one way of searching a file
    unit, trial     what is compiled, how it is verified and timed, each in a process of its own
    judging         what is faster than golden, by the judge's own intervals
    choosing        which candidate runs at which trip counts, and where golden does
    tuner           all of this in time
    emit, wrapper   the tuned file with its seal, and the compiler wrapper that takes it
    records, page   what came of each loop, kept beside the tuned file, and the page made of that

Whatever a change does, it is not proven: it is verified against the golden loop, and only what passed is timed.
"""

from __future__ import annotations

import msgspec

from firstlight.core.errors import UsageError


class NotUnderstoodError(UsageError):
    """A marked loop that is left as it is: one line that says where and why."""


class Pragma(msgspec.Struct, frozen=True):
    """What `#pragma tune` says. `low`, `high`: the trip counts that matter, both included."""

    low: int = 1
    high: int = 10_000
    even: bool = False
    not_pow2: bool = False
    tolerance: float = 1e-12  # relative; of reassoc only
    reassoc: bool = False
    extents: dict[str, str] = {}  # elements from 0 on that a call may touch: C expressions
    ranges: dict[str, tuple[str, str, str]] = {}  # by name: "uniform" or "ascending", low, high: C expressions

    def takes(self, trip: int) -> bool:
        """Whether it is a trip count that candidates are made for."""
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
        """As a parameter: a scalar that the loop changes is handed over by its address."""
        if not self.array:
            return f"{self.type} *fl_{self.name}" if self.written else f"{self.type} {self.name}"
        mark = " __restrict" if restrict or self.restrict else " "
        pointer = f"*{mark.strip()}{' ' if mark.strip() else ''}{self.name}"
        rows = "".join(f"[{row}]" for row in self.rows)
        return f"{self.type} ({pointer}){rows}" if rows else f"{self.type} {pointer}"

    @property
    def handed(self) -> str:
        return f"&{self.name}" if self.written and not self.array else self.name
