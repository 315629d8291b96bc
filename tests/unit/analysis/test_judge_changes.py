"""Changes: planted ones are found at their run, and series that do not change show none."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.analysis.changes import CHANCE, SHORTEST, Change, Value, changes, deviation, fewest, seeded
from firstlight.analysis.interval import shift_p

Series = Callable[[random.Random, int], list[float]]


def independent(draw: Callable[[random.Random], float]) -> Series:
    return lambda r, n: [draw(r) for _ in range(n)]


def drifting(phi: float, deviation: float) -> Series:
    """AR(1): a machine whose level wanders from run to run."""

    def series(r: random.Random, n: int) -> list[float]:
        level, found = r.gauss(0, deviation), []
        for _ in range(n):
            found.append(level + r.gauss(0, 0.003))
            level = phi * level + r.gauss(0, deviation * math.sqrt(1 - phi * phi))
        return found

    return series


STILL: dict[str, Series] = {  # logarithms of the runs' medians
    "normal": independent(lambda r: r.gauss(0, 0.02)),
    "laplace": independent(lambda r: r.expovariate(50) * r.choice((-1, 1))),
    "student": independent(lambda r: r.gauss(0, 0.02) / math.sqrt(r.expovariate(1))),
    "exponential": independent(lambda r: r.expovariate(30)),
    "one in ten disturbed": independent(lambda r: r.gauss(0, 0.01) + (r.random() < 0.1) * r.expovariate(2.5)),
    "one of two states a run": independent(lambda r: r.gauss(0, 0.01) + (r.random() < 0.3) * math.log(3)),
    "drifting": drifting(0.5, 0.02),
    "drifting slowly": drifting(0.9, 0.02),
}


def values(logs: Sequence[float], half: float = 0.005) -> list[Value]:
    return [Value(math.exp(x), math.exp(x - half), math.exp(x + half)) for x in logs]


def planted(series: Series, seed: int, moves: Sequence[tuple[int, float]], n: int = 200) -> list[Value]:
    """Return the series with its level multiplied by this factor from each of these runs on."""
    logs = series(random.Random(seed), n)
    return values([x + sum(math.log(by) for at, by in moves if k >= at) for k, x in enumerate(logs)])


def places(found: Sequence[Change]) -> list[int]:
    return [change.at for change in found]


@pytest.mark.parametrize("name", STILL)
@pytest.mark.parametrize("n", [12, 40, 200])
@pytest.mark.full
def test_a_series_that_holds_its_level_shows_no_change(name: str, n: int) -> None:
    """At most 5 %, and far fewer of most kinds."""
    r = random.Random(f"{name} {n}")
    shown = sum(bool(changes(values(STILL[name](r, n)))) for _ in range(120))
    assert shown <= 6, f"{shown} of 120"


@pytest.mark.parametrize(
    "moves",
    [
        [(50, 1.10), (110, 0.80), (160, 1.25)],
        [(50, 1.08), (110, 1 / 1.08), (160, 1.08)],  # back and forth: the whole series hides them
        [(60, 1.30), (66, 1 / 1.30), (190, 0.85)],  # a passing one, and a recent one
        [(100, 1.5), (103, 1 / 1.5), (197, 1.5)],  # as short as they may be
    ],
)
def test_three_planted_changes_are_found_at_their_runs(moves: list[tuple[int, float]]) -> None:
    found = [places(changes(planted(STILL["drifting"], seed, moves))) for seed in range(20)]
    wanted = [at for at, _ in moves]
    false = sum(sum(all(abs(at - there) > 1 for there in wanted) for at in some) for some in found)
    missed = sum(sum(all(abs(at - there) > 1 for at in some) for there in wanted) for some in found)
    assert missed <= 6 and false <= 3, (missed, false)  # of 60
    still = [places(changes(planted(independent(lambda r: r.gauss(0, 0.01)), seed, moves))) for seed in range(20)]
    exact = sum(some == wanted for some in still)
    assert exact >= 19, still


def test_a_change_tells_both_levels() -> None:
    (change,) = changes(planted(independent(lambda r: r.gauss(0, 0.01)), 1, [(30, 1.2)], 60))
    assert change.at == 30
    assert change.ratio == pytest.approx(1.2, rel=0.01)
    assert change.certainty > 4.5


def test_less_than_matters_is_no_change() -> None:
    moved = planted(independent(lambda r: r.gauss(0, 0.002)), 1, [(100, 1.03)])
    assert changes(moved) == []
    assert places(changes(moved, threshold=0.02)) == [100]


def test_one_night_and_two_nights_are_no_new_level() -> None:
    for length in (1, 2):
        assert changes(planted(independent(lambda r: r.gauss(0, 0.01)), 3, [(40, 2.0), (40 + length, 0.5)], 80)) == []


def test_of_two_states_both_must_move() -> None:
    r = random.Random(1)

    def series(share: Callable[[int], float], by: Callable[[int], float]) -> list[Value]:
        some = []
        for k in range(60):
            lower, upper = 1.44e-7 * by(k), 4.75e-7 * by(k)
            in_upper = r.random() < share(k)
            some.append(Value(upper if in_upper else lower, lower, upper, lower, upper))
        return some

    assert changes(series(lambda k: 0.1 if k < 30 else 0.9, lambda k: 1.0)) == []
    assert places(changes(series(lambda k: 0.0, lambda k: 1.0 if k < 30 else 8.0))) == [30]


def test_the_deviation_is_that_of_the_machine_in_spite_of_changes_and_outliers() -> None:
    moves = [(50, 1.5), (100, 0.5), (150, 1.5)]
    noisy = independent(lambda r: r.gauss(0, 0.02) + (r.random() < 0.05) * 0.5)
    assert deviation(planted(noisy, 1, moves)) == pytest.approx(0.02, rel=0.25)
    wide = [Value(1.0, 0.9, 1.1) for _ in range(20)]
    assert deviation(wide) == pytest.approx(math.log(1.1 / 0.9) / 2 / NormalDist().inv_cdf(0.975))


@given(st.integers(2 * SHORTEST, 400))
def test_seeded_intervals_lie_in_the_series_and_every_run_in_a_short_one(n: int) -> None:
    some = seeded(n)
    assert all(0 <= start < end <= n and end - start >= 2 * SHORTEST for start, end in some)
    assert (0, n) in some
    short = [(start, end) for start, end in some if end - start <= 4 * SHORTEST]
    assert n > 4 * SHORTEST or short
    assert all(any(start < at < end for start, end in short) for at in range(1, n)) or n <= 2 * SHORTEST


@given(st.lists(st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.floats(1e-3, 1e3)), max_size=40))
def test_odd_values_break_nothing_and_levels_keep_their_runs(medians: list[float]) -> None:
    found = changes([Value(m) for m in medians])
    assert deviation([Value(m) for m in medians]) > 0
    bounds = [0, *places(found), len(medians)]
    assert all(b - a >= SHORTEST for a, b in pairwise(bounds)) or not found


def test_the_fewest_runs_can_show_a_change_and_fewer_cannot() -> None:
    n = fewest()
    twice = [Value((1 + 0.001 * (k % 3)) * (1 if k < n // 2 else 2)) for k in range(n)]
    assert [one.at for one in changes(twice)] == [n // 2]
    for fewer in range(2 * SHORTEST, n):
        assert min(shift_p(range(k), range(k, fewer)) for k in range(1, fewer)) > CHANCE / fewer
