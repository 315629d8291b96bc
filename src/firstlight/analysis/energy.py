"""Energy: the joules of a launch from its counters, and the metrics that follow from them.

A span of samples begins and ends between two updates of a counter. Each reading is at most one update old, so the
energy of a span is uncertain by the energy of one update and by one unit of each counter. A launch whose spans are
shorter than ten updates has no energy, and neither has one of counters that did not change, went back or vanished.

The power of a launch is the energy of its spans over their duration. It is that of the whole node or of its processors,
whatever else runs there. The energy of a case is the power multiplied by the time of its samples.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter as Counted
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple

from msgspec.structs import replace

from firstlight.analysis import Judgement
from firstlight.analysis.verdict import Identity, Verified
from firstlight.results.description import Description, Metric
from firstlight.results.record import LaunchRecord, Run, Span
from firstlight.system.energy import FEWEST_UPDATES, Counter, Meter

METERED: Final = "metered"
PER_WATT: Final = "per_watt"
JOULES: Final = "joules"
FORMS: Final = frozenset({METERED, PER_WATT, JOULES})
"""Forms of a metric that follows from measured energy."""
SUFFIXES = {PER_WATT: "_per_watt", JOULES: "_energy"}
"""How the name of such a metric ends, after that of the rate or time from which it is computed."""
POWER, ENERGY = "power", "energy"
"""Names of the metrics of measured energy."""
OF_POWER, OF_ENERGY = "energy.watts", "energy.joules"
"""Names of their values, which no program can observe: watts, and joules of a launch's samples."""
MOST_WATTS = 20e3
"""No counter of a node covers more power; a counter that seems to has been reset."""
FEWEST_PER_SPAN = 5
"""Updates per span, on average: each span adds its own error. A short external command has many spans."""
FILLED = 0.9
"""The share of a span that its samples must fill; otherwise its power is not that of the samples."""


class Measured(NamedTuple):
    """The energy of a case in one launch: `joules` of its samples, the error of these, and the power in watts."""

    joules: float
    error: float
    watts: float


def measured(meter: Meter, record: LaunchRecord, case: int) -> Measured | str:
    """Return the energy of a case in one launch, or why there is none; "" if the launch recorded no spans."""
    spans = [span for span in record.spans if span.case == case]
    if not spans:
        return ""
    seconds = sum(span.ended - span.began for span in spans)
    wall = sum(span.wall for span in spans)
    if seconds < FEWEST_UPDATES * meter.update:
        return f"the samples are shorter than {FEWEST_UPDATES} counter updates"
    if seconds < FEWEST_PER_SPAN * meter.update * len(spans):
        return f"the executions are shorter than {FEWEST_PER_SPAN} counter updates"
    if wall < FILLED * seconds:
        return f"the samples cover less than {FILLED:.0%} of the time between the readings"
    joules = 0.0
    for span in spans:
        found = _counted(meter, span) if meter.counters else _integrated(meter, record, span)
        if isinstance(found, str):
            return found
        joules += found
    watts = joules / seconds
    error = len(spans) * (watts * meter.update + sum(counter.joules for counter in meter.counters))
    return Measured(watts * wall, error * wall / seconds, watts)


def _counted(meter: Meter, span: Span) -> float | str:
    """Return the joules of a span on all nodes, or what is wrong with a counter."""
    joules, seconds = 0.0, span.ended - span.began
    for before, after in zip(span.before, span.after, strict=False):
        if not len(meter.counters) == len(before) == len(after):
            return "the launches read different counters"
        for counter, first, last in zip(meter.counters, before, after, strict=True):
            if first is None or last is None:
                return f"the counter {counter.name} could not be read"
            found = _difference(counter, first, last, seconds)
            if isinstance(found, str):
                return found
            joules += found
        if joules == 0 and seconds >= FEWEST_UPDATES * meter.update:
            return "the counters did not change"
    return joules


def _difference(counter: Counter, first: int, last: int, seconds: float) -> float | str:
    """Return the joules between two readings; a counter that reached its range began at 0 again, once."""
    went = last - first
    if went < 0 and first <= counter.range:
        went += counter.range
    joules = went * counter.joules
    if not 0 <= joules <= MOST_WATTS * seconds + counter.joules:
        return f"the counter {counter.name} decreased"
    return joules


