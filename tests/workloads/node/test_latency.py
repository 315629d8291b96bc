"""Rows of latency name the kind of pages, and the programs run on these pages."""

from __future__ import annotations

import re
import subprocess
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
def test_ordinary_pages_are_ordinary() -> None:
    """The kernel shows the pages of the buffer, once it is filled for the last time. It may refuse huge ones."""
    built = native.plain("latency", "ordinary_pages")
    assert built.executable is not None, built.error
    words = [built.executable, f"bytes={BUFFER}", "--samples", "1000000", "--case-seconds", "1000"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as running:
        try:
            turns.await_(lambda: memory(running)["Rss"] >= BUFFER, "the buffer")
            turns.await_(lambda: memory(running)["AnonHugePages"] < BUFFER // 8, "ordinary pages")
        finally:
            running.kill()


def memory(running: subprocess.Popen[bytes]) -> dict[str, int]:
    """Return the bytes of a process by kind."""
    assert running.poll() is None
    text = Path(f"/proc/{running.pid}/smaps_rollup").read_text()
    return {name: 1024 * int(kib) for name, kib in re.findall(r"^(\w+): +(\d+) kB", text, re.MULTILINE)}
