"""The display of progress: sparing lines, or a moving display on a terminal."""

from __future__ import annotations

import io

import pytest

from bench import printed
from firstlight.runner.progress import Moving, Plain, Progress, display


def test_plain_progress_is_sparing(monkeypatch: pytest.MonkeyPatch, progress: Plain) -> None:
    now = 0.0
    monkeypatch.setattr("firstlight.runner.progress.time.monotonic", lambda: now)
    for step in range(100):
        now = step * 0.2
        progress.state.stage, progress.state.now, progress.state.left = "round 1", f"cell {step}", 100.0 - now
        progress.update()
    lines = printed(progress).splitlines()
    assert len(lines) == 4
    assert lines[0] == "round 1 · 1 min 40 s left · cell 0"


def test_an_equal_line_appears_once_a_minute(monkeypatch: pytest.MonkeyPatch, progress: Plain) -> None:
    now = 0.0
    monkeypatch.setattr("firstlight.runner.progress.time.monotonic", lambda: now)
    progress.state.stage = "build"
    for step in range(150):
        now = float(step)
        progress.update()
    assert printed(progress).splitlines() == ["build"] * 3


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_display_moves_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("CI", raising=False)
    assert isinstance(display(io.StringIO()), Plain)
    stream = Terminal()
    moving: Progress = display(stream)
    assert isinstance(moving, Moving)
    monkeypatch.setenv("CI", "1")
    assert isinstance(display(stream), Plain)
    with moving:
        moving.state.stage, moving.state.now, moving.state.last = (
            "round 2",
            "dot.serial.gcc-base.1x1",
            "dot.x: 3 [GB/s]",
        )
        moving.state.done, moving.state.total, moving.state.left = 3, 9, 61
        moving.note("a line [that] stays")
    shown = stream.getvalue()
    assert "a line [that] stays" in shown
    assert "round 2" in shown and "3/9" in shown and "1 min 1 s left" in shown and "3 [GB/s]" in shown
