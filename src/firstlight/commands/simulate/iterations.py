"""Iterations: predict one iteration of a communication pattern, as requested by a user or measured by a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from firstlight.analysis import Judgement
from firstlight.analysis.loggops import Fitted
from firstlight.analysis.roles import RoleFigure, between_processes
from firstlight.commands.simulate.steps import Asks, Model
from firstlight.core.errors import UsageError
from firstlight.core.roles import PATTERN
from firstlight.core.units import binary, count
from firstlight.execute.network import program
from firstlight.execute.network.prediction import Prediction
from firstlight.model.catalogue import Workload


class Iteration(msgspec.Struct, frozen=True):
    """An iteration of a measured pattern, `small` or not. `bytes`: half of what a process sends and receives."""

    title: str
    ranks: int
    bytes: int
    small: bool

    def predicted(self, fitted: Fitted, model: Model, asks: Asks) -> Prediction:
        """Predict with the evaluator of `simulate pattern`; all processes are equally far from each other."""
        options = ["--topology", f"flat:{self.ranks}", "--machine", fitted.at(self.bytes)]
        try:
            return asks.words(
                [*program.pattern_words(self.title, self.ranks, (), "predict"), *(["--small"] * self.small), *options]
            )
        except UsageError as error:  # a run of another version may have patterns that are not known here
            return Prediction(self.title, refused=str(error))


def measured(
    judgement: Judgement, workloads: Mapping[str, Workload], mpi: str | None
) -> tuple[list[tuple[RoleFigure, Iteration]], list[str]]:
    """Return the measured figures with their iterations, and the reason for each that cannot be predicted."""
    some, missing = between_processes(judgement, workloads, PATTERN, mpi, lambda p: p.pattern)
    return [(p, _iteration(p)) for p in some], missing


def _iteration(p: RoleFigure) -> Iteration:
    half = round(p.figure.cost.get("flow", 0.0) / 2)
    return Iteration(p.pattern, p.identity.placement.ranks, half, p.role.small)


def predict(built: Path, asked: Sequence[str], on_line: program.OnLine) -> list[Prediction]:
    """Run the program with the words `asked`, and return its predictions. Raises UsageError with its message."""
    return [program.decode(line, Prediction) for line in program.ask(built, asked, on_line)]


def notes(predictions: Sequence[Prediction]) -> list[str]:
    """Return the algorithms of its collectives, the passes not simulated in sequence, and the busiest links."""
    lines: list[str] = []
    for p in predictions:
        of = f" on {p.topology}" if len(predictions) > 1 else ""
        if p.evaluated is not None and p.passes is not None and p.evaluated < p.passes:
            passes = count(p.passes, "pass", "passes")
            lines.append(
                f"{p.evaluated} of {passes} through the phases{of} were simulated; "
                "the time of the others is that of the latest simulated pass with the same phases"
            )
        if p.loads is not None and p.loads.worst:
            links = ", ".join(f"{link} {binary(size, 3)}" for link, size in p.loads.worst)
            lines.append(f"the busiest links{of}: {links}")
        if p.carried and p is predictions[0]:
            by = dict.fromkeys(
                f"{c.phase}: {c.collective} of {binary(c.bytes)} among {c.members} by {c.algorithm}" for c in p.carried
            )
            lines.append(
                f"collective operations use firstlight's schedules (--algorithm chooses others): {'; '.join(by)}"
            )
    return lines
