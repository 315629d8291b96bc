"""Answer: the result of one `project`, as --json prints it: seconds, bytes, flop/s and watts."""

from __future__ import annotations

from typing import Literal

import msgspec

from firstlight.analysis.checkpoints import Plan
from firstlight.commands.project.machines import Fits

Held = Literal["processes", "size"]


class LeftOut(msgspec.Struct, frozen=True):
    """A figure of the run, projected from others: from one process to several, or from smaller sizes.

    `fro`: the program that it was projected from. `factor`: projected over measured.
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
    """An application on so many nodes. `messages`: seconds of communication; `rate`: flop/s of all nodes.

    `low`, `high`: interval of resampled launches, of `seconds`. `efficiency`: against one node. `beyond`: messages are
    continued from so many nodes, the most that were simulated; 0: simulated themselves. `joules`: of a step.
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
    """`fro`: the program whose share of the ceilings is taken. `measured_to`: bytes of a node's largest problem."""

    title: str
    fro: str
    cores: int
    measured_to: float
    weak: tuple[Point, ...]
    strong: tuple[Point, ...]
    refused: str = ""


class Machine(msgspec.Struct, frozen=True):
    """The node that is projected to, in words and numbers. None: not known. `standing`: how much of it was read."""

    title: str
    year: int | None
    flops: float | None
    bandwidth: float | None
    watts: float | None
    watts_from: str
    sources: dict[str, str]
    standing: str = ""


class Projected(msgspec.Struct, frozen=True):
    """`left_out` comes first: the error of the same projection within the run. `fits`: within power and racks.

    `checkpoints`: intervals and efficiencies with failures; None if not requested.
    `disturbed`: a sentence if something else kept the run from its processors, else "".
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
