"""Reasons: explain why a prediction is off by more than 10 %, with the measurement of the same run that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

import msgspec

from firstlight.analysis.loggops import Fitted, Messages, Written
from firstlight.core.units import binary, quantity, significant
from firstlight.execute.network.prediction import Carried

CLOSE = 1.1
"""Largest factor by which a prediction may be off without a reason."""
NEAR = 1.5
"""Largest factor by which nine tenths of all predictions may be off."""
STEP = 2.0
"""Ratio of message times of two neighbouring ping-pong sizes from which on the times in between are unknown."""


class Reason(msgspec.Struct, frozen=True):
    """A reason for an error. `name`: the kind of reason. `shown`: the measurement that shows it or, if none can
    (`measured` is false), other evidence.
    """

    name: str
    shown: str
    measured: bool = True


class Fastest(msgspec.Struct, frozen=True):
    """Seconds of the fastest launch, and the prediction for it from the fastest launches of messages."""

    measured: float
    predicted: float

    @property
    def off(self) -> float:
        return max(self.measured / self.predicted, self.predicted / self.measured)


def reasons(
    predicted: float,
    launches: Sequence[float],
    sizes: Sequence[float] = (),
    fitted: Fitted | None = None,
    carried: Sequence[Carried] = (),
    fastest: Fastest | None = None,
) -> tuple[Reason, ...]:
    """Return the reasons why a prediction is wrong; empty if no measurement explains it.

    `launches`: seconds of each launch of what is predicted. `sizes`: bytes of its messages. `carried`: collective
    operations in it that our schedules execute. `fastest`: the same of the fastest launches. Times in seconds.
    """
    found: list[Reason] = []
    least, most = min(launches), max(launches)
    if least / CLOSE <= predicted <= most * CLOSE and most > CLOSE * least:
        shown = f"the launches lasted {quantity(least, 's')} to {quantity(most, 's')}"
        found.append(Reason("the launches of this case scatter more than that", shown))
    if fastest is not None:
        found += _states(max(median(launches) / predicted, predicted / median(launches)), fastest)
    if fitted is not None:
        found += _written(least / predicted, sizes, fitted.written)
        off = max(least / predicted, predicted / most, CLOSE)
        found += _unsteady(off, sizes, fitted.messages, "") or _unsteady(off, sizes, fitted.exchanged, " both ways")
        found += _between(sizes, fitted.messages)
    if carried:
        names = ", ".join(dict.fromkeys(f"{c.collective} by {c.algorithm}" for c in carried))
        found.append(
            Reason("the MPI library chooses the algorithms of its collectives, which are unknown", names, False)
        )
    return tuple(found)


def _states(off: float, fastest: Fastest) -> list[Reason]:
    """Return a reason if only the prediction for the fastest state of the machine is right."""
    if fastest.off > (NEAR if off > NEAR else CLOSE) or fastest.off * CLOSE > off:
        return []
    shown = (
        f"the fastest launch lasted {quantity(fastest.measured, 's')}; the prediction from the fastest launches "
        f"of messages is {quantity(fastest.predicted, 's')}"
    )
    return [Reason("launches are bimodal: this case and its messages were measured in different groups", shown)]


def _written(short: float, sizes: Sequence[float], known: Sequence[Written]) -> list[Reason]:
    """Return a reason if newly written data slow similar messages by as much as the prediction is short.

    `short`: the factor by which it is short. A known size counts if it is at most twice as long or half as long.
    """
    near = [w for size in sizes for w in known if size / 2 <= w.bytes <= 2 * size]
    worst = max(near, key=lambda w: w.seconds / w.cached, default=None)
    if worst is None or short <= 1 or worst.seconds < max(short / CLOSE, CLOSE) * worst.cached:
        return []
    shown = (
        f"{binary(worst.bytes)} lasted {quantity(worst.seconds, 's')} if written before and read after each transfer, "
        f"and {quantity(worst.cached, 's')} if the same buffers were sent repeatedly"
    )
    return [Reason("the messages contain data that another core has just written", shown)]


def _unsteady(off: float, sizes: Sequence[float], known: Sequence[Messages], how: str) -> list[Reason]:
    """Return a reason if messages of these sizes vary between launches by as much as the prediction is off."""
    some = {min(known, key=lambda m: abs(m.bytes - size)) for size in sizes} if known else set()
    worst = max(some, key=lambda m: m.slowest / m.fastest, default=None)
    if worst is None or worst.slowest < off * worst.fastest:
        return []
    shown = f"{binary(worst.bytes)}{how} lasted {quantity(worst.fastest, 's')} to {quantity(worst.slowest, 's')}"
    return [Reason("the ping-pong varies as much from launch to launch", shown)]


def _between(sizes: Sequence[float], known: Sequence[Messages]) -> list[Reason]:
    """Return a reason if a message size is between two ping-pong sizes at which the library changes its method."""
    for below, above in pairwise(known):
        jump = above.seconds / below.seconds
        inside = [size for size in sizes if below.bytes < size < above.bytes]
        if inside and jump >= STEP and above.bytes > 1:
            shown = (
                f"{binary(inside[0])} is between {binary(below.bytes)} and {binary(above.bytes)}, which lasts "
                f"{significant(jump, 2)} times as long"
            )
            return [Reason("the ping-pong has no size near the point where messages become slower", shown)]
    return []
