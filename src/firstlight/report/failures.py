"""Failures: figures without a number, one entry a program and cause, toolchains that share it together."""

from __future__ import annotations

from typing import Literal

import msgspec

from firstlight.analysis import Judgement, formatting
from firstlight.analysis.verdict import Failed, Unverified
from firstlight.core.units import count
from firstlight.report import wording

Kind = Literal["failed", "unverified"]


class Failure(msgspec.Struct, frozen=True):
    """`figures`: at least one, in the order of the run."""

    kind: Kind
    program: str  # dot.kahan, gcc-fast and clang-fast
    figures: tuple[Failed | Unverified, ...]

    @property
    def title(self) -> str:
        return f"{self.program}: {count(len(self.figures), 'figure')} {self.kind}"

    @property
    def reason(self) -> str:
        """Return the first reason: those of the other cases differ only in the sizes."""
        return self.figures[0].reason

    @property
    def command(self) -> str:
        """Measures the first again."""
        return wording.repeat(self.figures[0].identity)


def failures(judgement: Judgement) -> list[Failure]:
    """What failed, then what is unverified, each by program; a program is built against one MPI library."""
    found: dict[tuple[Kind, str, str, str], list[Failed | Unverified]] = {}
    for f in judgement.figures:
        if isinstance(f, Failed | Unverified):
            kind: Kind = "failed" if isinstance(f, Failed) else "unverified"
            cause = f.cause if isinstance(f, Failed) else ""
            program = f"{f.identity.workload}.{f.identity.variant}"
            found.setdefault((kind, program, f.identity.mpi or "", cause), []).append(f)
    return [Failure(key[0], _program(judgement, some), tuple(some)) for key, some in sorted(found.items(), key=_key)]


def _key(item: tuple[tuple[Kind, str, str, str], list[Failed | Unverified]]) -> tuple[str, str, str, str]:
    return item[0]


def _program(judgement: Judgement, some: list[Failed | Unverified]) -> str:
    first = some[0].identity
    toolchains = formatting.listing(list(dict.fromkeys(f.identity.toolchain for f in some)))
    mpi = f", {wording.mpi_name(judgement.run, first.mpi)}" if first.mpi else ""
    return f"{first.workload}.{first.variant}, {toolchains}{mpi}"
