"""Work is divided into parts of an index range and into grids of processes."""

from __future__ import annotations

from ctypes import CDLL, c_int64
from itertools import pairwise, product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

import drivers
from firstlight import ROOT

pytestmark = pytest.mark.native

HARNESS = ROOT / "native/harness/include"


@pytest.fixture(scope="module")
def split() -> CDLL:
    library = drivers.library(
        ROOT / "tests/native/split_functions.cpp", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{HARNESS}"
    )
    library.part_of.restype = c_int64
    return library


def part(split: CDLL, n: int, parts: int, k: int, unit: int = 1) -> tuple[int, int]:
    out = (c_int64 * 2)()
    split.part(c_int64(n), c_int64(parts), c_int64(k), c_int64(unit), out)
    return out[0], out[1]


def process_grid(
    split: CDLL,
    processes: int,
    extents: tuple[int, ...],
    wanted: tuple[int, ...] | None = None,
    costs: tuple[int, ...] | None = None,
) -> tuple[int, ...] | None:
    d = len(extents)
    count, words = (c_int64 * d)(), c_int64 * d
    arguments = (words(*extents), words(*(wanted or (0,) * d)), words(*(costs or (1,) * d)))
    found = split.process_grid(d, c_int64(processes), *arguments, count)
    return tuple(count) if found else None


@given(st.integers(0, 1 << 40), st.integers(1, 300), st.sampled_from([1, 8, 13]))
def test_parts_follow_one_another_and_are_alike(split: CDLL, n: int, parts: int, unit: int) -> None:
    found = [part(split, n, parts, k, unit) for k in range(parts)]
    assert (found[0][0], found[-1][1]) == (0, n)
    assert all(before[1] == after[0] for before, after in pairwise(found))
    assert all(begin % unit == 0 for begin, _ in found)
    units = [end // unit - begin // unit for begin, end in found]
    assert max(units) - min(units) <= 1


def test_the_product_of_length_and_parts_may_be_too_large_for_64_bits(split: CDLL) -> None:
    assert part(split, 1 << 60, 1 << 20, (1 << 20) - 1) == ((1 << 60) - (1 << 40), 1 << 60)


@given(st.integers(1, 5000), st.integers(1, 300), st.data())
def test_every_index_knows_its_part(split: CDLL, n: int, parts: int, data: st.DataObject) -> None:
    i = data.draw(st.integers(0, n - 1))
    k = split.part_of(c_int64(n), c_int64(parts), c_int64(i))
    begin, end = part(split, n, parts, k)
    assert begin <= i < end


@given(st.integers(1, 144), st.lists(st.integers(1, 40), min_size=1, max_size=4).map(tuple), st.data())
def test_a_process_grid_has_the_least_surface(
    split: CDLL, processes: int, extents: tuple[int, ...], data: st.DataObject
) -> None:
    wanted = tuple(data.draw(st.sampled_from([0, 0, 0, 1, 2, 3])) for _ in extents)
    costs = tuple(data.draw(st.sampled_from([1, 1, 3])) for _ in extents)
    divisors = [c for c in range(1, processes + 1) if processes % c == 0]
    choices = [[c for c in divisors if c <= e and w in (0, c)] for e, w in zip(extents, wanted, strict=True)]
    fitting = [c for c in product(*choices) if prod(c) == processes]
    found = process_grid(split, processes, extents, wanted, costs)
    if not fitting:
        assert found is None
        return

    def surface(counts: tuple[int, ...]) -> float:
        return sum(cost * c / e for cost, c, e in zip(costs, counts, extents, strict=True))

    least = min(map(surface, fitting))
    assert found == max(c for c in fitting if surface(c) <= least * (1 + 1e-12))


@pytest.mark.parametrize(
    ("processes", "extents", "expected"),
    [
        (12, (100, 100), (4, 3)),
        (12, (300, 100), (6, 2)),
        (8, (64, 64, 64), (2, 2, 2)),
        (4, (64, 64, 64), (2, 2, 1)),
        (7, (64, 64, 64), (7, 1, 1)),
        (7, (6, 6, 64), (1, 1, 7)),
        (7, (6, 6), None),
        (1 << 20, (1 << 14,) * 4, (32, 32, 32, 32)),
    ],
)
def test_grids_one_expects(
    split: CDLL, processes: int, extents: tuple[int, ...], expected: tuple[int, ...] | None
) -> None:
    assert process_grid(split, processes, extents) == expected


def test_faces_that_cost_more_are_cut_less(split: CDLL) -> None:
    assert process_grid(split, 2, (56, 56, 100)) == (1, 1, 2)
    assert process_grid(split, 2, (56, 56, 100), costs=(1, 1, 3)) == (2, 1, 1)


@given(st.tuples(*[st.integers(1, 5)] * 3), st.tuples(*[st.integers(-1, 1)] * 3), st.integers(0, 7), st.data())
def test_neighbours(
    split: CDLL, count: tuple[int, ...], step: tuple[int, ...], periodic: int, data: st.DataObject
) -> None:
    rank = data.draw(st.integers(0, prod(count) - 1))
    ranks = {place: k for k, place in enumerate(product(*map(range, count)))}
    here = next(place for place, k in ranks.items() if k == rank)
    there = tuple(x + s for x, s in zip(here, step, strict=True))
    around = tuple(x % c if periodic >> d & 1 else x for d, (x, c) in enumerate(zip(there, count, strict=True)))
    words = c_int64 * 3
    assert split.neighbour(words(*count), rank, words(*step), periodic) == ranks.get(around, -1)
