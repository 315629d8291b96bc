"""Answer: the result of firstlight-map, and the files and trials made from it."""

from __future__ import annotations

import msgspec

from firstlight.analysis.compare import BETTER, Outcome

WORTH = 1.02
"""Factor by which a map must be better, in the busiest links and in simulated time, to be worth a recommendation."""


class Cost(msgspec.Struct, frozen=True):
    """Bytes: `maxima` is the sum over phases of the load of the busiest link, `hop_bytes` that of all links."""

    maxima: int
    hop_bytes: int


class Link(msgspec.Struct, frozen=True):
    """A link, and the bytes of all phases that cross this link."""

    link: str
    bytes: int


class Side(msgspec.Struct, frozen=True):
    """One map. `phases`: bytes on the busiest link of each phase. `spread`: links by load, in equal steps up to
    `most`; `idle`: links without load. `bound_seconds`: the busiest links divided by link bandwidth. `seconds`:
    simulated, phase by phase. `flowing_seconds`: simulated in sequence, where each rank starts its next phase
    when its own messages are complete (None: stopped early). `matrix`: (sender, receiver, bytes) between blocks
    of `block` slots.
    """

    by: str
    maxima: int
    hop_bytes: int
    phases: tuple[int, ...]
    most: int
    idle: int
    spread: tuple[int, ...]
    worst: tuple[Link, ...]
    block: int
    matrix: tuple[tuple[int, int, int], ...]
    bound_seconds: float
    seconds: float | None = None
    flowing_seconds: float | None = None
    phase_seconds: tuple[float, ...] = ()


class Answer(msgspec.Struct, frozen=True):
    """The output of the native program. `map`: (node, slot on the node) of each rank. `places`: the same as one slot
    number, in the order in which the network numbers its ranks. `identity`: the places of the default order. `axes`:
    the torus that the nodes form in this order, or none.

    proved: no map can be better than the default order. in_time: the search was not cut short, so the seed reproduces
    this map. least: bytes over the busiest links of another map that has a smaller load but a longer simulated time; or
    None.
    """

    ranks: int
    nodes: int
    per_node: int
    links: int
    bytes: int
    proved: bool
    in_time: bool
    starts: int
    interrupted: bool
    names: tuple[str, ...]
    left_out: tuple[str, ...]
    before: Side
    after: Side
    axes: tuple[int, ...]
    places: tuple[int, ...]
    identity: tuple[int, ...]
    map: tuple[tuple[int, int], ...]
    least: int | None = None

    @property
    def gain(self) -> float:
        """Return the factor by which the load of the busiest links decreases."""
        return self.before.maxima / self.after.maxima if self.after.maxima else 1.0

    @property
    def simulated_gain(self) -> float | None:
        """Return the predicted gain: the factor by which the simulated time decreases, phase by phase."""
        return _times_less(self.before.seconds, self.after.seconds)

    @property
    def flowing_gain(self) -> float | None:
        """Return this gain if ranks do not wait for each other between phases; it may confirm the prediction."""
        return _times_less(self.before.flowing_seconds, self.after.flowing_seconds)

    @property
    def better(self) -> bool:
        """Return whether the map is worth a recommendation, by the objective and by both simulations."""
        simulated = (self.simulated_gain, self.flowing_gain)
        return self.gain >= WORTH and all(gain is None or gain >= WORTH for gain in simulated)


def _times_less(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None or after <= 0 else before / after


class Written(msgspec.Struct, frozen=True):
    """A file and the command that uses it, or the reason why there is no file (`file` is then "")."""

    format: str
    title: str
    file: str
    use: str = ""
    why: str = ""


class Trial(msgspec.Struct, frozen=True):
    """The user's command in the default order (`without`) and with the map, with the same binding: seconds of each
    launch. `ratio`: with / without.
    """

    command: tuple[str, ...]
    without: tuple[float, ...]
    mapped: tuple[float, ...]
    ratio: float
    low: float | None
    high: float | None
    outcome: Outcome


class Mapped(msgspec.Struct, frozen=True):
    """The complete result: the input, the network, the source of the parameters, the map, the files and the trial.
    `budget`: the limit of the search in seconds (None: the user provided the map).
    """

    firstlight: str
    source: str
    topology: str
    machine: str
    answer: Answer
    files: tuple[Written, ...]
    notes: tuple[str, ...] = ()
    folder: str = ""
    trial: Trial | None = None
    budget: float | None = None

    @property
    def recommended(self) -> bool:
        """Return whether the map is predicted to gain and, if it was tried, does gain."""
        return self.answer.better and (self.trial is None or self.trial.outcome == BETTER)
