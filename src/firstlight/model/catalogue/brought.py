"""Brought: a workload that a run contains instead of a workload folder: the commands of a user.

It is stored in run.json, so that any user of the run can judge it and draw its page. It is data and has no code.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from firstlight.core.roles import EXECUTION, EXECUTION_CPU, EXECUTION_MEMORY, OF_COMMANDS, Role, defect
from firstlight.model.catalogue import Bound, Plot, Row, Variant, Workload, needs

CHAPTER, IMPORTED = "bench", "imported"
"""The chapters of commands that firstlight measured, and of figures that another tool reported."""
CALLED = {EXECUTION: "wall time", EXECUTION_CPU: "CPU time", EXECUTION_MEMORY: "peak memory"}
"""Names of the metrics with these roles."""
THRESHOLD = 0.05
"""The default of the smallest difference that matters, as a share."""


class Reporter(msgspec.Struct, frozen=True):
    """The tool that reported the figures of a run. firstlight neither measured nor verified them."""

    tool: str
    version: str = ""  # "": not known

    def __str__(self) -> str:
        return f"{self.tool} {self.version or '(version unknown)'}"


class Brought(msgspec.Struct, frozen=True):
    """The part of a workload.toml about commands. `commands`: by variant, as typed by the user.

    `threshold`: the smallest difference between commands that matters, as a share. `reporter`: the tool whose results
    were imported (None: firstlight measured the commands). `limit`: the share by which a command may be slower than the
    first one (None: no limit).
    """

    name: str
    title: str
    question: str
    commands: dict[str, str]
    toolchain_sensitive: bool = False  # it was built here, by several toolchains
    rows: tuple[Row, ...] = ()
    bounded_by: tuple[Bound, ...] = ()
    roles: tuple[Role, ...] = ()
    threshold: float = THRESHOLD
    reporter: Reporter | None = None
    limit: float | None = None

    @property
    def chapter(self) -> str:
        return CHAPTER if self.reporter is None else IMPORTED

    @property
    def choose(self) -> str:
        """Return what distinguishes the things that are compared: `variant`, or several axes as `variant+mpi`."""
        return self.rows[0].choose if self.rows else "variant"

    def metric(self, role: str) -> str:
        """Return the name of the metric that plays a role, "" if there is none."""
        return next((r.metric for r in self.roles if r.role == role), "")

    def called(self, metric: str) -> str:
        """Return the name of a metric in a sentence: `wall time`."""
        role = next((r.role for r in self.roles if r.metric == metric), "")
        return CALLED.get(role) or metric.replace("_", " ")

    @property
    def headlines(self) -> tuple[str, ...]:
        """Return the metrics that decide which command is better: wall time, and those that the user requested."""
        return tuple(dict.fromkeys(r.metric for r in self.rows if r.headline))

    @property
    def swept(self) -> str:
        """Return the parameter with the most values in the sweep, "" if nothing was swept."""
        values: dict[str, set[object]] = {}
        for row in self.rows:
            for name, value in row.where.items():
                values.setdefault(name, set()).add(value)
        several = [name for name in values if len(values[name]) > 1]
        return max(several, key=lambda name: len(values[name]), default="")

    def plots(self) -> tuple[Plot, ...]:
        """Return a drawing of each metric that decides, and of CPU time: over the sweep, else launch by launch."""
        time, *others = self.headlines or ("",)
        metrics = dict.fromkeys(filter(None, (time, self.metric(EXECUTION_CPU), *others)))
        kind = "sweep" if self.swept else "launches"
        return tuple(Plot(kind, self.swept, m, self.choose, subject=self.called(m)) for m in metrics)

    def defect(self) -> str:
        """Return what `./fl bench` never writes into a run, "" if there is nothing: the run may come from another user.

        Simulations, projections and parameters of other workloads use the figures of a role. Therefore a command can
        only play the role of its execution.
        """
        for role in self.roles:
            if role.role not in OF_COMMANDS:
                return f"declares the role {role.role[:80]!r}, which commands cannot have"
            if wrong := defect(role, list(self.commands)):
                return f"declares an invalid role: {wrong[:200]}"
        return ""

    def workload(self) -> Workload:
        nowhere = Path(os.devnull)  # where no file of it can be
        return Workload(
            name=self.name,
            folder=nowhere,
            title=self.title,
            question=self.question,
            chapter=self.chapter,
            toolchain_sensitive=self.toolchain_sensitive,
            suites={},
            variants=tuple(Variant(name, nowhere, (), broken=False) for name in self.commands),
            sizes=None,
            provides=(),
            bounded_by=self.bounded_by,
            rows=self.rows,
            plots=self.plots(),
            roles=self.roles,
        )


def together(found: Mapping[str, Workload], brought: Iterable[Brought]) -> dict[str, Workload]:
    """Return the workloads of the catalogue and of a run; one of the run hides one of the same name."""
    return {**found, **{one.name: one.workload() for one in brought}}


def variant_name(text: str) -> str:
    """Return a valid name of a variant that resembles `text` and requires nothing (see catalogue.needs)."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:60].rstrip("_") or "command"
    name = name if name[0].isalpha() else f"x{name}"
    return f"my_{name}" if needs(name) else name
