"""Inputs change at places that no step can predict, in their whole range, and the check computes when."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from changes import PARTS, followed, functions

seeds = st.integers(1, 1_000_000)


@given(
    seed=seeds, size=st.integers(0, 3000), always=st.booleans(), batches=st.integers(1, 3), steps=st.integers(1, 700)
)
def test_the_check_knows_what_changed_and_when(seed: int, size: int, always: bool, batches: int, steps: int) -> None:
    changed_at, last = followed(seed, size, batches, steps, always)
    ages = np.empty(size, np.int64)
    functions().ages(size, last, ages)
    assert (ages == changed_at).all()


@given(seed=seeds, size=st.integers(1, 40_000))
def test_before_each_batch_something_changes_in_every_part(seed: int, size: int) -> None:
    changed_at, _ = followed(seed, size, 1, 1)
    changed = np.flatnonzero(changed_at >= 0)
    widest = np.diff(np.concatenate([[-1], changed, [size]])).max() - 1
    assert len(changed) > min(size, 2 * PARTS) // 2
    assert widest <= 2 * -(-size // min(size, PARTS))


@pytest.mark.parametrize(("size", "steps"), [(1000, 257), (100_000, 2)])
def test_a_batch_changes_something_on_the_way(size: int, steps: int) -> None:
    """A step that looks once, at the begin of a batch, is late."""
    changed_at, last = followed(7, size, 2, steps)
    assert (changed_at > last - steps + 1).any()


def test_each_launch_changes_others() -> None:
    found = set()
    for seed in range(1, 20):
        found.add(tuple(np.flatnonzero(followed(seed, 5000, 1, 1)[0] >= 0)))
    assert len(found) == 19


@given(seed=seeds, first=st.integers(0, 999), length=st.integers(1, 400))
def test_a_range_without_a_change_is_told(seed: int, first: int, length: int) -> None:
    changed_at, last = followed(seed, 1000, 1, 1)
    end = min(first + length, 1000)
    assert bool(functions().any_in(last, first, end)) == (changed_at[first:end] >= 0).any()


@given(seed=seeds, size=st.integers(20_000, 40_000), batches=st.integers(1, 3))
def test_a_batch_changes_inputs_that_no_touch_leads_to(seed: int, size: int, batches: int) -> None:
    """A step that looks up its own changes, and computes only those, misses these inputs."""
    changed_at, last = followed(seed, size, batches, 1)
    shown = np.empty(PARTS, np.int64)
    functions().shown(last, PARTS, shown)
    hidden = set(np.flatnonzero(changed_at >= 0)) - set(shown)
    assert len(hidden) > PARTS // 2
    again, _ = followed(seed, size, batches + 1, 1)
    assert all(again[i] > last for i in hidden)  # they change in each batch


def test_the_checks_own_steps_have_inputs_of_one_iteration() -> None:
    followed(1, 100, 1, 1)
    ages = np.empty(100, np.int64)
    functions().ages(100, 1 << 41, ages)
    assert (ages == -1).all()
