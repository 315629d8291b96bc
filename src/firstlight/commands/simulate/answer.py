"""Answer: the result of one `simulate`, as --json prints it."""

from __future__ import annotations

import msgspec

from firstlight.commands.simulate.sweep import Span
from firstlight.execute.network.prediction import Prediction


class Simulated(msgspec.Struct, frozen=True):
    """Predictions of one collective (or of one GOAL file), and the best algorithm by size and scale.

    `machine`: the parameters as given to the program, "" for its defaults. `machine_from`: their source in words.
    """

    firstlight: str
    subject: str  # broadcast, or the name of a file
    topologies: tuple[str, ...]
    bytes: tuple[int, ...]
    machine: str
    machine_from: str
    noise: str
    predictions: tuple[Prediction, ...]
    by_size: tuple[Span, ...] = ()  # on the first topology
    by_scale: tuple[Span, ...] = ()  # with the largest size
    notes: tuple[str, ...] = ()  # what one must know of the parameters
