"""Progress: what runs, how much is left, the last verified figure. It goes to stderr; results go to stdout."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import Self, TextIO

import msgspec

from firstlight.core.shell import as_typed, call, printable
from firstlight.core.units import duration

EVERY = 5.0  # seconds between plain lines
SAME = 60.0  # seconds until an equal line shows that work goes on
_CLEAR, _BACK = "\r\x1b[J", "\x1b[1A\r"  # to the end of the screen; to the beginning of the line above
_CUT, _WRAP = "\x1b[?7l", "\x1b[?7h"  # what the terminal does with a line that is too long


class State(msgspec.Struct):
    """What a display shows. `done` of `total` launches or builds of this stage; `left` in seconds, None if unknown."""

    stage: str = ""
    now: str = ""
    done: int = 0
    total: int = 0
    left: float | None = None
    last: str = ""  # the last verified figure

    def enter(self, stage: str, now: str = "") -> None:
        """Begin another stage; the last verified figure stays."""
        self.stage, self.now, self.done, self.total, self.left = stage, now, 0, 0, None

    def line(self) -> str:
        count = f"{self.done}/{self.total}" if self.total else ""
        left = f"{duration(max(0, round(self.left)))} left" if self.left is not None else ""
        return " · ".join(part for part in (self.stage, count, left, self.now, self.last) if part)


class Progress:
    """Show nothing, for --quiet. Others: `update` changes what is shown now; `note` leaves a line for good."""

    def __init__(self) -> None:
        self.state = State()

    def update(self) -> None:
        return None

    def note(self, line: str) -> None:
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class Plain(Progress):
    """Lines for logs and CI: one every EVERY seconds if it changes, one when a new stage begins, and each note."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream
        self._shown = ("", "", -EVERY)

    def update(self) -> None:
        before, last, when = self._shown
        now, kind, line = time.monotonic(), self.state.stage.partition(" ")[0], self.state.line()
        if kind != before or now - when >= (SAME if line == last else EVERY):
            self._shown = (kind, line, now)
            self.note(line)

    def note(self, line: str) -> None:
        print(printable(as_typed(line)), file=self._stream, flush=True)


class Moving(Progress):
    """Two lines that change in place on a terminal.

    The cursor stays at their beginning, so that a line of another writer replaces them and remains.
    """

    def __init__(self, stream: TextIO, colour: bool) -> None:
        super().__init__()
        self._stream = stream
        self._dim, self._plain = ("\x1b[2m", "\x1b[0m") if colour else ("", "")

    def _lines(self) -> str:
        s = self.state
        share = min(1.0, s.done / s.total) if s.total else 0.0
        bar = "█" * round(24 * share) + "░" * (24 - round(24 * share))
        left = f"  {duration(max(0, round(s.left)))} left" if s.left is not None else ""
        count = f"  {s.done}/{s.total}" if s.total else ""
        below = printable("  ·  ".join(p for p in (s.now, s.last) if p))
        return f"{s.stage:<10} {bar}{count}{left}\n  {self._dim}{below}{self._plain}"

    def _write(self, lasting: str = "", moving: str = "") -> None:
        """Replace the moving lines in one write. The terminal cuts them at its width; it wraps a lasting line."""
        if moving:
            moving = f"{_CUT}{moving}{_WRAP}{_BACK}"
        self._stream.write(f"{_CLEAR}{lasting}{moving}")
        self._stream.flush()

    def update(self) -> None:
        self._write(moving=self._lines())

    def note(self, line: str) -> None:
        self._write(f"{printable(as_typed(line))}\n", self._lines())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._write()


def display(stream: TextIO | None = None) -> Progress:
    """Return a moving display on a terminal, plain lines elsewhere, for TERM=dumb and in CI. NO_COLOR is respected.

    With --quiet, the display is silent.
    """
    if call().quiet:
        return Progress()
    stream = stream or sys.stderr
    if stream.isatty() and os.environ.get("TERM", "dumb") != "dumb" and not os.environ.get("CI"):
        return Moving(stream, colour=not os.environ.get("NO_COLOR"))
    return Plain(stream)
