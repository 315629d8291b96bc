"""Stages that a run measured, and the prediction of an iteration from its stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from firstlight.analysis import Judgement
from firstlight.analysis.roles import measuring, played, players
from firstlight.core.errors import UsageError
from firstlight.core.roles import ITERATION
from firstlight.execute.network import program
from firstlight.execute.network.prediction import Breakdown, Noise, Prediction
from firstlight.execute.network.stages import Stages, read
from firstlight.model.catalogue import Workload


def measured(judgement: Judgement, workloads: Mapping[str, Workload]) -> tuple[Stages, ...]:
    """Return all iterations whose stages a workload declares, each with the time of its fastest figure.

    Raises UsageError if the run has none.
    """
    found: dict[str, Stages] = {}
    for player in players(workloads, ITERATION):
        times = [s for p in played(judgement.figures, [player], judgement.run.machine) if (s := p.seconds())]
        [stages] = read([player.role.stages])
        if times:
            found[stages.name] = stages.lasting(min(times))
    if not found:
        raise UsageError(
            f"run {judgement.run.id} measured no iteration whose stages are known; "
            f"{measuring(workloads, (ITERATION,))} does"
        )
    return tuple(found.values())


def predict(built: Path, some: Sequence[Stages], options: Sequence[str], done: program.OnLine) -> list[Prediction]:
    """Predict an iteration of each. Raises UsageError with the program's message."""
    found: list[Prediction] = []
    for one in some:
        [line] = program.ask(built, ["stages", one.name, "--stages", one.text, *options], done)
        found.append(_an_iteration(program.decode(line, Prediction), one.iterations))
    return found


def _an_iteration(p: Prediction, iterations: int) -> Prediction:
    """Return the times of one of several iterations; counts stay those of all."""
    if iterations == 1 or p.seconds is None:
        return p
    spent, noise = p.breakdown, p.noise
    if spent is not None:
        spent = Breakdown(*(part / iterations for part in msgspec.structs.astuple(spent)))
    if noise is not None:
        median, least, most = (t / iterations for t in (noise.median, noise.least, noise.most))
        noise = Noise(median, least, most, noise.slowdown)
    return msgspec.structs.replace(p, seconds=p.seconds / iterations, breakdown=spent, noise=noise)
