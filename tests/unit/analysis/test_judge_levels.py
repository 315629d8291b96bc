"""Levels of the memory: where caches end by a staircase of dependent accesses, and the report if none shows it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import synthetic
from firstlight.analysis.figures import judge
from firstlight.analysis.levels import Hierarchy, Level, Step, ascending, capacities, nominal, observed
from firstlight.analysis.verdict import Figure, Verified

KIB, MIB = 1024.0, 1024.0**2
SIZES = (32 * KIB, 512 * KIB, 32 * MIB)
TIMES = (1.0, 3.5, 14.0, 150.0)  # ns in each cache and in memory
QUICK = tuple(KIB * k for k in (16, 64, 256, 1024, 4096, 8192, 16384, 32768, 65536, 131072))
STANDARD = tuple(KIB * 2**k for k in range(2, 21))


def chase(sizes: tuple[float, ...], caches: tuple[float, ...], least_recent: bool = False) -> list[Step]:
    """Return the times of a random chase: for data that do not fit, a cache serves its share, or nothing if it drops
    the oldest first.
    """
    steps = []
    for size in sizes:
        shares = [min(1.0, c / size) if not least_recent or c >= size else 0.0 for c in caches] + [1.0]
        served = [b - a for a, b in zip([0.0, *shares[:-1]], shares, strict=True)]
        steps.append(Step(size, sum(max(0.0, s) * t for s, t in zip(served, TIMES, strict=True))))
    return steps


@pytest.mark.parametrize("least_recent", [False, True])
@pytest.mark.parametrize("sizes", [QUICK, STANDARD], ids=["quick", "standard"])
def test_caches_that_act_as_they_are_told(sizes: tuple[float, ...], least_recent: bool) -> None:
    assert capacities(SIZES, chase(sizes, SIZES, least_recent)) == list(SIZES)


@pytest.mark.parametrize("acts", [4, 8, 11, 14])
@pytest.mark.parametrize("sizes", [QUICK, STANDARD], ids=["quick", "standard"])
def test_a_last_cache_of_which_neighbours_take_a_part(sizes: tuple[float, ...], acts: int) -> None:
    first, second, last = capacities(SIZES, chase(sizes, (*SIZES[:2], acts * MIB)))
    assert (first, second) == SIZES[:2]
    assert last is not None and acts / 1.5 <= last / MIB <= acts


@pytest.mark.parametrize("more", [1.5, 3.0])
@pytest.mark.parametrize("level", [0, 1, 2])
def test_no_cache_holds_more_than_it_has(level: int, more: float) -> None:
    """An L2 of 1 MiB was seen to serve 3 MiB at its speed. A smaller effective capacity is reported, no larger one."""
    seen = [size * (more if k == level else 1.0) for k, size in enumerate(SIZES)]
    effective = capacities(SIZES, chase(STANDARD, tuple(seen)))
    assert all(c in (size, None) for c, size in zip(effective, SIZES, strict=True)) and effective[level:] == list(
        SIZES[level:]
    )
    seen[level] /= 2 * more
    effective = capacities(SIZES, chase(STANDARD, tuple(seen)))
    assert [c is None or c < size for c, size in zip(effective, SIZES, strict=True)] == [k == level for k in range(3)]


def test_as_it_was_seen_on_a_processor_with_neighbours() -> None:
    """4 MiB in 15.7 ns, 16 MiB in 122 ns behind an L3 of 32 MiB; and with the medians of another day."""
    times = (0.99, 3.47, 3.45, 7.15, 15.7, 122.0, 132.0, 151.0)
    sizes = (*(KIB * 4**k for k in range(2, 9)), 128 * MIB)
    *_, last = capacities((48 * KIB, MIB, 32 * MIB), [Step(*x) for x in zip(sizes, times, strict=True)])
    assert last == 4 * MIB
    other = dict(zip(sizes, times, strict=True)) | {4 * MIB: 12.8, 16 * MIB: 42.3}
    *_, last = capacities((48 * KIB, MIB, 32 * MIB), [Step(*x) for x in other.items()])
    assert last is not None and 12 < last / MIB < 13


def test_a_full_cache_in_which_pages_collide_is_no_smaller_cache() -> None:
    """Real data: with an L2 of 1 MiB, 1 MiB of small pages needs 7.15 ns, between 3.45 and 12.8 ns."""
    times = (1.0, 3.47, 3.45, 7.15, 12.8, 14.0, 130.0)
    steps = [Step(16 * KIB * 4**k, time) for k, time in enumerate(times)]
    assert capacities((48 * KIB, MIB, 32 * MIB), steps) == [48 * KIB, MIB, 32 * MIB]


@pytest.mark.parametrize("acts", [4, 12, 32])
def test_noise_moves_no_end_by_much(acts: int) -> None:
    for seed in range(200):
        rng = random.Random(seed)
        noisy = [Step(s.bytes, s.time * rng.lognormvariate(0, 0.08)) for s in chase(QUICK, (*SIZES[:2], acts * MIB))]
        first, second, last = capacities(SIZES, noisy)
        assert (first, second) == SIZES[:2], seed
        assert last is not None and 0.5 <= last / (acts * MIB) <= 1.5, seed


def test_too_few_points_say_nothing() -> None:
    steps = chase(QUICK, SIZES)
    assert capacities(SIZES, []) == [None] * 3
    assert capacities(SIZES, steps[:3]) == [SIZES[0], None, None]
    assert capacities(SIZES, steps[-2:]) == [None] * 3
    assert capacities([], steps) == []
    flat = [Step(s, 5.0) for s in QUICK]
    assert capacities(SIZES, flat) == [None] * 3


POINTS = st.lists(st.tuples(st.floats(-1), st.floats(-1)), max_size=20)


@given(POINTS)
def test_any_points_give_ends_that_ascend(points: list[tuple[float, float]]) -> None:
    steps = [Step(*p) for p in points]
    stairs = ascending(steps)
    assert [s.time for s in stairs] == sorted(s.time for s in stairs)
    found = [size if c is None else c for c, size in zip(capacities(SIZES, steps), SIZES, strict=True)]
    assert found == sorted(found)
    assert all(c <= size for c, size in zip(found, SIZES, strict=True))


def test_places_of_working_sets() -> None:
    levels = Hierarchy((Level(1, 32 << 10, 2), Level(2, 512 << 10, 2), Level(3, 32 << 20, 1, 2, acts=16 * MIB)), True)
    assert levels.names == ["L1", "L2", "L3", "memory"]
    assert [levels.place(x) for x in (32 * KIB, 33 * KIB, MIB, 17 * MIB)] == ["L1", "L2", "L3", "memory"]
    assert levels.place(64 * KIB, 2) == "L1" and levels.place(17 * MIB, 2) == "memory"
    assert levels.may_lie(17 * MIB) == "L3" and levels.may_lie(33 * MIB) == "memory"
    assert [levels.places(x, 1) for x in (MIB, 17 * MIB, 33 * MIB)] == ["L3", "L3 or memory", "memory"]
    assert Hierarchy().places(1.0, 1) == ""
    assert levels.before("L1") == 0 and levels.before("memory") == 32 * MIB
    assert Hierarchy().place(1.0) == "memory"


def test_a_run_tells_its_own_levels() -> None:
    scene = synthetic.run(5, 7)
    judged = judge(*scene)
    assert judged.levels.measured and all(level.acts is None for level in judged.levels.levels)
    without = judge(*synthetic.run(5, 7, only=["dot"]))
    assert not without.levels.measured
    assert without.hierarchy.levels == nominal(scene.run.machine).levels == judged.levels.levels

    def slow(f: Figure) -> Figure:
        """Return times as if neighbours used most of the last cache."""
        at = dict(f.identity.parameters).get("bytes")
        if not isinstance(f, Verified) or f.identity.workload != "latency" or at != 16 * 2**20:
            return f
        return replace(f, estimate=replace(f.estimate, median=0.9 * worst))

    worst = max(
        f.estimate.median for f in judged.figures if isinstance(f, Verified) and f.identity.workload == "latency"
    )
    found = observed(map(slow, judged.figures), scene.workloads, scene.run.machine)
    assert found.levels[-1].acts == 4 * MIB and found.levels[:-1] == judged.levels.levels[:-1]
