"""States: two groups of launches are found, samples with one mode are not split, and states are not differences."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest
from msgspec.structs import replace

import shipped
from firstlight.analysis import provenance
from firstlight.analysis import states as judged
from firstlight.analysis.compare import compare_figures
from firstlight.analysis.interval import estimate
from firstlight.analysis.ranking import advantage, rank
from firstlight.analysis.states import describe_states, states
from firstlight.analysis.verdict import Identity, States, Verified
from firstlight.model.plan import Placement
from firstlight.report import frame

Draw = Callable[[random.Random], float]


def student(r: random.Random) -> float:
    """Student's t with two degrees of freedom: the variance does not exist."""
    return r.gauss(0, 1) / math.sqrt(r.expovariate(1))


ONE_MODE: dict[str, Draw] = {  # logarithms of launch values
    "normal": lambda r: r.gauss(0, 0.1),
    "wide normal": lambda r: r.gauss(0, 0.5),
    "uniform": lambda r: r.uniform(0, 0.5),
    "laplace": lambda r: r.expovariate(10) * r.choice((-1, 1)),
    "student": lambda r: 0.1 * student(r),
    "exponential": lambda r: r.expovariate(2),
    "lognormal": lambda r: 0.1 * math.exp(r.gauss(0, 1)),
    "one in ten disturbed": lambda r: r.gauss(0, 0.02) + (r.random() < 0.1) * r.expovariate(2),
    "one in five disturbed": lambda r: r.gauss(0, 0.02) + (r.random() < 0.2) * r.expovariate(3),
}


def share(draw: Draw, n: int, samples: int = 1500) -> float:
    r = random.Random(f"{n} states")
    return sum(states([math.exp(draw(r)) for _ in range(n)]) is not None for _ in range(samples)) / samples


@pytest.mark.parametrize("name", ONE_MODE)
def test_one_mode_is_called_two_states_in_at_most_one_of_twenty(name: str) -> None:
    found = {n: share(ONE_MODE[name], n) for n in (6, 7, 8, 10, 13, 16, 20, 30)}
    assert max(found.values()) <= 0.05, found


@pytest.mark.parametrize(
    ("n", "apart", "noise", "slow", "power"),
    [
        (8, 2.5, 0.05, 0.5, 0.85),
        (8, 3.0, 0.02, 0.3, 0.65),
        (13, 2.5, 0.05, 0.3, 0.85),
        (13, 3.0, 0.10, 0.5, 0.90),
        (13, 1.6, 0.05, 0.5, 0.80),
        (13, 1.3, 0.02, 0.4, 0.85),
        (20, 2.5, 0.10, 0.3, 0.80),
        (30, 1.3, 0.02, 0.3, 0.95),
        (30, 4.0, 0.05, 0.2, 0.80),
    ],
)
def test_two_true_states_are_found(n: int, apart: float, noise: float, slow: float, power: float) -> None:
    assert share(lambda r: r.gauss(0, noise) + (r.random() < slow) * math.log(apart), n) >= power


def test_the_states_and_how_many_launches_fell_into_each() -> None:
    latency = [0.156, 0.156, 0.471, 0.15, 0.155, 0.422, 0.154, 0.493, 0.155, 0.481, 0.165, 0.156, 0.14]
    assert states(latency) == States(0.155, pytest.approx(0.476), 9, 4)
    assert states([1 / x for x in latency]) == States(pytest.approx(1 / 0.476, rel=1e-3), 1 / 0.155, 4, 9)


def test_what_tells_nothing_is_no_state() -> None:
    assert states([1, 1, 1, 4, 4]) is None  # too few
    assert states([1.0] * 12 + [4.0]) is None  # an outlier
    assert states([1.0] * 6 + [1.1] * 6) is None  # too near
    assert states([0.0] * 6 + [1.0] * 6) is None  # an observed value of nothing
    assert states([1.0] * 12) is None
    assert states([1.0, 1.0, 1.0, math.inf, math.inf, math.inf]) is None


def figure(*launches: float, toolchain: str = "gcc-native", better: str = "lower", unit: str = "us") -> Verified:
    identity = Identity("pingpong", "mpi_blocking", toolchain, "openmpi", Placement(1, 2), (("bytes", 8),), "latency")
    found = states(launches)
    return Verified(identity, unit, better, estimate(launches), 16.0, {"messages": 1.0}, None, 0.0, states=found)


def test_words() -> None:
    assert describe_states(States(0.154, 0.482, 6, 2), "us") == "154 or 482 ns, 6 of 8 in the lower"
    assert describe_states(States(0.15, 2.0, 3, 3), "us") == "150 ns or 2.00 us, 3 of 6 in the lower"


def test_how_the_states_were_drawn_is_no_difference() -> None:
    mostly_low = figure(*[0.150, 0.152, 0.154, 0.156] * 3, *[0.47, 0.48])
    mostly_high = figure(*[0.151, 0.155], *[0.46, 0.47, 0.48, 0.49] * 3)
    assert mostly_low.states and mostly_high.states
    by_launches = judged.interval.ratio(mostly_low.estimate.launches, mostly_high.estimate.launches, 0.99)
    assert by_launches.low is not None and by_launches.low > 1 and by_launches.value > 3  # without states: worse
    found = judged.ratio(mostly_low, mostly_high)
    assert found.low is not None and found.high is not None and found.low < 1.03 < found.high


