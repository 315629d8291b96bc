"""Scaling: project applications to other sizes, processes and nodes from samples, and compute the projection error.

Seconds of a step = the longest of arithmetic and memory at the ceilings of the new place, divided by the share of their
own ceilings that samples of similar size reached, plus the time of messages. Launches of both are resampled.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import NamedTuple

from firstlight.commands.project.answer import LeftOut, Point
from firstlight.commands.project.messages import nodes, smaller
from firstlight.commands.project.node import Application, Rates, Sample
from firstlight.core import formulas
from firstlight.core.confidence import LEVEL
from firstlight.core.errors import UsageError
from firstlight.core.roles import Model

DRAWS = 400
SEED = 20120
_STEPS = 200  # of a bisection
Messages = Callable[[Model, dict[str, float], int, str], float]
"""Seconds of a step's messages between so many ranks on a topology."""


class MessageSpread(NamedTuple):
    """Launches of messages, each relative to its median; empty if they are not measured."""

    messages: Sequence[float]

    def interval(self, sample: Sample, work: float, sent: float) -> tuple[float, float]:
        """Return the interval of resampled launches: `work` grows as the sample's median, `sent` as the messages'."""
        draw = random.Random(SEED)
        found = sorted(
            work * _again(draw, sample.launches) / sample.seconds + sent * (_again(draw, self.messages) or 1.0)
            for _ in range(DRAWS)
        )
        whole, outside = work + sent, round(DRAWS * (1 - LEVEL) / 2)
        return min(found[outside], whole), max(found[-1 - outside], whole)


def _again(draw: random.Random, values: Sequence[float]) -> float:
    return median(draw.choices(values, k=len(values))) if values else 0.0


def reached(app: Application, sample: Sample, rates: Rates) -> float:
    """Return the share of its ceilings that a sample reached. Raises UsageError if the run measured none for it."""
    ideal = rates.ideal(app.model, app.numbers(sample, sample.elements, sample.cores), sample.cores)
    if ideal <= 0:
        raise UsageError(f"{app.model.title}: the run measured neither {app.model.flops_of} nor {app.model.bytes_of}")
    return ideal / sample.seconds


def nearest(some: Iterable[Sample], each: float) -> Sample | None:
    """Return the fastest sample of the nearest size, in bytes per core."""

    def apart(s: Sample) -> tuple[float, float]:
        return round(abs(math.log(_each(s) / max(each, 1))), 6), s.seconds

    return min(some, key=apart, default=None)


def _each(s: Sample) -> float:
    """Return the bytes per core."""
    return max(s.memory / s.cores, 1.0)


def share(app: Application, some: Iterable[Sample], near: Sample, each: float, rates: Rates) -> float:
    """Return the share of its ceilings that the program of `near` reaches with so many bytes per core.

    Between two measured sizes the share follows a power of the bytes; beyond them it is the share of `near`.
    """
    own = sorted((s for s in some if program(s) == program(near)), key=lambda s: (_each(s), s.seconds))
    below = max((s for s in own if _each(s) <= each), key=lambda s: (_each(s), -s.seconds), default=None)
    above = next((s for s in own if _each(s) >= each), None)
    if below is None or above is None or _each(below) == _each(above):
        return reached(app, near, rates)
    part = math.log(each / _each(below)) / math.log(_each(above) / _each(below))
    return float(reached(app, below, rates) ** (1 - part) * reached(app, above, rates) ** part)


def program(s: Sample) -> tuple[object, ...]:
    """Return a key: samples of one program with the same numbers of processes and threads have the same key."""
    return s.variant, s.toolchain, s.mpi, s.ranks, s.threads


def left_out(
    apps: Sequence[Application], rates: Rates, messages: Messages | None, spread: MessageSpread
) -> list[LeftOut]:
    """Predict every figure of several processes from one core, and each largest size from smaller ones."""
    found = []
    for app in apps:
        for s in app.samples:
            if s.ranks > 1 and s.threads == 1 and messages is not None:
                found += _predicted(app, _alone(app, s), s, rates, messages, spread)
        for group in _groups(app.samples):
            *less, largest = sorted(group, key=lambda s: s.elements)
            smaller_ones = [s for s in less if s.elements < largest.elements]
            found += _predicted(app, smaller_ones, largest, rates, None, spread)
    return found


def _alone(app: Application, s: Sample) -> list[Sample]:
    """Return the samples on one core that do the same work, with the same toolchain if there are any."""
    one = [x for x in app.samples if x.cores == 1 and x.variant in (s.variant, *app.model.alone)]
    own = [x for x in one if x.variant == s.variant] or one
    return [x for x in own if x.toolchain == s.toolchain] or own


