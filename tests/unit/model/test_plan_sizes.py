"""Symbolic sizes are resolved on a machine; no working set exceeds its share of the memory."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from firstlight.model.catalogue import Sizes
from firstlight.model.plan import resolve_size
from firstlight.model.plan.sizes import lacking, with_less_memory
from invented_plan import GIB, KIB, MACHINE, MIB, machine

SIZES = Sizes("n", 16)
LEVELS = Sizes("level", 9000, growth=4)
EDGE = Sizes("n", 16, power=2)


@pytest.mark.parametrize(
    ("value", "sizes", "expected"),
    [
        ("L1", SIZES, 32 * KIB // 2 // 16),
        ("L2", SIZES, 512 * KIB // 2 // 16),
        ("L3", SIZES, 32 * MIB // 2 // 16),
        ("L4", SIZES, None),
        ("memory", SIZES, 4 * 32 * MIB // 16),
        ("memory", Sizes("n", 24, memory_bytes_per_element=8), 4 * 32 * MIB // 8),
        ("L1", Sizes("n", 24, power_of_two=True), 1024),
        ("word", SIZES, "word"),
        ("memory", None, "memory"),
        (1000, SIZES, 1000),
        (10**12, SIZES, None),
        (10**12, None, 10**12),
        ("largest", SIZES, int(0.6 * MACHINE.memory_available / 16)),
        ("largest", None, "largest"),
        ("largest", LEVELS, 9),
        ("largest", replace(LEVELS, bytes_per_element=36000), 8),
        ("largest", replace(LEVELS, most=7), 7),
        ("largest", replace(LEVELS, bytes_per_element=1e12), None),
        ("memory", LEVELS, 7),
        ("L3", LEVELS, 5),
        ("L1", LEVELS, 0),
        ("L1", replace(LEVELS, bytes_per_element=40000), None),
        ("largest", EDGE, int((0.6 * MACHINE.memory_available / 16) ** 0.5)),
        ("largest", replace(EDGE, largest="cbrt(8e6 * cores)"), int((8e6 * MACHINE.cores) ** (1 / 3))),
        ("largest", replace(EDGE, largest="1e9 * cores"), int((0.6 * MACHINE.memory_available / 16) ** 0.5)),
        (10**9, EDGE, None),
        (4000, EDGE, 4000),
        (0, LEVELS, 0),
        (9, LEVELS, 9),
        (10, LEVELS, None),
        (10**12, LEVELS, None),
    ],
)
def test_sizes_follow_the_caches(value: int | str, sizes: Sizes | None, expected: int | str | None) -> None:
    assert resolve_size(value, sizes, MACHINE) == expected


@pytest.mark.parametrize(
    ("value", "sizes", "why"),
    [
        ("L4", SIZES, "this machine has no such cache, or too little memory for this size"),
        (10**9, SIZES, "this size requires 14.9 GiB, but a launch can use only 4.80 GiB here"),
        (10**6, EDGE, "this size requires 14.6 TiB, but a launch can use only 4.80 GiB here"),
        (10**12, LEVELS, "this size requires more than any machine has, but a launch can use only 4.80 GiB here"),
        (8, replace(LEVELS, most=7), "the program accepts at most 7"),
    ],
)
def test_what_is_too_large_says_how_much_memory_it_needs(value: int | str, sizes: Sizes, why: str) -> None:
    assert resolve_size(value, sizes, MACHINE) is None
    assert lacking(value, sizes, MACHINE)[0] == why


def test_memory_without_a_known_cache_is_dropped() -> None:
    assert resolve_size("memory", SIZES, machine()) is None


@given(
    symbol=st.sampled_from(["L1", "L2", "L3", "memory", "largest"]),
    cache=st.integers(0, 40),
    available=st.integers(0, 45),
    bytes_per_element=st.floats(0.5, 1000),
    power_of_two=st.booleans(),
)
def test_no_working_set_takes_more_than_its_share(
    symbol: str, cache: int, available: int, bytes_per_element: float, power_of_two: bool
) -> None:
    here = machine((1, 2**cache), (2, 3 * 2**cache), (3, 5 * 2**cache), available=2**available)
    size = resolve_size(symbol, Sizes("n", bytes_per_element, power_of_two=power_of_two), here)
    if size is not None:
        assert isinstance(size, int)
        assert size >= 1
        assert size * bytes_per_element <= 0.6 * 2**available
        assert not power_of_two or size & (size - 1) == 0


@given(
    symbol=st.sampled_from(["L1", "L2", "L3", "memory", "largest"]),
    cache=st.integers(0, 40),
    available=st.integers(0, 45),
    bytes_per_element=st.floats(0.5, 1e6),
    growth=st.integers(2, 8),
)
def test_no_refinement_takes_more_than_its_share(
    symbol: str, cache: int, available: int, bytes_per_element: float, growth: int
) -> None:
    here = machine((1, 2**cache), (2, 3 * 2**cache), (3, 5 * 2**cache), available=2**available)
    level = resolve_size(symbol, Sizes("level", bytes_per_element, growth=growth), here)
    if level is not None:
        assert isinstance(level, int) and level >= 0
        assert growth**level * bytes_per_element <= 0.6 * 2**available
        if symbol == "largest":
            assert growth ** (level + 1) * bytes_per_element > 0.6 * 2**available


BY_KIND = Sizes("n", 24, memory_bytes_per_element=8, bytes_of={"op": {"load": 8, "copy": 16}})


@pytest.mark.parametrize(
    ("cache", "op", "expected"),
    [
        (32, ["triad"], 4 * 32 * MIB // 8),  # each array as STREAM requires: short anyhow
        (480, ["load"], 4 * 480 * MIB // 8),
        (480, ["triad"], 4 * 480 * MIB // 24),
        (480, ["copy", "triad"], 4 * 480 * MIB // 16),  # each of them needs at least as much
        (96, ["triad"], math.ceil((1 << 30) / 24)),
    ],
)
def test_memory_for_a_ceiling_alone_is_cut_to_four_caches_in_all(cache: int, op: list[str], expected: int) -> None:
    here = machine((3, cache * MIB), available=32 * GIB)
    n = resolve_size("memory", BY_KIND, here)
    assert isinstance(n, int)
    cut = with_less_memory({"op": [*op], "n": [1000, n]}, BY_KIND, here)
    assert cut == {"op": op, "n": [1000, expected]}
    assert min(BY_KIND.bytes_with(cut)) * expected >= 4 * cache * MIB