def test_one_state_between_two_is_neither_better_nor_worse() -> None:
    two, one = figure(*[0.15, 0.152] * 7, *[0.47, 0.48]), figure(*[0.29, 0.30, 0.31] * 5)
    found = judged.ratio(two, one)
    assert found.low is not None and found.high is not None and found.low < 1 < found.high


def test_better_in_both_states_is_better() -> None:
    a, b = figure(*[0.15, 0.152] * 5, *[0.47, 0.48] * 3), figure(*[1.50, 1.52] * 5, *[4.7, 4.8] * 3)
    found = judged.ratio(a, b)
    assert found.low is not None and found.low > 1.03


def runs_of_two_states(r: random.Random, n: int, sticky: float, shift: float = 1.0) -> list[float]:
    """Return launches of one run: the mode stays from launch to launch with that probability, else it is drawn anew."""
    found, slow = [], r.random() < 0.35
    for _ in range(n):
        slow = slow if r.random() < sticky else r.random() < 0.35
        found.append(shift * r.lognormvariate(0, 0.03) * (3.0 if slow else 1.0))
    return found


@pytest.mark.parametrize(
    ("n", "sticky"), [(6, 0.0), (6, 0.4), (8, 0.0), (8, 0.4), (13, 0.0), (13, 0.7), (30, 0.0), (30, 0.8)]
)
def test_equal_runs_with_two_states_are_not_called_different(n: int, sticky: float) -> None:
    """The machine may stay in one of its modes for a while, so that one run has more of it than the other."""
    r = random.Random(f"{n} {sticky}")
    outcomes = [compare_figures(*(figure(*runs_of_two_states(r, n, sticky)) for _ in "ab")).outcome for _ in range(300)]
    assert sum(o in ("better", "worse") for o in outcomes) <= 0.05 * len(outcomes)


def test_a_difference_of_both_states_is_found() -> None:
    r = random.Random(7)
    outcomes = [
        compare_figures(
            figure(*runs_of_two_states(r, 30, 0.0)), figure(*runs_of_two_states(r, 30, 0.0, shift=2.0))
        ).outcome
        for _ in range(100)
    ]
    assert outcomes.count("worse") >= 80


def test_the_reason_names_the_states_of_both_runs() -> None:
    a, b = figure(*[0.150, 0.152] * 5, *[0.47, 0.48] * 2), figure(*[0.150, 0.152] * 2, *[0.47, 0.48] * 5)
    found = compare_figures(a, b)
    assert found.outcome == "inconclusive"
    assert (
        found.reason == "bimodal: 151 or 475 ns, 10 of 14 in the lower in A, 151 or 475 ns, 4 of 14 in the lower in B"
    )


def test_what_has_two_states_wins_only_with_both() -> None:
    two = figure(*[0.150, 0.152] * 6, 0.47, 0.48, toolchain="two")
    assert [len(g.figures) for g in rank([two, figure(*[0.30, 0.31] * 7, toolchain="between")])] == [2]
    assert [len(g.figures) for g in rank([two, figure(*[0.60, 0.61] * 7, toolchain="beyond")])] == [1, 1]


def test_tables_behind_drawings_name_both_states() -> None:
    two, one = figure(*[0.150, 0.152] * 6, *[0.47, 0.48]), figure(*[0.15] * 8)
    assert [row[-1] for row in frame.table([two, one])] == [
        "verified; bimodal: 151 or 475 ns, 12 of 14 in the lower",
        "verified",
    ]
    assert "bimodal: 151 or 475 ns" in frame.hover(two) and "bimodal" not in frame.hover(one)


def test_an_advantage_is_that_of_the_nearer_states() -> None:
    """Bimodal medians show how many launches were in each mode: 0.15 against 3 us would be 20 x."""
    mostly_low, mostly_high = figure(*[0.15] * 9, *[0.6] * 4), figure(*[0.9] * 4, *[3.0] * 9)
    assert advantage(mostly_low, mostly_high) == pytest.approx(5)  # 0.6 to 3; 0.15 to 0.9 is 6
    assert advantage(mostly_high, mostly_low) == pytest.approx(1 / 5)
    settled = provenance.settle(provenance.advantage("5.0 ×", mostly_low, mostly_high))
    assert [s.formula for s in settled.sources] == ["nearest(a, b)"]
    one, other = figure(*[0.2] * 8), figure(*[0.3] * 8)
    assert advantage(one, other) == pytest.approx(1.5)
    assert [s.formula for s in provenance.settle(provenance.advantage("1.5 ×", one, other)).sources] == ["a / b"]


def test_states_are_scaled_with_the_figure_they_belong_to() -> None:
    two = replace(figure(*[1.0] * 9, *[4.0] * 4, unit="Mbit/s"), cost={"flow": 2.0**20})
    scaled = shipped.module("vector_sum", "bandwidth").of(two, 2.0**20)
    assert isinstance(scaled, Verified) and scaled.states is not None and two.states is not None
    assert scaled.states.upper / scaled.estimate.median == two.states.upper / two.estimate.median
