"""Latency: rows say on which pages they were measured, and the programs run on these pages."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import native
import turns

BUFFER = 64 << 20
"""Bytes of the buffer: the largest part of the program's memory by far."""


def test_each_row_says_on_which_pages_it_was_measured() -> None:
    rows = {tuple(row.variants): row.title for row in native.workloads["latency"].rows}
    assert rows == {
        ("chase",): "memory latency, huge pages if offered",
        ("ordinary_pages",): "memory latency, ordinary pages",
    }


@pytest.mark.native
def test_each_variant_runs_on_its_pages() -> None:
    """The kernel shows the pages of the buffer, once it is filled for the last time."""
    runs_with("ordinary_pages", lambda memory: memory["AnonHugePages"] < BUFFER // 8 and memory["Rss"] >= BUFFER)
    offered = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not offered.is_file() or "[never]" in offered.read_text():
        pytest.skip("this system offers no huge pages")
    runs_with("chase", lambda memory: memory["AnonHugePages"] > BUFFER // 2)


def runs_with(variant: str, so: Callable[[dict[str, int]], bool]) -> None:
    """Wait until the memory of a running program is so."""
    built = native.plain("latency", variant)
    assert built.executable is not None, built.error
    words = [built.executable, f"bytes={BUFFER}", "--samples", "1000000", "--case-seconds", "1000"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as running:
        try:
            turns.await_(lambda: so(memory(running)), f"the pages of {variant}")
        finally:
            running.kill()


def memory(running: subprocess.Popen[bytes]) -> dict[str, int]:
    """Return the bytes of a process by kind."""
    assert running.poll() is None
    text = Path(f"/proc/{running.pid}/smaps_rollup").read_text()
    return {name: 1024 * int(kib) for name, kib in re.findall(r"^(\w+): +(\d+) kB", text, re.MULTILINE)}
