"""Steps: describe what a workload repeats, so that messages of the same run can predict it.

`Asks` queries the native program, `MODELS` are the effects that a prediction may include, and a `Step` can be
predicted: an exchange with neighbours (exchanges.py), or an iteration of a pattern (iterations.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import msgspec

from firstlight.analysis import loggops
from firstlight.analysis.loggops import Fitted
from firstlight.execute.network.prediction import Prediction
from firstlight.execute.network.program import Question


class Asks(NamedTuple):
    """Queries to the native program: for algorithms of a collective, for a schedule in the GOAL language
    (text, topology, parameters), and for the words of its command line (a pattern).
    """

    collective: Callable[[Question], Sequence[Prediction]]
    schedule: Callable[[str, str, str], Prediction]
    words: Callable[[Sequence[str]], Prediction]


class Model(msgspec.Struct, frozen=True):
    """What a prediction takes into account, in words.

    From messages alone or in a row, whether of those by the same calls, whether processors copy, and which launches of
    messages count: those at a percentile, or their median.
    """

    title: str
    roles: tuple[str, str]
    same_calls: bool
    copying: bool
    percentile: float | None = None


MODELS = (
    Model("messages alone", loggops.ALONE, False, False),
    Model("consecutive messages", loggops.IN_A_ROW, False, False),
    Model("consecutive messages with the same calls", loggops.IN_A_ROW, True, False),
    Model("consecutive messages with the same calls, and copies by processors", loggops.IN_A_ROW, True, True),
)
"""Each model adds an effect to the one before; the last model is the prediction."""
FASTEST = Model("the last model with the fastest launch of each case", loggops.IN_A_ROW, True, True, loggops.FASTEST)
"""A machine may have states in which messages last several times as long; each launch falls into one of them."""
TAILS = tuple(Model("", loggops.IN_A_ROW, True, True, p) for p in loggops.TAILS)
"""The ends of the interval of the last of MODELS."""


class Step(Protocol):
    """One step of all processes. `bytes`: the size that distinguishes steps of one kind, also in drawings."""

    @property
    def ranks(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def title(self) -> str:
        """Return what distinguishes it from other steps of the same variant; "" if its bytes do."""

    def predicted(self, fitted: Fitted, model: Model, asks: Asks) -> Prediction:
        """Predict the step on a network where all processes are equally far from each other."""
