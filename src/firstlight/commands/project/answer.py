"""Answer: the result of one `project`, as --json prints it: seconds, bytes, flop/s and watts."""

from __future__ import annotations

from typing import Literal

import msgspec

from firstlight.analysis.checkpoints import Plan
from firstlight.commands.project.machines import Fits

Held = Literal["processes", "size"]


class LeftOut(msgspec.Struct, frozen=True):
    """A figure of the run, projected from other figures: from one process to several, or from smaller sizes.

    `fro`: the program from which it was projected. `factor`: projection / measurement.
    """

    application: str
    kind: Held
    program: str
    fro: str
    processes: int
    elements: float
    predicted: float
    low: float
    high: float
    measured: float

    @property
    def factor(self) -> float:
        return self.predicted / self.measured

    @property
    def inside(self) -> bool:
        """Return whether the measurement is inside the interval of its prediction."""
        return self.low <= self.measured <= self.high

    @property
    def off(self) -> float:
        """Return the relative error, alike for too large and too small predictions."""
        return max(self.factor, 1 / self.factor) - 1


class Point(msgspec.Struct, frozen=True):
    """An application on a number of nodes. `messages`: seconds of communication; `rate`: flop/s of all nodes.

    `low`, `high`: the interval of `seconds` from resampled launches. `efficiency`: relative to one node. `beyond`: the
    largest simulated number of nodes, from which messages are extrapolated (0: simulated at this size). `joules`:
    energy per step.
    """

    nodes: int
    topology: str
    elements: float
    seconds: float
    low: float
    high: float
    messages: float
    rate: float
    efficiency: float
    beyond: int
    joules: float | None = None

    @property
    def share(self) -> float:
        return self.messages / self.seconds if self.seconds > 0 else 0.0


class Application(msgspec.Struct, frozen=True):
    """One application. `fro`: the program whose share of the ceilings is used. `measured_to`: the bytes of a node's
    largest problem.
    """

    title: str
    fro: str
    cores: int
    measured_to: float
    weak: tuple[Point, ...]
    strong: tuple[Point, ...]
    refused: str = ""


class Machine(msgspec.Struct, frozen=True):
    """The node of the projection, in words and numbers (None: unknown). `standing`: how many of its numbers were
    checked in their sources.
    """

    title: str
    year: int | None
    flops: float | None
    bandwidth: float | None
    watts: float | None
    watts_from: str
    sources: dict[str, str]
    standing: str = ""


class Projected(msgspec.Struct, frozen=True):
    """The projection of a run. `left_out`: the error of the same projection within the run. `fits`: within power and
    racks.

    `checkpoints`: intervals and efficiencies with failures (None: not requested). `disturbed`: a sentence if other
    processes used the processors of the run, otherwise "".
    """

    firstlight: str
    run: str
    left_out: tuple[LeftOut, ...]
    topology: str
    nodes: int
    messages_from: str
    machine: Machine
    power: float | None
    fits: tuple[Fits, ...]
    applications: tuple[Application, ...]
    notes: tuple[str, ...]
    checkpoints: Plan | None = None
    disturbed: str = ""
