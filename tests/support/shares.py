"""Shares: what one worker (pytest-xdist) takes at a time, in the order in which tests are to begin.

A share is what stands together of one file, so that what its tests have in common is made once; of `test_workloads` it
is what stands together of one workload, whose programs are built together. A worker takes the next share when it has
two tests left: what comes first in the order begins first, and what comes last runs when all else has begun.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

CLASSES = ("faults", "native", "browser")
"""By marker: tests that take long each, before the many short ones that fill what is left of a worker's time."""


def first_the_long(items: list[pytest.Item]) -> None:
    """What waits for daemons comes first, so that others run meanwhile; then what meets each workload, for others find
    its programs made; then what is long; what runs alone comes last: until then no worker waits for another."""
    items.sort(key=_rank)


def _rank(item: pytest.Item) -> tuple[bool, ...]:
    long = any(item.get_closest_marker(name) for name in CLASSES)
    return (
        item.get_closest_marker("alone") is not None,
        item.get_closest_marker("patient") is None,
        item.path.stem != "test_workloads",
        not long,
    )


def shares(tests: Iterable[str]) -> dict[str, str]:
    """The share of each test, both by name: neighbours of the same kind."""
    found: dict[str, str] = {}
    for number, (kind, some) in enumerate(groupby(tests, _kind)):
        found |= dict.fromkeys(some, f"{number} {kind}")
    return found


def _kind(test: str) -> str:
    file, _, name = test.partition("::")
    function, bracket, parameters = name.partition("[")
    if file.endswith("test_workloads.py") and bracket:
        return f"{file}::{function}[{parameters.partition('.')[0]}"
    return file


class Shares(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out shares in the order of the tests."""

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False
        self.known: dict[str, str] = {}

    def _split_scope(self, nodeid: str) -> str:
        if not self.known:
            self.known = shares(self.collection or ())
        return self.known[nodeid]

    def remove_node(self, node: WorkerController) -> str | None:
        """The test that ended its worker, which is not begun again; what else the worker had to do comes next."""
        left = self.assigned_work.pop(node)
        guilty = next((test for share in left.values() for test, ended in share.items() if not ended), None)
        for name, share in reversed(left.items()):
            if rest := {test: False for test, ended in share.items() if not ended and test != guilty}:
                self.workqueue[name] = rest
                self.workqueue.move_to_end(name, last=False)
        if guilty is not None:
            for other in self.nodes:
                self._reschedule(other)
        return guilty
