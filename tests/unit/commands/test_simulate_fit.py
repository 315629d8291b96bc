"""Parameters fitted to a ping-pong, and predictions against what was measured."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import shipped
import synthetic_machine
from firstlight.analysis import loggops
from firstlight.analysis.verdict import Estimate, Figure, Identity, Limit, Verified
from firstlight.commands.simulate import validation_page as page
from firstlight.commands.simulate.steps import Asks
from firstlight.commands.simulate.validate import validate
from firstlight.core.errors import UsageError
from firstlight.execute.network.prediction import Prediction
from firstlight.execute.network.program import Question, predict
from firstlight.model.catalogue import Workload
from firstlight.model.plan import Placement

WORKLOADS = shipped.workloads()
SIZES = (0, 8, 64, 1024, 4096, 16384, 65536, 1 << 20)


def figure(variant: str, parameters: dict[str, Any], microseconds: float, **more: Any) -> Verified:
    workload, _, name = variant.partition(".")
    place = more.pop("place", Placement(1, 2, 1))
    metric = "latency_alone" if workload == "pingpong" else "latency"
    identity = Identity(workload, name, "gcc-native", "mpich", place, tuple(sorted(parameters.items())), metric)
    estimate = Estimate(microseconds, 0.9 * microseconds, 1.1 * microseconds, (microseconds,) * 6)
    return Verified(identity, "us", "lower", estimate, 0.0, {}, None, 0.0, **more)


def judgement(figures: list[Figure], limits: tuple[Limit, ...] = ()) -> Any:
    run = SimpleNamespace(id="here", machine=None, toolbox=synthetic_machine.mpich_alone())
    return SimpleNamespace(run=run, figures=tuple(figures), limits=limits)


def fitted(some: Any, mpi: str | None = None, workloads: dict[str, Workload] = WORKLOADS) -> list[loggops.Fitted]:
    return loggops.fitted(some, workloads, mpi)


def message(size: int, microseconds: float, variant: str = "mpi_blocking", data: str = "cached", **more: Any) -> Figure:
    return figure(f"pingpong.{variant}", {"bytes": size, "data": data}, microseconds, **more)


def pingpong(alpha: float, beta: float, variant: str = "mpi_blocking", **more: Any) -> list[Figure]:
    """Half round trips of alpha us and beta us a byte."""
    return [message(m, alpha + beta * m, variant, **more) for m in SIZES]


@given(st.floats(0.1, 100), st.floats(1e-5, 1e-2))
def test_the_sum_of_latency_and_overheads_is_recovered(alpha: float, beta: float) -> None:
    [found] = fitted(judgement(pingpong(alpha, beta)))
    assert found.L + 2 * found.o == pytest.approx(1e-6 * alpha, rel=1e-3)
    assert [r.bytes for r in found.rates] == [m for m in SIZES if m > 1]
    for rate in found.rates:
        assert rate.G * (rate.bytes - 1) == pytest.approx(1e-6 * beta * rate.bytes, rel=1e-3)
    assert found.variant == "mpi_blocking" and "only the sum L + 2 o" in found.separated[0]


def test_on_one_node_processors_copy_between_nodes_they_do_not() -> None:
    [one] = fitted(judgement(pingpong(1, 1e-3)))
    assert pytest.approx(0, abs=1e-12) == one.L and all(r.O == r.G > 0 for r in one.rates)
    [two] = fitted(judgement(pingpong(1, 1e-3) + pingpong(2, 1e-3, place=Placement(2, 2, 1))))
    assert two.nodes == 2 and all(r.O == 0 for r in two.rates)
    assert pytest.approx(1e-6) == two.L and two.o == pytest.approx(0.5e-6)


def test_an_exchange_tells_the_overhead_a_byte() -> None:
    [found] = fitted(judgement(pingpong(1, 1e-3) + pingpong(1, 1.25e-3, "mpi_bidirectional")))
    for rate in found.rates:
        assert rate.O * (rate.bytes - 1) == pytest.approx(0.25e-9 * rate.bytes, rel=1e-3)
    assert "of a two-way exchange over a one-way message" in found.separated[-2]


def test_what_an_exchange_adds_belongs_to_its_size() -> None:
    """A microsecond for the hand-over of a long message is not a share of a message of 1 MiB."""
    both = [message(m, (1 if m < 4096 else 2) + 1e-3 * m, "mpi_bidirectional") for m in SIZES if m != 16384]
    [found] = fitted(judgement(pingpong(1, 1e-3) + both))
    assert {r.bytes: round(1e9 * r.O * (r.bytes - 1)) for r in found.rates} == {
        8: 0, 64: 0, 1024: 0, 4096: 1000, 16384: 1000, 65536: 1000, 1 << 20: 1000,
    }  # fmt: skip


def test_an_exchange_that_adds_nothing_is_not_below_nothing_by_rounding() -> None:
    """The native program refuses a rate below 0."""
    for k in range(120, 180):
        both = [message(m, (1 + k / 970 if m == 64 else 1) + 1e-3 * m, "mpi_bidirectional") for m in SIZES]
        [found] = fitted(judgement(pingpong(1, 1e-3) + both))
        assert min(r.O for r in found.rates) >= 0


def test_the_fastest_way_counts_at_each_size() -> None:
    """Persistent requests may be slow for short messages and best for long ones."""
    persistent = [message(m, t, "mpi_persistent") for m, t in zip(SIZES, (1, 2, 2, 2, 3, 6, 9, 99), strict=True)]
    blocking = [message(m, t) for m, t in zip(SIZES, (1, 1, 1.1, 1.5, 3, 7, 11, 110), strict=True)]
    [found] = fitted(judgement([*persistent, *blocking]))
    assert found.variant == "mpi_persistent and mpi_blocking"
    taken = [round(1e6 * (found.L + 2 * found.o + r.G * (r.bytes - 1)), 6) for r in found.rates]
    assert taken == [1, 1.1, 1.5, 3, 6, 9, 99]


@given(st.lists(st.floats(1.0, 1000.0), min_size=3, max_size=len(SIZES)), st.integers(1, 2))
def test_every_message_is_predicted_as_it_was_measured(simulator: Path, times: list[float], nodes: int) -> None:
    """Whatever the curve: the hand-over to long messages, the ends of caches."""
    place, times = Placement(nodes, 2, 1), sorted(times)
    sizes = SIZES[: len(times)]
    some = [message(m, t, place=place) for m, t in zip(sizes, times, strict=True)]
    [found] = fitted(judgement(some))
    for topology in ("flat:2", "torus:2"):
        machine = found.word + (",hop=0" if topology != "flat:2" else "")
        question = Question("broadcast", ("linear",), topology, sizes[1:], segments="1", machine=machine)
        predicted = [p.seconds for p in predict(simulator, question)]
        assert predicted == [pytest.approx(1e-6 * t, rel=1e-3) for t in times[1:]]


@given(st.lists(st.floats(1e-7, 1e-3), min_size=1, max_size=30))
def test_a_disturbed_curve_rises_and_stays_near(seconds: list[float]) -> None:
    times = [(float(k), s) for k, s in enumerate(seconds)]
    found = loggops.rising(times)
    values = [s for _, s in found]
    assert [k for k, _ in found] == [k for k, _ in times]
    assert all(a <= b * (1 + 1e-12) for a, b in itertools.pairwise(values))
    assert sum(map(math.log, values)) == pytest.approx(sum(map(math.log, seconds)))
    if seconds == sorted(seconds):
        assert values == pytest.approx(seconds, rel=1e-9)
    assert loggops.rising(found) == [(k, pytest.approx(s, rel=1e-9)) for k, s in found]


def test_a_busy_machine_is_told() -> None:
    def sentences(times: list[float]) -> str:
        some = [message(m, t) for m, t in zip(SIZES[: len(times)], times, strict=True)]
        found = validate(judgement([*some, collective("mpi_good", 8, 10.0)]), WORKLOADS, ASKS, "1")
        return " ".join(found.sentences)

    assert "busy" not in sentences([1, 1, 1.1, 1.05, 3, 9])
    assert "by 49 %, so the machine was busy" in sentences([1, 3, 1, 3, 1, 3])


def test_copying_comes_from_the_measured_bandwidth() -> None:
    identity = figure("stream.serial", {}, 1.0).identity
    limits = tuple(
        Limit("copy_bandwidth", 1, w, v, v, v, True, identity) for w, v in ((1e4, 1e12), (1e6, 1e11), (1e9, 1e10))
    )
    [found] = fitted(judgement(pingpong(1, 1e-3), limits))
    assert found.copying == tuple(
        loggops.Copying(size, pytest.approx(copy)) for size, copy in ((5e3, 2e-12), (5e5, 2e-11), (5e8, 2e-10))
    )
    assert "reduce=0.02" in found.at(5e5) and "overhead=1000" in found.word
    assert "reduce=0.002" in found.at(8) and "copy=0.2" in found.at(1 << 30)  # short vectors are in a nearer cache
    assert found.copied(5e4) == pytest.approx(math.sqrt(2e-12 * 2e-11))


def test_too_few_sizes_say_what_measures_them() -> None:
    with pytest.raises(UsageError, match=r"`\./fl run pingpong stream` measures it"):
        fitted(judgement(pingpong(1, 1e-3)[:2]))
    with pytest.raises(UsageError, match=r"with openmpi .*`\./fl run pingpong stream --mpi openmpi`"):
        fitted(judgement(pingpong(1, 1e-3)), "openmpi")
    crowded = pingpong(1, 1e-3, oversubscribed=True)
    with pytest.raises(UsageError, match="no verified ping-pong"):
        fitted(judgement(crowded))


def collective(algorithm: str, size: int, microseconds: float, **more: Any) -> Figure:
    values = {"collective": "broadcast", "bytes": size, "segments": more.pop("segments", 0), "root": 0}
    return figure(f"collectives.{algorithm}", values, microseconds, **more)


def answers(question: Question) -> list[Prediction]:
    """10 us for everything; what is called refuse is refused."""
    return [
        Prediction(a, question.collective, question.topology, 2, size, seconds=1e-5)
        if a != "refuse"
        else Prediction(a, question.collective, bytes=size, refused="not this one")
        for size in question.bytes
        for a in question.algorithms
    ]


def no_schedules(text: str, topology: str, machine: str) -> Prediction:
    raise AssertionError("this run has no exchanges")


def no_patterns(words: Sequence[str]) -> Prediction:
    raise AssertionError("this run has no patterns")


ASKS = Asks(answers, no_schedules, no_patterns)


def test_predictions_against_measurements() -> None:
    figures = [
        *pingpong(1, 1e-3),
        collective("mpi_good", 8, 10.0), collective("mpi_good", 64, 5.0), collective("mpi_bad", 8, 40.0),
        collective("mpi_bad", 64, 40.0), collective("mpi_library", 8, 1.0), collective("mpi_refuse", 8, 1.0),
        collective("mpi_good", 512, 1.0, segments=4), collective("mpi_good", 512, 1.0, oversubscribed=True),
    ]  # fmt: skip
    found = validate(judgement(figures), WORKLOADS, ASKS, "1")
    assert {(p.algorithm, p.bytes): round(p.factor, 3) for p in found.points} == {
        ("good", 8): 1.0, ("good", 64): 2.0, ("bad", 8): 0.25, ("bad", 64): 0.25,
    }  # fmt: skip
    assert (found.median_off, found.worst_off) == (pytest.approx(3), pytest.approx(4))
    [bad, good] = found.errors
    assert (bad.algorithm, bad.median_factor, bad.worst_off) == ("bad", pytest.approx(0.25), pytest.approx(4))
    assert (good.median_off, good.worst_bytes) == (pytest.approx(1.5), 64)
    assert {(p.algorithm, p.bytes): round(p.fastest.off, 3) for p in found.points if p.fastest} == {
        ("good", 8): 1.0, ("good", 64): 2.0, ("bad", 8): 4.0, ("bad", 64): 4.0,
    }  # fmt: skip
    assert found.ranking[1] == 2
    assert "not this one" in found.unpredicted[0]
    summary = page.summary(found, Path("a.html"))
    words = " ".join(summary.split())
    assert "Half of the 4 predictions are within a factor of 3.00" in words and "4.0 times too short" in words
    assert max(map(len, summary.splitlines())) <= 80
    assert "http-equiv" in page.render(found)


def test_what_a_run_lacks_is_told() -> None:
    with pytest.raises(UsageError, match=r"`\./fl run pingpong collectives stream --standard` measures it"):
        validate(judgement(pingpong(1, 1e-3)), WORKLOADS, ASKS, "1")
    with pytest.raises(UsageError, match="no verified ping-pong"):
        validate(judgement([collective("mpi_good", 8, 10.0)]), WORKLOADS, ASKS, "1")
    with pytest.raises(UsageError, match="no prediction is possible: refuse"):
        validate(judgement([*pingpong(1, 1e-3), collective("mpi_refuse", 8, 1.0)]), WORKLOADS, ASKS, "1")
