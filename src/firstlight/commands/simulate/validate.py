"""Validate: predict this machine's measurements from the ping-pong of the same run, and compute the error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

import msgspec

from firstlight.analysis import Judgement, loggops
from firstlight.analysis.loggops import Fitted
from firstlight.analysis.roles import RoleFigure, advice
from firstlight.analysis.states import states
from firstlight.analysis.verdict import States
from firstlight.commands.simulate import collectives, exchanges, iterations
from firstlight.commands.simulate.collectives import Case, Predicted, executed_segments
from firstlight.commands.simulate.reasons import CLOSE, NEAR, Fastest, Reason, reasons
from firstlight.commands.simulate.steps import FASTEST, MODELS, TAILS, Asks, Step
from firstlight.core.errors import UsageError
from firstlight.core.roles import COLLECTIVE, MESSAGE
from firstlight.core.units import binary, significant
from firstlight.execute.network.prediction import Carried, Prediction
from firstlight.model.catalogue import Workload

DISTURBED = 0.15
"""Root mean square relative misfit to a rising curve above which the measurement counts as disturbed."""


class Point(msgspec.Struct, frozen=True):
    """One algorithm at one size: seconds measured (median over launches, with its interval) and predicted.

    For a step (`exchange`), `collective` is the workload, `algorithm` the name of a pattern and the variant, and
    `bytes` the size of one message (for a pattern: half of a process's traffic per iteration). `factor`: predicted /
    measured. `reasons`: why the error exceeds 10 %. `lower`, `upper`: the interval of the prediction. `fastest`: the
    same for the fastest launches. `states`: medians (seconds) and counts of both groups of bimodal launches.
    """

    mpi: str
    collective: str
    algorithm: str
    ranks: int
    nodes: int
    bytes: int
    measured: float
    low: float | None
    high: float | None
    predicted: float
    lower: float | None
    upper: float | None
    exchange: bool = False
    reasons: tuple[Reason, ...] = ()
    fastest: Fastest | None = None
    states: States | None = None

    @property
    def factor(self) -> float:
        return self.predicted / self.measured

    @property
    def off(self) -> float:
        """Return the factor by which the prediction is too large or too small, at least 1."""
        return max(self.factor, 1 / self.factor)


class Error(msgspec.Struct, frozen=True):
    """All sizes of one algorithm: the median of predicted / measured, and the factor of the worst error."""

    mpi: str
    collective: str
    algorithm: str
    ranks: int
    sizes: int
    median_factor: float
    median_off: float
    worst_off: float
    worst_bytes: int


class Share(msgspec.Struct, frozen=True):
    """The number of predictions within 10 % of the measurement, and within a factor of 1.5."""

    of: str
    predictions: int
    close: int
    near: int

    @property
    def good(self) -> bool:
        """Return whether the goal is reached: half of the predictions close, nine tenths near."""
        return 2 * self.close >= self.predictions and 10 * self.near >= 9 * self.predictions


def share(of: str, offs: Sequence[float]) -> Share:
    """Count close and near predictions. `offs`: the factor by which each is too large or too small, at least 1."""
    return Share(of, len(offs), sum(x <= CLOSE for x in offs), sum(x <= NEAR for x in offs))


class Coverage(msgspec.Struct, frozen=True):
    """The number of measurements `inside` the intervals of their predictions. `width`: the median of upper / lower."""

    of: str
    predictions: int
    inside: int
    width: float

    @property
    def good(self) -> bool:
        """Return whether nine tenths are inside, and half of the intervals span a factor of 1.5 or less."""
        return 10 * self.inside >= 9 * self.predictions and self.width <= NEAR


class Validated(msgspec.Struct, frozen=True):
    """Collectives, exchanges and patterns of a run, compared with predictions. `shares`: accuracy of all predictions
    and of each kind. `intervals`: the same for the intervals of predictions.

    `effects`: the same steps with a sequence of models, each of which adds one effect. `ranking`: cases whose best
    algorithm was predicted, and all cases. `unpredicted`: measurements without a prediction, with the reason.
    """

    firstlight: str
    run: str
    fits: tuple[Fitted, ...]
    points: tuple[Point, ...]
    errors: tuple[Error, ...]
    median_off: float
    worst_off: float
    ranking: tuple[int, int]
    unpredicted: tuple[str, ...]
    sentences: tuple[str, ...]
    shares: tuple[Share, ...] = ()
    effects: tuple[Share, ...] = ()
    intervals: tuple[Coverage, ...] = ()


def validate(
    judgement: Judgement,
    workloads: Mapping[str, Workload],
    asks: Asks,
    version: str,
    mpi: str | None = None,
) -> Validated:
    """Predict every verified time of a collective by one of our schedules, and of a step that its workload declares.

    The library's own collectives cannot be predicted. Raises UsageError if the run lacks a required measurement, with
    the command that measures it.
    """
    run = judgement.run
    measured = collectives.measured(judgement, workloads, mpi)
    exchanged, missing = exchanges.measured(judgement, workloads, mpi)
    iterated, unpredicted = iterations.measured(judgement, workloads, mpi)
    steps: list[tuple[RoleFigure, Step]] = [*exchanged, *iterated]
    missing += unpredicted
    if not measured and not steps:
        of = f" with {mpi}" if mpi else ""
        raise UsageError(
            f"run {run.id} has no verified collectives of firstlight{of}, no exchanges with neighbours and no "
            "patterns; " + advice(workloads, [MESSAGE, COLLECTIVE], [loggops.COPYING], mpi)
        )
    fits, best, *tails = (
        {f.mpi: f for f in loggops.fitted(judgement, workloads, mpi, percentile=p)}
        for p in (None, loggops.FASTEST, *loggops.TAILS)
    )
    points: list[Point] = []
    for case, some in measured.items():
        if case.mpi not in fits:
            missing.append(f"{case.collective} with {case.mpi}: no verified ping-pong of this library")
            continue
        ends = [tail[case.mpi] for tail in tails] if fits[case.mpi].spanned else []
        found, failures = collectives.predicted(case, some, fits[case.mpi], best[case.mpi], ends, asks)
        points += [_point(case, p, fits[case.mpi]) for p in found]
        missing += failures
    effects = _steps(judgement, workloads, mpi, steps, asks, missing) if steps else []
    points += effects[len(MODELS) - 1][1] if effects else []
    if not points:
        raise UsageError(f"run {run.id}: no prediction is possible: {'; '.join(missing[:2])}")
    errors = tuple(_errors(points))
    offs = [p.off for p in points]
    ranking = _ranking([p for p in points if not p.exchange])
    kinds = _kinds(points)
    shares = tuple(share(of, [p.off for p in some]) for of, some in kinds.items())
    intervals = tuple(x for of, some in kinds.items() if (x := _coverage(of, some)))
    return Validated(
        version, run.id, tuple(fits.values()), tuple(points), errors, median(offs), max(offs), ranking,
        tuple(dict.fromkeys(missing)),
        tuple(_sentences(points, ranking, list(fits.values()), shares, intervals)), shares,
        tuple(share(title, [p.off for p in some]) for title, some in effects), intervals,
    )  # fmt: skip


def _steps(
    judgement: Judgement,
    workloads: Mapping[str, Workload],
    mpi: str | None,
    steps: Sequence[tuple[RoleFigure, Step]],
    asks: Asks,
    missing: list[str],
) -> list[tuple[str, list[Point]]]:
    """Return by model the points of all steps with known messages of their MPI library; add the others to `missing`."""
    found = []
    best: dict[int, Fastest] = {}
    ends: dict[int, list[float]] = {}
    for model in (*TAILS, FASTEST, *MODELS):
        fits: dict[str, dict[str, Fitted]] = {}
        points = []
        for k, (p, step) in enumerate(steps):
            way = p.identity.variant if model.same_calls else ""
            if way not in fits:
                fits[way] = {
                    f.mpi: f for f in loggops.fitted(judgement, workloads, mpi, model.roles, way, model.percentile)
                }
            fitted = fits[way].get(p.identity.mpi or "")
            if fitted is None:
                missing.append(f"{p.program} with {p.identity.mpi}: no verified ping-pong of this library")
                continue
            if model in TAILS and not fitted.spanned:
                continue
            answer = step.predicted(fitted, model, asks)
            if answer.usable and answer.seconds and model in TAILS:
                ends.setdefault(k, []).append(answer.seconds)
            elif answer.usable and answer.seconds:
                points.append(_step_point(p, step, answer, fitted, model is FASTEST, best.get(k), ends.get(k, ())))
                if model is FASTEST:
                    best[k] = Fastest(points[-1].measured, points[-1].predicted)
            else:
                missing.append(f"{step.title or p.program} on {step.ranks} ranks: {answer.refused or 'no time'}")
        if model not in TAILS:
            found.append((model.title, points))
    return [*found[1:], found[0]]


def _step_point(
    p: RoleFigure,
    step: Step,
    answer: Prediction,
    fitted: Fitted,
    fastest: bool,
    best: Fastest | None,
    ends: Sequence[float],
) -> Point:
    e, predicted = p.figure.estimate, answer.seconds
    seconds = min(p.launches()) if fastest else p.seconds()
    assert seconds is not None and p.identity.mpi is not None and predicted is not None
    low, high = (None if v is None else p.seconds(v) for v in (e.low, e.high))
    lower, upper = loggops.ends(predicted, ends)
    point = Point(
        p.identity.mpi, p.identity.workload, f"{step.title} {p.algorithm}".strip(), step.ranks,
        p.identity.placement.nodes, step.bytes, seconds, low, high, predicted,
        lower, upper, exchange=True, fastest=best, states=states(p.launches()),
    )  # fmt: skip
    return _explained(point, p, answer.sizes or (step.bytes,), fitted, answer.carried)


def _explained(
    point: Point, p: RoleFigure, sizes: Sequence[float], fitted: Fitted | None, carried: Sequence[Carried] = ()
) -> Point:
    if point.off <= CLOSE:
        return point
    why = reasons(point.predicted, p.launches(), sizes, fitted, carried, point.fastest)
    return msgspec.structs.replace(point, reasons=why)


def _kinds(points: Sequence[Point]) -> dict[str, list[Point]]:
    """Return all points, and those of each kind if there are several."""
    found: dict[str, list[Point]] = {}
    for p in points:
        found.setdefault(p.collective if p.exchange else "collectives", []).append(p)
    return {"all": list(points), **(found if len(found) > 1 else {})}


def _coverage(of: str, points: Sequence[Point]) -> Coverage | None:
    spans = [(p.lower, p.measured, p.upper) for p in points if p.lower is not None and p.upper is not None]
    if not spans:
        return None
    inside = sum(low <= measured <= high for low, measured, high in spans)
    return Coverage(of, len(spans), inside, median(high / low for low, _, high in spans))


def _point(case: Case, predicted: Predicted, fitted: Fitted) -> Point:
    measured, size, quick = predicted.figure, predicted.size, predicted.quick
    e = measured.figure.estimate
    low, high = (None if v is None else measured.seconds(v) for v in (e.low, e.high))
    median = measured.seconds()
    assert median is not None
    point = Point(
        case.mpi, case.collective, measured.algorithm, case.ranks, case.nodes, size, median, low, high,
        predicted.seconds, predicted.low, predicted.high,
        fastest=None if quick is None else Fastest(min(measured.launches()), quick),
        states=states(measured.launches()),
    )  # fmt: skip
    pieces = size / executed_segments(case.collective, size, case.ranks)
    return _explained(point, measured, tuple(dict.fromkeys((size, pieces))), fitted)


def _errors(points: Sequence[Point]) -> list[Error]:
    groups: dict[tuple[str, str, str, int], list[Point]] = {}
    for p in points:
        groups.setdefault((p.mpi, p.collective, p.algorithm, p.ranks), []).append(p)
    found = []
    for (mpi, collective, algorithm, ranks), some in sorted(groups.items()):
        worst = max(some, key=lambda p: p.off)
        found.append(
            Error(
                mpi, collective, algorithm, ranks, len(some), median(p.factor for p in some),
                median(p.off for p in some), worst.off, worst.bytes,
            )
        )  # fmt: skip
    return found


def _ranking(points: Sequence[Point]) -> tuple[int, int]:
    """Return in how many cases the predicted best algorithm is the measured best, and the number of cases.

    A case is one size with two algorithms or more. An algorithm within 5 % of the measured best counts as best too.
    """
    cases: dict[tuple[str, str, int, int], list[Point]] = {}
    for p in points:
        cases.setdefault((p.mpi, p.collective, p.ranks, p.bytes), []).append(p)
    some = [c for c in cases.values() if len(c) > 1]
    right = 0
    for case in some:
        chosen = min(case, key=lambda p: p.predicted)
        right += chosen.measured <= 1.05 * min(p.measured for p in case)
    return right, len(some)


def _held(x: Share) -> str:
    verdict = "the goal is met" if x.good else "the goal (50 % within 10 %, 90 % within 1.5) is not met"
    return f"{x.of}: {x.close} of {x.predictions} are within 10 % and {x.near} within a factor of 1.5: {verdict}"


def _covered(x: Coverage) -> str:
    verdict = "the goal is met" if x.good else "the goal (90 % inside, median factor 1.5) is not met"
    return (
        f"{x.of}: {x.inside} of {x.predictions} measurements are inside the {loggops.LEVEL_TEXT} interval of their "
        f"prediction, and the median interval spans a factor of {x.width:.2f}: {verdict}"
    )


def _sentences(
    points: Sequence[Point],
    ranking: tuple[int, int],
    fits: Sequence[Fitted],
    shares: Sequence[Share],
    intervals: Sequence[Coverage],
) -> list[str]:
    offs = [p.off for p in points]
    worst = max(points, key=lambda p: p.off)
    way = "long" if worst.factor > 1 else "short"
    lines = [
        f"Half of the {len(points)} predictions are within a factor of {median(offs):.2f} of the measurement",
        *(_held(x) for x in shares),
        *(_covered(x) for x in intervals),
        f"the worst prediction ({worst.algorithm} for {worst.collective} of {binary(worst.bytes)} on {worst.ranks} "
        f"ranks) is {significant(worst.off, 2)} times too {way}",
    ]
    lines += [
        f"longer messages of {f.label} were often faster than shorter ones, by {100 * f.misfit:.0f} %, so the machine "
        f"was busy, which limits every prediction: measure again"
        for f in fits
        if f.misfit > DISTURBED
    ]
    far = [p for p in points if p.off > NEAR]
    if far:
        shown = sum(any(r.measured for r in p.reasons) for p in far)
        lines.append(
            f"{len(far)} are wrong by a factor of more than 1.5; a measurement of this run explains {shown} of them"
        )
    two = [p for p in points if p.states is not None]
    if two:
        lower = sum(p.states.in_lower for p in two if p.states is not None)
        upper = sum(p.states.in_upper for p in two if p.states is not None)
        lines.append(
            f"launches of {len(two)} of {len(points)} are bimodal, {lower} of {lower + upper} in the faster group"
        )
    if ranking[1]:
        lines.append(
            f"the algorithm with the shortest predicted time is the fastest, or within 5 % of the fastest, in "
            f"{ranking[0]} of {ranking[1]} cases"
        )
    return lines
