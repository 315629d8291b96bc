"""Hardware counters of programs: an invented reader and, where the kernel allows it, events of software."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from firstlight.core.perf_events import Reading, counted, counting, open_event

FAULTS = (1, 2)
"""PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS: virtual machines without counters of hardware have it, too."""


@pytest.mark.parametrize(
    ("reading", "value"),
    [
        (Reading(100, 200, 200), 100.0),
        (Reading(100, 200, 100), 200.0),  # it shared its hardware, and counted for half of the time
        (Reading(0, 200, 200), None),  # no program executes nothing
        (Reading(0, 200, 0), None),  # it did not run
        (Reading(1025 * 100, 200, 100), None),  # no processor does as much
    ],
)
def test_impossible_values_are_left_out_and_shared_counters_scaled(reading: Reading, value: float | None) -> None:
    assert counted(reading) == value


def test_programs_that_are_started_count_with_their_children_and_this_process_does_not() -> None:
    descriptor, _ = open_event(*FAULTS)
    if descriptor < 0:
        pytest.skip("the kernel opens no events here")
    os.close(descriptor)

    def faults(run: Callable[[], object]) -> float:
        _, values = counting({"faults": FAULTS, "missing": (0, 1 << 40)}, run)
        assert values.keys() <= {"faults"}
        return values.get("faults", 0.0)

    def start(words: str) -> Callable[[], object]:
        return lambda: subprocess.run(["sh", "-c", words], check=True)

    before = len([*Path("/proc/self/fd").iterdir()])
    each = [faults(start(":")) for _ in range(20)]
    assert min(each) > 20 and max(each) < 2 * min(each), "it counts each time"
    assert faults(start("sh -c :; sh -c :; sh -c :; sh -c :")) > 2.5 * max(each)
    assert faults(lambda: bytearray(1 << 24)) == 0
    assert len([*Path("/proc/self/fd").iterdir()]) == before
