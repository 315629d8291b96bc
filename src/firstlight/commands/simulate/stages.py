"""Stages: an iteration of which it is known what each process does in turn, and what at once, on any network.

`classic=near:800|work:5200,sum:8,work:900`: stages follow each other, parts of one go on at once: work of so many
nanoseconds, a sum of so many bytes over all processes, messages of so many bytes to the processes before and behind.
`s_step=.../4` stands for four iterations. Work leaves messages alone: they travel, and sums go on, beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from firstlight.analysis import Judgement
from firstlight.analysis.roles import measuring, played, players
from firstlight.commands.simulate import program
from firstlight.commands.simulate.prediction import Breakdown, Noise, Prediction
from firstlight.core.errors import UsageError
from firstlight.core.roles import ITERATION
from firstlight.model.catalogue import Workload

MEASURED = "measured"
"""In place of stages: those that a run measured."""
_WRITTEN = re.compile(r"([A-Za-z0-9_ -]{1,40})=([^/=]{1,4000})(?:/([1-9][0-9]{0,3}))?")
_WORK = re.compile(r"\bwork:([0-9]+(?:\.[0-9]+)?)")


class Stages(msgspec.Struct, frozen=True):
    """`text` as firstlight-simulate takes it, of so many `iterations`."""

    name: str
    text: str
    iterations: int = 1

    @property
    def written(self) -> str:
        return f"{self.name}={self.text}" + (f"/{self.iterations}" if self.iterations > 1 else "")

    def lasting(self, seconds: float) -> Stages:
        """With work that takes so long an iteration by its shares. Raises UsageError where it has none."""
        whole = sum(float(share) for share in _WORK.findall(self.text))
        if whole <= 0:
            raise UsageError(f"the stages of {self.name} have no work, as work:1, that what was measured could be")
        ns = 1e9 * seconds * self.iterations / whole
        return msgspec.structs.replace(self, text=_WORK.sub(lambda m: f"work:{ns * float(m[1]):.0f}", self.text))


def read(words: Iterable[str]) -> tuple[Stages, ...]:
    """As written on a command line. Raises UsageError."""
    found: dict[str, Stages] = {}
    for word in words:
        known = _WRITTEN.fullmatch(word)
        if known is None:
            raise UsageError(
                f"--stages {word[:80]!r}: write NAME=STAGES, as classic=near:800|work:5200,sum:8, or {MEASURED}"
            )
        if known[1] in found:
            raise UsageError(f"--stages: {known[1]} is given twice")
        found[known[1]] = Stages(known[1], known[2], int(known[3] or 1))
    return tuple(found.values())


def measured(judgement: Judgement, workloads: Mapping[str, Workload]) -> tuple[Stages, ...]:
    """Return all iterations whose stages a workload declares, each with the time of its fastest figure.

    Raises UsageError where the run has none.
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
    """An iteration of each. Raises UsageError in the words of the program."""
    found: list[Prediction] = []
    for one in some:
        [line] = program.ask(built, ["stages", one.name, "--stages", one.text, *options], done)
        found.append(_an_iteration(program.decode(line, Prediction), one.iterations))
    return found


def _an_iteration(p: Prediction, iterations: int) -> Prediction:
    """Times of one of so many; what is counted stays that of all."""
    if iterations == 1 or p.seconds is None:
        return p
    spent, noise = p.breakdown, p.noise
    if spent is not None:
        spent = Breakdown(*(part / iterations for part in msgspec.structs.astuple(spent)))
    if noise is not None:
        median, least, most = (t / iterations for t in (noise.median, noise.least, noise.most))
        noise = Noise(median, least, most, noise.slowdown)
    return msgspec.structs.replace(p, seconds=p.seconds / iterations, breakdown=spent, noise=noise)
