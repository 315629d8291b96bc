"""Comparing two runs: every figure that both verified is the same, better, worse or inconclusive.

What is uncertain between two runs. Within a run the launches of a cell are spread over the whole run, but they are not
independent: a machine drifts (clock, temperature, neighbours, page placement), so the values are serially correlated
and their scatter shows only a part of how far the level moves from one run to the next. An interval made from the
scatter alone is therefore too narrow: in simulations with an AR(1) drift of 2 % (standard deviation, correlation 0.9 to
0.99 from launch to launch) equal runs would be called different in up to 10 % of the cases. Two runs alone cannot
measure that component, so it is allowed for: `drift` (4 %) is the assumed move of the level between two
runs; it is 1.4 standard deviations of the difference of two such levels and, with the threshold, keeps false
differences below 5 % with dominant drift and below 1 % without drift. For what was measured interleaved in one run
the drift is common, and 0 is right. A 99 % interval, because one page compares some hundred figures.

Launches that follow each other within seconds share the state of the machine at that moment, and ten of them show
hardly more than one. Therefore launches within MOMENT seconds are pooled to their median before two runs are compared;
a run that was over in five seconds then has too few values to separate a change of the code from a passing state of the
machine.
(On a shared virtual machine whose level moved by half within seconds, adjacent windows of the same thing with ten
launches each were called different in 4.7 % of 850 cases at 0.5 s from launch to launch, 1.4 % of 420 at 1 s, 0.5 % of
200 at 2 s, none of 180 at 4 s and more.)

A figure whose launches fall into two states (`analysis/states.py`) differs only if both states differ: how many
launches fell into which may be a passing state of the machine. Otherwise the reason names the states of both runs.

The page shows B / A of the two medians, so that a reader can compute it from the adjacent numbers. The interval is
that of the Hodges-Lehmann ratio of the launches, widened if the ratio of the medians is outside. Both ratios must
agree that there is a difference.

A run that was disturbed (`analysis/disturbance.py`) can be worse for that alone. Then nothing is called a regression,
and the page reports it first.

    different     the interval of the ratio, widened by the drift, excludes 1, and both ratios differ from 1 by more
                  than the practical threshold
    same          the 90 % interval of the ratio is within the threshold band (two one-sided 5 % tests of equivalence:
                  D. J. Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987) 657)
    inconclusive  neither; more launches may decide
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from statistics import median
from typing import Final, Generic, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from firstlight.analysis import Judgement, disturbance
from firstlight.analysis.environment import differences
from firstlight.analysis.interval import Ratio, ratio
from firstlight.analysis.states import describe_states, spanning
from firstlight.analysis.verdict import (
    Estimate,
    Failed,
    Figure,
    Identity,
    Numbered,
    Reported,
    States,
    Untimed,
    Unverified,
    Verdict,
    Verified,
)
from firstlight.core.errors import INCONCLUSIVE, OK, REGRESSION
from firstlight.core.units import quantity, significant
from firstlight.results.description import Better

THRESHOLD = 0.05
CONFIDENCE = 0.99
DRIFT = 0.04
EQUIVALENCE = 0.90
MOMENT = 2.0  # seconds

Id = TypeVar("Id")
"""What identifies a figure: Identity, or its form in JSON."""

Outcome = Literal["same", "better", "worse", "inconclusive"]
SAME: Final = "same"
BETTER: Final = "better"
WORSE: Final = "worse"
UNCLEAR: Final = "inconclusive"


class Compared(msgspec.Struct, Generic[Id], frozen=True):
    """One figure in both runs. `ratio` is B / A of the medians, with its interval (None: too few launches).

    `outcome`: same, better, worse (B against A, by the figure's direction) or inconclusive, with the reason.
    `observed`: a value that the program observed (noise, a share of the time). It may be near 0, where a ratio means
    little, and often speaks of the state of the machine: it is compared and shown, but decides no exit code.
    `a_states`, `b_states`: where the launches of a run fall into two. `reporter`: the tool that reported it in B, "" if
    firstlight verified it.
    """

    identity: Id
    unit: str
    better: Better
    a: Estimate
    b: Estimate
    ratio: float
    low: float | None
    high: float | None
    outcome: Outcome
    reason: str
    observed: bool
    a_states: States | None
    b_states: States | None
    reporter: str = ""

    @property
    def different(self) -> bool:
        return self.outcome in (BETTER, WORSE)

    @property
    def two_states(self) -> str:
        """Return `bimodal: 154 or 471 ns, 8 of 13 in the lower in A, 160 ns in B`; "" if neither run has two."""
        return _two_states(self.unit, (self.a, self.a_states), (self.b, self.b_states))


class Changed(msgspec.Struct, Generic[Id], frozen=True):
    """A figure whose verdict changed. A figure that had a number and now fails is a regression."""

    identity: Id
    before: Verdict
    after: Verdict
    reason: str

    @property
    def regression(self) -> bool:
        return self.before in ("verified", "reported") and self.after == "failed"


class Comparison(msgspec.Struct, frozen=True):
    """Run B against run A. `shift`: the median of how many times better B is, over all figures (1: none).

    `environment`: one sentence a difference. `not_compared`: oversubscribed in either run, or verified in neither.
    `disturbed`: a sentence for each run that something else kept from its processors. `same_run`: A and B are one run.
    """

    a: str
    b: str
    threshold: float
    confidence: float
    drift: float
    figures: tuple[Compared[Identity], ...]
    changed: tuple[Changed[Identity], ...]
    only_a: tuple[Identity, ...]
    only_b: tuple[Identity, ...]
    not_compared: tuple[Identity, ...]
    environment: tuple[str, ...]
    shift: float | None
    disturbed: tuple[str, ...] = ()
    same_run: bool = False

    @property
    def counts(self) -> dict[str, int]:
        """Return how many figures are same, better, worse and inconclusive."""
        found = Counter(f.outcome for f in self.figures)
        return {outcome: found[outcome] for outcome in (SAME, BETTER, WORSE, UNCLEAR)}

    @property
    def code(self) -> int:
        """Return the exit code: 1 with a regression, 4 if a figure is inconclusive, 0 if all are the same or better.

        If a run was disturbed, differences in time do not count; a result that has become wrong does.
        """
        if self.same_run:
            return OK
        deciding = {f.outcome for f in self.figures if not f.observed}
        if any(c.regression for c in self.changed):
            return REGRESSION
        if self.disturbed and deciding & {WORSE, BETTER}:
            return INCONCLUSIVE
        if WORSE in deciding:
            return REGRESSION
        if not self.figures or UNCLEAR in deciding or any(c.after == "unverified" for c in self.changed):
            return INCONCLUSIVE
        return OK


def compare(
    a: Judgement, b: Judgement, threshold: float = THRESHOLD, confidence: float = CONFIDENCE, drift: float = DRIFT
) -> Comparison:
    """Compare run `b` with run `a`, figure by figure. Raises ValueError if a threshold or confidence is invalid."""
    if not (0 <= threshold < 1 and 0 <= drift < 1 and 0.5 <= confidence < 1):
        raise ValueError("threshold and drift must be in [0, 1), confidence in [0.5, 1)")
    in_a, in_b = ({f.identity: f for f in j.figures} for j in (a, b))
    both = [(f, in_b[i]) for i, f in in_a.items() if i in in_b]
    pairs = [(x, y) for x, y in both if isinstance(x, Verified) and isinstance(y, Verified)]
    pairs = [(x, y) for x, y in pairs if not (x.oversubscribed or y.oversubscribed)]
    reported = [(x, y) for x, y in both if isinstance(x, Reported) and isinstance(y, Reported)]
    alike: list[tuple[Numbered, Numbered]] = [*pairs, *reported]
    figures = tuple(compare_figures(x, y, threshold, confidence, drift) for x, y in alike)
    same_run = replace(a.run, id=b.run.id) == b.run and a.records == b.records  # also a copy with another name
    if same_run:
        figures = tuple(replace(f, ratio=1.0, outcome=SAME, reason="") for f in figures)
    changed = tuple(_changed(both))
    covered = {f.identity for f in figures} | {c.identity for c in changed}
    return Comparison(
        a=a.run.id,
        b=b.run.id,
        threshold=threshold,
        confidence=confidence,
        drift=drift,
        figures=figures,
        changed=changed,
        only_a=tuple(i for i in in_a if i not in in_b),
        only_b=tuple(i for i in in_b if i not in in_a),
        not_compared=tuple(x.identity for x, _ in both if x.identity not in covered),
        environment=tuple(differences(a.run, b.run)),
        shift=_shift(figures),
        disturbed=() if same_run else tuple(disturbance.of_pairs(a, b, pairs)),
        same_run=same_run,
    )


def compare_figures(
    a: Numbered, b: Numbered, threshold: float = THRESHOLD, confidence: float = CONFIDENCE, drift: float = DRIFT
) -> Compared[Identity]:
    """Compare one figure of two runs, of which both are verified or both are reported."""
    found = _ratio(a, b, confidence)
    outcome, reason = _outcome(a, b, threshold, confidence, drift)
    return Compared(
        a.identity,
        a.unit,
        a.better,
        a.estimate,
        b.estimate,
        of_medians(a, b),
        found.low,
        found.high,
        outcome,
        reason,
        isinstance(a, Verified) and a.observed,
        a.states,
        b.states,
        b.reporter if isinstance(b, Reported) else "",
    )


def of_medians(a: Numbered, b: Numbered) -> float:
    """Return B / A of the medians that are shown; a zero counts as in every ratio."""
    return ratio([a.estimate.median], [b.estimate.median]).value


def _ratio(a: Numbered, b: Numbered, confidence: float) -> Ratio:
    """Return the Hodges-Lehmann ratio of the moments; its interval spans the states and the ratio of the medians."""
    found, shown = spanning(ratio(moments(a.estimate), moments(b.estimate), confidence), a, b), of_medians(a, b)
    if found.low is None or found.high is None:
        return found
    return found._replace(low=min(found.low, shown), high=max(found.high, shown))


def _outcome(a: Numbered, b: Numbered, threshold: float, confidence: float, drift: float) -> tuple[Outcome, str]:
    if (a.unit, a.better) != (b.unit, b.better):
        return UNCLEAR, f"measured in {a.unit} and in {b.unit}"
    if work(a) != work(b):
        return UNCLEAR, "the runs differ in the work per step"
    mine, other = moments(a.estimate), moments(b.estimate)
    found, shown = _ratio(a, b, confidence), of_medians(a, b)
    if found.low is None or found.high is None:
        m, n = len(a.estimate.launches), len(b.estimate.launches)
        if m >= len(mine) + 1 or n >= len(other) + 1:
            spans = f"{len(mine)} and {len(other)} moments of {significant(MOMENT)} s"
            return (
                UNCLEAR,
                f"too short to exclude a passing disturbance: launches in {spans}; {_more(a)}",
            )
        return UNCLEAR, f"too few launches ({m} and {n})"
    outcome = outcome_of(found, shown, _ratio(a, b, EQUIVALENCE), a.better, threshold, drift)
    if outcome != UNCLEAR:
        return outcome, ""
    apart = _apart(found.low, found.high, drift)
    if a.states is not None or b.states is not None:
        return UNCLEAR, _two_states(a.unit, (a.estimate, a.states), (b.estimate, b.states))
    if apart and max(_far(found.value), _far(shown)) > 1 + threshold:
        both = f"the medians differ by {significant(shown)} x, single launches by {significant(found.value)} x"
        return UNCLEAR, f"the launches are spread unevenly: {both}"
    return UNCLEAR, f"the interval of the ratio is ± {significant(100 * (found.high - found.low) / 2, 2)} %"


def _more(a: Numbered) -> str:
    return "import longer measurements" if isinstance(a, Reported) else "run with a larger --budget"


def outcome_of(
    found: Ratio, shown: float, narrow: Ratio, better: Better, threshold: float = THRESHOLD, drift: float = DRIFT
) -> Outcome:
    """Return the outcome of the ratio B / A of two samples; inconclusive if they are too small for an interval.

    `found`: the ratio with its interval; `narrow`: with that of EQUIVALENCE; `shown`: the ratio of the medians.
    """
    if found.low is None or found.high is None:
        return UNCLEAR
    # A ratio is as far from 1 as its inverse is: a fall to 1 / 1.05 counts as a rise to 1.05.
    far = min(_far(found.value), _far(shown)) > 1 + threshold
    if _apart(found.low, found.high, drift) and (found.value > 1) == (shown > 1) and far:
        return BETTER if (found.value > 1) == (better == "higher") else WORSE
    if narrow.low is not None and narrow.high is not None and _within(narrow.low, narrow.high, threshold):
        return SAME
    return UNCLEAR


def _apart(low: float, high: float, drift: float) -> bool:
    return low > 1 + drift or high < 1 / (1 + drift)


def _far(value: float) -> float:
    return max(value, 1 / value)


def _two_states(unit: str, a: tuple[Estimate, States | None], b: tuple[Estimate, States | None]) -> str:
    if a[1] is None and b[1] is None:
        return ""
    in_a, in_b = (describe_states(s, unit) if s is not None else quantity(e.median, unit) for e, s in (a, b))
    return f"bimodal: {in_a} in A, {in_b} in B"


def moments(estimate: Estimate) -> tuple[float, ...]:
    """Return the median of each group of launches that began within MOMENT seconds of the first of the group."""
    if len(estimate.times) != len(estimate.launches):
        return estimate.launches
    pooled: list[list[float]] = []
    began = -math.inf
    for time, value in sorted(zip(estimate.times, estimate.launches, strict=True)):
        if time >= began + MOMENT:
            pooled.append([])
            began = time
        pooled[-1].append(value)
    return tuple(median(values) for values in pooled)


def _within(low: float, high: float, threshold: float) -> bool:
    return low > 1 / (1 + threshold) and high < 1 + threshold


def work(figure: Numbered) -> dict[str, str]:
    return {} if isinstance(figure, Reported) else {k: f"{v:.9g}" for k, v in sorted(figure.cost.items())}


def _changed(both: list[tuple[Figure, Figure]]) -> Iterator[Changed[Identity]]:
    for x, y in both:
        before, after = _verdict(x), _verdict(y)
        if before != after:
            failing = y if isinstance(y, Failed | Unverified) else x
            yield Changed(x.identity, before, after, failing.reason if isinstance(failing, Failed | Unverified) else "")


def _verdict(figure: Figure) -> Verdict:
    match figure:
        case Verified():
            return "verified"
        case Failed():
            return "failed"
        case Untimed():
            return "untimed"
        case Reported():
            return "reported"
        case _:
            return "unverified"


def _shift(figures: tuple[Compared[Identity], ...]) -> float | None:
    """Return by how much all figures moved together: a sign of the machine (clock, neighbours), not of one code."""
    gains = [math.log(f.ratio) * (1 if f.better == "higher" else -1) for f in figures if not f.observed]
    return math.exp(median(gains)) if gains else None
