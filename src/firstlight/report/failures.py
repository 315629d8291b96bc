"""Failures: figures without a number, one entry per program and cause, with the toolchains that share it."""

from __future__ import annotations

from typing import Literal

import msgspec

from firstlight.analysis import Judgement, formatting
from firstlight.analysis.verdict import Failed, Unverified
from firstlight.core.units import count
from firstlight.report import wording

Kind = Literal["expected", "failed", "unverified"]


ORDER: tuple[Kind, ...] = ("failed", "unverified", "expected")


class Failure(msgspec.Struct, frozen=True):
    """`figures`: at least one, in the order of the run; `command` measures the first of them again."""

    kind: Kind
    program: str  # dot.kahan, gcc-fast and clang-fast
    figures: tuple[Failed | Unverified, ...]
    command: str

    @property
    def title(self) -> str:
        verb = "failed as expected" if self.kind == "expected" else self.kind
        return f"{self.program}: {count(len(self.figures), 'figure')} {verb}"

    @property
    def why(self) -> str:
        """Return why the failure is expected; "" if it is not."""
        first = self.figures[0]
        return first.expected if isinstance(first, Failed) else ""

    @property
    def reason(self) -> str:
        """Return the first reason: those of the other cases differ only in the sizes."""
        return self.figures[0].reason


def failures(judgement: Judgement) -> list[Failure]:
    """Return failed, unverified and expected failures, each by program and MPI library."""
    found: dict[tuple[Kind, str, str, str], list[Failed | Unverified]] = {}
    for f in judgement.figures:
        if isinstance(f, Failed | Unverified):
            kind: Kind = "failed" if isinstance(f, Failed) else "unverified"
            kind = "expected" if isinstance(f, Failed) and f.expected else kind
            cause = f.cause if isinstance(f, Failed) else ""
            program = f"{f.identity.workload}.{f.identity.variant}"
            found.setdefault((kind, program, f.identity.mpi or "", cause), []).append(f)
    ordered = sorted(found.items(), key=lambda item: (ORDER.index(item[0][0]), item[0]))
    return [
        Failure(key[0], _program(judgement, some), tuple(some), wording.repeat(some[0].identity, judgement.run))
        for key, some in ordered
    ]


def _program(judgement: Judgement, some: list[Failed | Unverified]) -> str:
    first = some[0].identity
    toolchains = formatting.listing(list(dict.fromkeys(f.identity.toolchain for f in some)))
    mpi = f", {wording.mpi_name(judgement.run, first.mpi)}" if first.mpi else ""
    return f"{first.workload}.{first.variant}, {toolchains}{mpi}"
