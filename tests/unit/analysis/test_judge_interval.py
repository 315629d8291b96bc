"""Intervals have the promised coverage, and are absent if the data are too few."""

from __future__ import annotations

import math
import random
from itertools import combinations, permutations
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.analysis import interval
from firstlight.analysis.interval import estimate, median_interval, quotient, ratio, shift_p
from firstlight.core import confidence

positive = st.floats(1e-3, 1e3)


def test_ranks_are_those_of_the_published_table() -> None:
    # Le Boudec, table A.1: the 95 % interval of a median is x(j), x(k)
    for n, j, k in ((6, 1, 6), (7, 1, 7), (8, 1, 8), (9, 2, 8), (12, 3, 10), (20, 6, 15), (30, 10, 21), (70, 27, 44)):
        low, high = median_interval([float(x) for x in range(1, n + 1)]) or (0, 0)
        assert (low, high) == (j, k) or 0.95 <= _coverage(n, int(low)) <= _coverage(n, j)


def _coverage(n: int, k: int) -> float:
    return 1 - 2 * sum(math.comb(n, i) for i in range(k)) / 2**n


@given(st.lists(positive, min_size=1, max_size=40))
def test_estimate_contains_its_median_and_needs_six(values: list[float]) -> None:
    e = estimate(values)
    assert e.launches == tuple(values)
    assert e.median == median(values)
    assert (e.low is None) == (e.high is None) == (len(values) < confidence.LAUNCHES)
    if e.low is not None and e.high is not None:
        assert min(values) <= e.low <= e.median <= e.high <= max(values)


def test_no_median_of_nothing() -> None:
    with pytest.raises(ValueError, match="empty"):
        estimate([])


@pytest.mark.parametrize("n", [6, 9, 15])
@pytest.mark.parametrize("draw", ["lognormvariate", "expovariate", "coarse"])
def test_median_interval_covers(n: int, draw: str) -> None:
    rng = random.Random(n)
    sample = {
        "lognormvariate": lambda: rng.lognormvariate(0, 1),
        "expovariate": lambda: -math.log(rng.random()) / math.log(2),  # median 1
        "coarse": lambda: float(rng.randint(0, 2)),  # median 1, full of ties
    }[draw]
    hits = 0
    for _ in range(2000):
        low, high = median_interval([sample() for _ in range(n)]) or (math.inf, math.inf)
        hits += low <= 1 <= high
    assert hits >= 0.94 * 2000


@pytest.mark.parametrize(("m", "n"), [(6, 6), (8, 10)])
@pytest.mark.parametrize("confidence", [0.90, 0.99])
def test_ratio_interval_covers(m: int, n: int, confidence: float) -> None:
    rng = random.Random(m * n)
    hits = 0
    for _ in range(1000):
        a = [rng.lognormvariate(0, 0.05) for _ in range(m)]
        b = [1.3 * rng.lognormvariate(0, 0.05) for _ in range(n)]
        r = ratio(a, b, confidence)
        assert r.low is not None and r.high is not None and r.low <= r.value <= r.high
        hits += r.low <= 1.3 <= r.high
    assert hits >= (confidence - 0.015) * 1000


def test_ratio_with_ties_is_conservative() -> None:
    rng = random.Random(4)
    wrong = 0
    for _ in range(1000):
        a, b = ([float(rng.randint(4, 6)) for _ in range(7)] for _ in range(2))
        r = ratio(a, b, 0.95)
        wrong += r.low is not None and r.high is not None and not r.low <= 1 <= r.high
    assert wrong <= 50


def test_exact_p_values_are_those_of_all_orders() -> None:
    """Against a count over all ways to deal the ranks 1..m+n to the two samples."""
    m, n = 4, 5
    ranks = range(m + n)
    u = {c: sum(x > y for x in c for y in ranks if y not in c) for c in combinations(ranks, m)}
    for c, mine in u.items():
        extreme = min(mine, m * n - mine)
        expected = min(1.0, 2 * sum(v <= extreme for v in u.values()) / len(u))
        a, b = [float(x) for x in c], [float(y) for y in ranks if y not in c]
        assert shift_p(a, b) == pytest.approx(expected)


def test_normal_tail_continues_the_exact_one() -> None:
    from scipy.stats import mannwhitneyu  # two seconds, which every worker would spend that reads this file

    rng = random.Random(8)
    a, b = [rng.gauss(0, 1) for _ in range(61)], [rng.gauss(0.4, 1) for _ in range(61)]
    assert shift_p(a, b) == pytest.approx(mannwhitneyu(a, b, method="exact").pvalue, rel=0.05)


def test_too_few_for_the_confidence() -> None:
    assert ratio([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], 0.95).low is None
    assert ratio([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], 0.90).low is not None  # 2 / C(6, 3) = 0.1


@given(st.lists(positive, min_size=4, max_size=9), st.lists(positive, min_size=4, max_size=9))
def test_ratio_has_a_mirror(a: list[float], b: list[float]) -> None:
    forth, back = ratio(a, b, 0.9), ratio(b, a, 0.9)
    assert forth.value == pytest.approx(1 / back.value)
    if forth.low is not None and back.high is not None:
        assert forth.low == pytest.approx(1 / back.high)


def test_order_of_launches_does_not_matter() -> None:
    b = [1.0, 1.1, 1.2, 1.3]
    assert len({ratio(p, b, 0.9) for p in permutations([2.0, 2.1, 2.3, 2.4])}) == 1


@pytest.mark.parametrize(("a", "b"), [([], [1.0]), ([1.0], [-1e-9]), ([-1.0], [1.0])])
def test_ratio_of_what_has_none(a: list[float], b: list[float]) -> None:
    with pytest.raises(ValueError, match="without negative values"):
        ratio(a, b)


def test_zero_is_a_thousandth_of_the_smallest_value_seen() -> None:
    zero, some = [0.0] * 7, [2.0, 3.0, 2.5, 2.0, 2.2, 2.1, 4.0]
    up, down = ratio(zero, some), ratio(some, zero)
    assert up.low is not None and up.low >= 999.9 and up.value == pytest.approx(1000 * median(some) / 2)
    assert up.value * down.value == pytest.approx(1)
    assert ratio(zero, zero) == (1, 1, 1)
    quotients = [quotient(0, 0), quotient(3, 0), quotient(0, 3), quotient(6, 3)]
    assert quotients == pytest.approx([1, 1000, 0.001, 2])


@given(st.data())
def test_the_ratio_of_many_launches_lists_no_pairs_and_is_the_same(data: st.DataObject) -> None:
    """Foreign records may have thousands of launches: the selected value is that of sorting all pairs."""
    some = st.lists(
        st.sampled_from([0.0, 1.0, 1.5, 2.0, 1e-300, 1e300]) | st.floats(1e-9, 1e9), min_size=1, max_size=40
    )
    a, b = data.draw(some), data.draw(some)
    wanted = interval.ratio(a, b)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interval, "_LISTED", 7)
        assert interval.ratio(a, b) == wanted


def test_bounds_of_many_launches_are_found_by_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [0]
    real = interval._whitney_below

    def counted(u: int, m: int, n: int) -> float:
        steps[0] += 1
        return real(u, m, n)

    monkeypatch.setattr(interval, "_whitney_below", counted)
    k = interval._whitney_rank(7919, 8111, 0.99)
    assert steps[0] < 100
    assert real(k - 1, 7919, 8111) <= 0.005 < real(k, 7919, 8111)
    assert interval._binomial_rank(10_000, 0.95) == 4_902  # 5,000 minus 1.96 times half of the root