def _integrated(meter: Meter, record: LaunchRecord, span: Span) -> float | str:
    """Return the integral of the gauge's readings over a span, with straight lines between them."""
    if record.launch is not None and record.launch.nodes > 1:
        return "power was read on one node only, but the launch used several"
    readings = record.exit.power
    times = [time for time, _ in readings]
    if any(a >= b for a, b in pairwise(times)):
        return "the power readings are not in chronological order"
    inside = sum(span.began <= time <= span.ended for time in times)
    if inside < FEWEST_UPDATES:
        return f"the samples contain fewer than {FEWEST_UPDATES} power readings"
    if times[0] > span.began + meter.update or times[-1] < span.ended - 2 * meter.update:
        return "power was not read throughout all samples"
    points = [(span.began, _at(readings, times, span.began))]
    points += [reading for reading in readings if span.began < reading[0] < span.ended]
    points += [(span.ended, _at(readings, times, span.ended))]
    return sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(points))


def _at(readings: Sequence[tuple[float, float]], times: Sequence[float], time: float) -> float:
    """Return the power at a time, from the readings around it."""
    k = bisect_left(times, time)
    if k == 0 or k == len(readings):
        return readings[min(k, len(readings) - 1)][1]
    (t, p), (u, q) = readings[k - 1], readings[k]
    return p + (q - p) * (time - t) / (u - t)


def with_energy(run: Run) -> Run:
    """Return the run with the metrics of energy in the description of each program that its meter measures."""
    if run.energy is None or run.energy.meter is None:
        return run
    meter = run.energy.meter
    return replace(
        run, descriptions={n: _described(d) if measures(meter, d) else d for n, d in run.descriptions.items()}
    )


def measures(meter: Meter, described: Description) -> bool:
    """Return whether the meter measures what a program computes on: the whole node, its processors or its devices."""
    return meter.part in ("node", "devices" if described.device else "processors")


def _described(described: Description) -> Description:
    """Return the description with power, energy and each rate and time of a whole step per watt or in joules."""
    known = {metric.name for metric in described.metrics}
    values = ((POWER, "W", OF_POWER), (ENERGY, "J", OF_ENERGY))
    more = [Metric(name, unit, value, METERED, 1.0, "lower") for name, unit, value in values]
    for metric in described.metrics:
        if metric.form == "rate" and not metric.phase:
            more.append(replace(metric, name=metric.name + SUFFIXES[PER_WATT], unit=f"{metric.unit}/W", form=PER_WATT))
        elif metric.form == "time" and not metric.phase and metric.unit.endswith("s"):
            more.append(replace(metric, name=metric.name + SUFFIXES[JOULES], unit=f"{metric.unit[:-1]}J", form=JOULES))
    added = (metric for metric in more if metric.name not in known)
    return replace(described, metrics=(*described.metrics, *added))


def base(metric: Metric) -> Metric:
    """Return the rate or time from which a metric per watt or in joules is computed."""
    return replace(metric, form="rate" if metric.form == PER_WATT else "time")


def most_power(judgement: Judgement) -> Verified | None:
    """Return the verified figure with the most power per node, None if the run measured none."""
    some = [
        f
        for f in judgement.figures
        if isinstance(f, Verified) and f.identity.metric == POWER and _form(judgement, f.identity) == METERED
    ]
    return max(some, key=lambda f: f.estimate.median / f.identity.placement.nodes, default=None)


def _form(judgement: Judgement, identity: Identity) -> str:
    metric = judgement.run.metric(f"{identity.workload}.{identity.variant}", identity.metric)
    return "" if metric is None else metric.form


def _metered(run: Run, record: LaunchRecord) -> bool:
    """Return whether the meter of a run measures what the program of a launch computes on."""
    if run.energy is None or run.energy.meter is None or record.launch is None:
        return False
    described = run.descriptions.get(f"{record.launch.workload}.{record.launch.variant}")
    return described is None or measures(run.energy.meter, described)


class Coverage(NamedTuple):
    """How many cases of launches have energy, of all; why others have none; the median relative error of those."""

    measured: int
    cases: int
    why: str
    error: float


def coverage(run: Run, records: Iterable[LaunchRecord]) -> Coverage:
    """Return for how many cases of launches the energy was measured. `why`: the most frequent reason, "" for none."""
    meter = run.energy.meter if run.energy is not None else None
    good = [record for record in records if record.exit.ok and _metered(run, record)]
    found = [measured(meter, r, case.case) for r in good for case in r.cases if meter is not None]
    errors = [one.error / one.joules for one in found if isinstance(one, Measured) and one.joules > 0]
    reasons = Counted(one for one in found if isinstance(one, str) and one)
    why = reasons.most_common(1)[0][0] if reasons else ""
    return Coverage(len(errors), len(errors) + reasons.total(), why, median(errors) if errors else 0.0)
