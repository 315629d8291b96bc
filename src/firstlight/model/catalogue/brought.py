"""Brought: a workload that a run brings with itself instead of finding it in a folder: commands of a user.

It is kept in run.json, so that whoever has the run can judge it and draw its page; it is data, and has no code.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from firstlight.core.roles import OF_GUESTS, Role, defect
from firstlight.model.catalogue import Bound, Row, Variant, Workload

CHAPTER = "bench"


class Brought(msgspec.Struct, frozen=True):
    """What a workload.toml says, as far as it concerns commands. `commands`: by variant, as its user typed it."""

    name: str
    title: str
    question: str
    commands: dict[str, str]
    toolchain_sensitive: bool = False  # it was built here, by several toolchains
    rows: tuple[Row, ...] = ()
    bounded_by: tuple[Bound, ...] = ()
    roles: tuple[Role, ...] = ()

    def defect(self) -> str:
        """Return what `./fl bench` never writes into a run, "" if there is nothing: the run may come from another user.

        Simulations, projections and parameters of other workloads use the figures of a role. Therefore a command can
        only play the role of its execution.
        """
        for role in self.roles:
            if role.role not in OF_GUESTS:
                return f"plays the role {role.role[:80]!r}, which commands cannot play"
            if wrong := defect(role, list(self.commands)):
                return f"declares a role that cannot be: {wrong[:200]}"
        return ""

    def workload(self) -> Workload:
        nowhere = Path(os.devnull)  # where no file of it can lie
        return Workload(
            name=self.name,
            folder=nowhere,
            title=self.title,
            question=self.question,
            chapter=CHAPTER,
            toolchain_sensitive=self.toolchain_sensitive,
            suites={},
            variants=tuple(Variant(name, nowhere, (), broken=False) for name in self.commands),
            sizes=None,
            provides=(),
            bounded_by=self.bounded_by,
            rows=self.rows,
            plots=(),
            roles=self.roles,
        )


def together(found: Mapping[str, Workload], brought: Iterable[Brought]) -> dict[str, Workload]:
    """The workloads of the catalogue and of a run; what a run brings hides one of the same name."""
    return {**found, **{one.name: one.workload() for one in brought}}
