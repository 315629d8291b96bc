"""Intervals of predictions: from the fastest and the slowest launches of messages, and how often measurements are
inside."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from firstlight.analysis import loggops
from firstlight.analysis.loggops import Fitted
from firstlight.analysis.verdict import Figure
from firstlight.commands.simulate import page, queries, validation_page
from firstlight.commands.simulate.queries import SimulationRequest
from firstlight.commands.simulate.steps import Asks
from firstlight.commands.simulate.validate import Coverage, Validated, validate
from firstlight.core.units import interval
from firstlight.execute.network import program
from firstlight.execute.network.prediction import Prediction
from firstlight.execute.network.program import Question
from message_figures import WORKLOADS, figure, judgement

TIMES = {0: 1.0, 64: 2.0, 1024: 5.0, 16384: 20.0, 65536: 80.0, 1 << 20: 900.0}
"""Microseconds of messages by size."""


def measured(name: str, metric: str, parameters: dict[str, Any], launches: Sequence[float]) -> Figure:
    middle = sorted(launches)[len(launches) // 2]
    return figure(name, metric, parameters, middle, launches=tuple(launches))


def message(size: int, launches: Sequence[float], variant: str = "mpi_blocking") -> Figure:
    return measured(f"pingpong.{variant}", "latency_alone", {"bytes": size, "data": "cached"}, launches)


def broadcast(size: int, launches: Sequence[float]) -> Figure:
    values = {"collective": "broadcast", "bytes": size, "segments": 0, "root": 0}
    return measured("collectives.mpi_linear", "latency", values, launches)


def one_message(question: Question) -> list[Prediction]:
    """A broadcast to one rank is one message."""
    parameters = dict(item.split("=", 1) for item in question.machine.split(","))
    gaps = {int(size): float(gap) for size, gap, _ in (r.split(":") for r in parameters["rates"].split("/"))}
    return [
        Prediction("linear", bytes=size, seconds=1e-9 * (float(parameters["overhead"]) + (size - 1) * gaps[size]))
        for size in question.bytes
    ]


def unasked(*words: Any) -> Prediction:
    raise AssertionError("this run has collectives only")


def validated(figures: list[Figure]) -> Validated:
    return validate(judgement(figures), WORKLOADS, Asks(one_message, unasked, unasked), "1")


@pytest.mark.parametrize(("launches", "scatter"), [(7, 0.05), (7, 0.4), (21, 0.1)])
def test_nine_tenths_of_measurements_are_inside(launches: int, scatter: float) -> None:
    """On networks that are as the model requires, whose launches scatter: of messages and of what is predicted."""
    draw = random.Random(5)

    def some(us: float) -> list[float]:
        return [us * draw.lognormvariate(0, scatter) for _ in range(launches)]

    inside = total = 0
    for _ in range(60):
        figures = [message(size, some(us)) for size, us in TIMES.items()]
        found = validated([*figures, *(broadcast(size, some(us)) for size, us in TIMES.items() if size)])
        [one] = found.intervals
        inside, total = inside + one.inside, total + one.predictions
        assert one.width > 1 + scatter
    assert inside >= 0.9 * total


def test_a_wrong_model_is_not_hidden_by_its_intervals() -> None:
    figures = [message(size, [us, us, 1.1 * us, 1.1 * us, 1.2 * us, 1.2 * us]) for size, us in TIMES.items()]
    found = validated([*figures, broadcast(64, [2.2] * 3), broadcast(1024, [11.0] * 3)])
    assert found.intervals == (Coverage("all", 2, 1, pytest.approx(1.2, rel=1e-3)),) and not found.intervals[0].good
    text = " ".join(validation_page.summary(found, None).split())
    assert "All: 1 of 2 measurements are inside the 90 % interval of their prediction" in text
    assert "the median interval spans a factor of 1.20: the goal (90 % inside, median factor 1.5) is not met" in text
    assert "90 % interval of the prediction" in validation_page.render(found)


def test_both_states_of_a_machine_are_in_the_interval() -> None:
    figures = [message(size, [us] * 5 + [3 * us] * 3) for size, us in TIMES.items()]
    found = validated([*figures, broadcast(1024, [14.0] * 8)])
    [point] = found.points
    assert (point.predicted, point.lower, point.upper) == pytest.approx((5e-6, 5e-6, 15e-6), rel=1e-3)
    assert found.intervals[0].inside == 1


def test_extremes_do_not_count_among_many_launches() -> None:
    figures = [message(size, [0.1 * us, *[us] * 39, 9 * us]) for size, us in TIMES.items()]
    low, high = (loggops.fitted(judgement(figures), WORKLOADS, percentile=p)[0] for p in loggops.TAILS)
    assert low == high
    [fastest] = loggops.fitted(judgement(figures), WORKLOADS, percentile=loggops.FASTEST)
    assert fastest.o == pytest.approx(0.1 * low.o)


def test_the_interval_is_that_of_the_way_that_counts() -> None:
    """A slower variant that never scatters does not narrow the interval of the faster one."""
    figures = [message(size, [us, us, us, 4 * us]) for size, us in TIMES.items()]
    figures += [message(size, [2 * us] * 4, "mpi_persistent") for size, us in TIMES.items()]
    [slow] = loggops.fitted(judgement(figures), WORKLOADS, percentile=95)
    assert 2 * slow.o == pytest.approx(4e-6)


@pytest.fixture
def native(simulator: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "build", lambda: simulator)


def fits(factors: Sequence[float]) -> list[Fitted]:
    some = judgement([message(size, [us * f for f in factors]) for size, us in TIMES.items()])
    return [loggops.fitted(some, WORKLOADS, percentile=p)[0] for p in (None, *loggops.TAILS)]


REQUESTS = (
    SimulationRequest("allreduce", topology="flat:8", sizes="64,64KiB"),
    SimulationRequest("npb_cg", topology="flat:4", pattern=True, given=("class=S",)),
)


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("request_", REQUESTS)
def test_each_prediction_from_a_run_has_an_interval(request_: SimulationRequest) -> None:
    fitted, *tails = fits([0.8, 0.9, 1.0, 1.0, 1.1, 1.5])
    done: list[tuple[int, int]] = []
    found = queries.simulate(request_, fitted, tails, lambda *step: done.append(step))
    usable = [p for p in found.predictions if p.usable]
    assert usable
    for p in usable:
        assert p.seconds and p.low and p.high
        assert p.low < p.seconds < p.high and p.low >= 0.75 * p.seconds and p.high <= 1.55 * p.seconds
    assert done == [(k, len(done)) for k in range(1, len(done) + 1)]
    text = page.summary(found, None)
    assert max(map(len, text.splitlines())) <= 80 and " 90 % " in text
    assert "They do not include model errors" in " ".join(text.split())
    best = min(usable, key=lambda p: (-p.bytes, p.seconds or 0.0))
    ends = f"[{interval(best.low, best.high, best.seconds or 0.0, 's', ', ')}]"
    assert ends in " ".join(text.split()) and ends in page.render(found).replace("\u00a0", " ")


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("request_", REQUESTS)
def test_equal_launches_have_an_interval_without_width(request_: SimulationRequest) -> None:
    fitted, *tails = fits([1.0] * 6)
    found = queries.simulate(request_, fitted, tails)
    assert all(p.low == p.seconds == p.high for p in found.predictions)


@pytest.mark.usefixtures("native")
def test_parameters_that_were_not_measured_have_no_interval() -> None:
    for machine in ("", "L=1000", "hdr200"):
        order = msgspec.structs.replace(REQUESTS[0], machine=machine)
        found = queries.simulate(order)
        assert all(p.low is None and p.high is None for p in found.predictions)
        assert "no interval: the parameters are not from a run on this machine" in " ".join(found.notes)
        assert " 90 % " not in page.summary(found, None)


def test_too_few_launches_of_messages_have_no_interval() -> None:
    """One launch would have an interval without width."""
    sent = [message(size, [us] * 5) for size, us in TIMES.items()]
    found = validated([*sent, *(broadcast(size, [us] * 8) for size, us in TIMES.items() if size)])
    assert found.points and all(p.lower is None and p.upper is None for p in found.points) and not found.intervals
    [fitted] = found.fits
    assert not fitted.spanned
    notes = queries._notes(REQUESTS[0], fitted, ("flat:8",))
    assert any("fewer than 6 times" in note for note in notes)