def _groups(samples: Iterable[Sample]) -> list[list[Sample]]:
    found: dict[tuple[object, ...], list[Sample]] = {}
    for s in samples:
        found.setdefault(program(s), []).append(s)
    return list(found.values())


def _predicted(
    app: Application,
    some: Sequence[Sample],
    target: Sample,
    rates: Rates,
    messages: Messages | None,
    spread: MessageSpread,
) -> list[LeftOut]:
    """Return the prediction of the target, [] without samples. `messages`: None if both have the same number of
    processes, because the share that the samples reached then includes the messages.
    """
    base = nearest(some, _each(target))
    if base is None:
        return []
    numbers = app.numbers(base, target.elements, target.ranks)
    work = rates.ideal(app.model, numbers, target.cores) / share(app, some, base, _each(target), rates)
    sent = messages(app.model, numbers, target.ranks, f"flat:{target.ranks}") if messages else 0.0
    low, high = spread.interval(base, work, sent)
    prediction = LeftOut(
        application=app.model.title,
        kind="processes" if messages else "size",
        program=f"{target.workload}.{target.variant}",
        fro=f"{base.workload}.{base.variant}",
        processes=target.ranks,
        elements=target.elements,
        predicted=work + sent,
        low=low,
        high=high,
        measured=target.seconds,
    )
    return [prediction]


def of_node(app: Application) -> list[Sample]:
    """Return the samples on the largest number of cores."""
    most = max(s.cores for s in app.samples)
    return [s for s in app.samples if s.cores == most]


def elements_for(app: Application, sample: Sample, memory: float, processes: float) -> float:
    """Return the number of elements that need this much memory in total, by bisection."""
    low, high = 1.0, 2.0

    def memory_of(elements: float) -> float:
        return formulas.value(app.model.memory, app.numbers(sample, elements, processes))

    while memory_of(high) < memory and high < 1e30:
        high *= 2
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if memory_of(middle) < memory else (low, middle)
    return high


class Place(NamedTuple):
    """The target: the rates, the network, the largest simulated number of nodes, and the watts of a node."""

    here: Rates
    there: Rates
    messages: Messages
    simulated: int
    spread: MessageSpread
    watts: float | None


def point(app: Application, place: Place, elements: float, topology: str, one: float | None) -> Point:
    """Return the point on this network. `one`: the rate of one node of the same scaling, None if this is it."""
    count = nodes(topology)
    some = of_node(app)
    memory = formulas.value(app.model.memory, app.numbers(some[-1], elements, count)) / count
    each = memory / some[0].cores
    sample = nearest(some, each)
    assert sample is not None
    numbers = app.numbers(sample, elements, count)
    work = place.there.ideal(app.model, numbers, sample.cores, count) / share(app, some, sample, each, place.here)
    sent, beyond = _sent(app, sample, place, elements, topology)
    low, high = place.spread.interval(sample, work, sent)
    seconds = work + sent
    rate = formulas.value(app.model.flops, numbers) / seconds
    return Point(
        nodes=count,
        topology=topology,
        elements=elements,
        seconds=seconds,
        low=low,
        high=high,
        messages=sent,
        rate=rate,
        efficiency=1.0 if one is None else rate / (count * one),
        beyond=beyond,
        joules=None if place.watts is None else count * place.watts * seconds,
    )


def _sent(app: Application, sample: Sample, place: Place, elements: float, topology: str) -> tuple[float, int]:
    """Return the seconds of messages, and the most nodes that were simulated if this network has more, else 0.

    Beyond, two smaller networks have the same problem per node, and a power law of the number of nodes fits both.
    """
    count = nodes(topology)

    def taken(where: str) -> float:
        n = nodes(where)
        memory = formulas.value(app.model.memory, app.numbers(sample, elements, count)) / count
        mine = elements if n == count else elements_for(app, sample, n * memory, n)
        return place.messages(app.model, app.numbers(sample, mine, n), n, where)

    if count <= place.simulated:
        return taken(topology), 0
    known = [t for t in smaller(topology, 64) if 1 < nodes(t) <= place.simulated]
    if len(known) < 2:
        raise UsageError(
            f"--topology {topology}: {count} nodes exceed the {place.simulated} of --simulate, and this kind of "
            f"network has no smaller version"
        )
    last = known[-1]
    before = next((t for t in reversed(known) if 4 * nodes(t) <= nodes(last)), known[0])
    (m, a), (n, b) = ((nodes(t), taken(t)) for t in (before, last))
    power = math.log(b / a) / math.log(n / m) if a > 0 and b > 0 and n > m else 0.0
    return b * (count / n) ** max(power, 0.0), n
