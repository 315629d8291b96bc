"""Order: which tests begin first. Each worker begins with a part of the list; idle workers take tests of others."""

from __future__ import annotations

import pytest

CLASSES = ("faults", "native", "browser")
"""By marker: tests that take long each, before the many short ones that fill what is left of a worker's time."""


def first_the_long(items: list[pytest.Item]) -> None:
    """Order tests: those that wait for daemons first, so that others run meanwhile; then those that run each workload,
    whose programs others reuse; then long ones. Tests that run alone are last: until then no worker waits for another.
    """
    items.sort(key=_rank)


def _rank(item: pytest.Item) -> tuple[bool, ...]:
    long = any(item.get_closest_marker(name) for name in CLASSES)
    return (
        item.get_closest_marker("alone") is not None,
        item.get_closest_marker("patient") is None,
        item.path.stem != "test_workloads",
        not long,
    )
