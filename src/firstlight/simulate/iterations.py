"""Iterations: one iteration of a pattern of communication as what is simulated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from firstlight.errors import UsageError
from firstlight.simulate import program
from firstlight.simulate.prediction import Prediction
from firstlight.units import binary, count


def words(name: str, processes: int | None, given: Iterable[str] = (), *more: str) -> list[str]:
    """The command line of firstlight-simulate. Raises UsageError for a value that has a comma.

    Without `processes` there are as many as the network has nodes.
    """
    values = list(given)
    for one in values:
        if "," in one or "=" not in one:
            raise UsageError(f"-p {one!r}: write NAME=VALUE, and -p for each")
    said = ["--parameters", ",".join(values)] if values else []
    many = [] if processes is None else ["--processes", str(processes)]
    return ["pattern", name, *more, *many, *said]


def predict(built: Path, asked: Sequence[str], on_line: program.OnLine) -> list[Prediction]:
    """`asked`: words with `predict` or `goal` and what else the program takes. Raises UsageError in its own words."""
    return [program.decode(line, Prediction) for line in program.ask(built, asked, on_line)]


def notes(predictions: Sequence[Prediction]) -> list[str]:
    """What stands for the library's own operations, what was not simulated in one go, and where most goes along."""
    said: list[str] = []
    for p in predictions:
        of = f" on {p.topology}" if len(predictions) > 1 else ""
        if p.evaluated is not None and p.passes is not None and p.evaluated < p.passes:
            passes = count(p.passes, "pass", "passes")
            said.append(
                f"{p.evaluated} of {passes} through the phases{of} were simulated in one go; "
                "the others count what the last of their kind added"
            )
        if p.loads is not None and p.loads.worst:
            links = ", ".join(f"{link} {binary(size, 3)}" for link, size in p.loads.worst)
            said.append(f"the busiest links{of}: {links}")
        if p.carried and p is predictions[0]:
            by = dict.fromkeys(
                f"{c.phase}: {c.collective} of {binary(c.bytes)} among {c.members} by {c.algorithm}" for c in p.carried
            )
            said.append(f"collective operations go by our schedules (--algorithm chooses others): {'; '.join(by)}")
    return said
