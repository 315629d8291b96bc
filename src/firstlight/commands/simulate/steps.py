"""Steps: what a workload does again and again, as something that can be predicted from messages of the same run.

What is asked of the native program (`Asks`), what a prediction may take into account (`MODELS`), and what can be asked
for (`Step`): an exchange with neighbours (exchanges.py), an iteration of a pattern (iterations.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec

from firstlight.analysis import Judgement
from firstlight.analysis.roles import RoleFigure, played, players
from firstlight.commands.simulate import fit
from firstlight.commands.simulate.fit import Fitted
from firstlight.commands.simulate.prediction import Prediction
from firstlight.commands.simulate.program import Question
from firstlight.model.catalogue import Workload


class Asks(NamedTuple):
    """How the native program is asked: for algorithms of a collective, for a schedule in the GOAL language
    (text, topology, parameters), and for what its words say (a pattern)."""

    collective: Callable[[Question], Sequence[Prediction]]
    schedule: Callable[[str, str, str], Prediction]
    words: Callable[[Sequence[str]], Prediction]


class Model(msgspec.Struct, frozen=True):
    """What a prediction takes into account, in words.

    From messages alone or in a row, whether of those by the same calls, whether processors copy, and whether what is
    measured is each time the fastest launch, of messages and of what is predicted from them.
    """

    title: str
    roles: tuple[str, str]
    same_calls: bool
    copying: bool
    fastest: bool = False


MODELS = (
    Model("messages alone", fit.ALONE, False, False),
    Model("messages in a row", fit.IN_A_ROW, False, False),
    Model("messages in a row by the same calls", fit.IN_A_ROW, True, False),
    Model("messages in a row by the same calls, and what processors copy", fit.IN_A_ROW, True, True),
)
"""Each adds an effect to the one before; the last is the prediction."""
FASTEST = Model("all of that, the fastest launch of each against the fastest", fit.IN_A_ROW, True, True, True)
"""A machine may have states in which messages take several times as long, and a launch falls into one or the other."""


class Step(Protocol):
    """One step of all processes. `bytes`: the size that distinguishes steps of one kind, also in drawings."""

    @property
    def ranks(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def title(self) -> str:
        """What tells it from other steps of the same variant; "" where its bytes do."""

    def predicted(self, fitted: Fitted, model: Model, asks: Asks) -> Prediction:
        """On a network where all are equally far from each other."""


def measured(
    judgement: Judgement,
    workloads: Mapping[str, Workload],
    role: str,
    mpi: str | None,
    name: Callable[[RoleFigure], str],
) -> tuple[list[RoleFigure], list[str]]:
    """The times of a role between processes of one thread each, and of the others, by name, why they are left out."""
    found: list[RoleFigure] = []
    missing: list[str] = []
    for p in played(judgement.figures, players(workloads, role), judgement.run.machine):
        place = p.identity.placement
        if p.identity.mpi is None or mpi not in (None, p.identity.mpi) or p.seconds() is None:
            continue
        if place.ranks < 2 or place.threads > 1:
            missing.append(f"{name(p)} on {place.ranks} x {place.threads}: a ping-pong does not measure it")
        else:
            found.append(p)
    return found, missing
