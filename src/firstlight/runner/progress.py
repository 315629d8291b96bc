"""Progress: what runs, how much is left, the last verified figure. It goes to stderr; results go to stdout."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, TextIO

import msgspec

from firstlight.core.shell import as_typed, printable
from firstlight.core.units import duration

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

EVERY = 5.0  # seconds between plain lines


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


class Progress(Protocol):
    """A display. `update` changes what is shown now; `note` leaves a line for good."""

    state: State

    def update(self) -> None: ...
    def note(self, line: str) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Plain:
    """Lines for logs and CI: one every EVERY seconds, at once where something new begins, and each note."""

    def __init__(self, stream: TextIO) -> None:
        self.state = State()
        self._stream = stream
        self._shown = ("", -EVERY)

    def update(self) -> None:
        before, when = self._shown
        now, kind = time.monotonic(), self.state.stage.partition(" ")[0]
        if kind != before or now - when >= EVERY:
            self._shown = (kind, now)
            self.note(self.state.line())

    def note(self, line: str) -> None:
        print(printable(as_typed(line)), file=self._stream, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class Moving:
    """Two lines that change in place on a terminal."""

    def __init__(self, stream: TextIO, colour: bool) -> None:
        from rich.console import Console
        from rich.live import Live

        self.state = State()
        console = Console(file=stream, no_color=not colour, highlight=False)
        self._live: Live = Live(console=console, refresh_per_second=4, transient=True, get_renderable=self._render)

    def _render(self) -> Text:
        from rich.text import Text

        s = self.state
        share = min(1.0, s.done / s.total) if s.total else 0.0
        bar = "█" * round(24 * share) + "░" * (24 - round(24 * share))
        left = f"  {duration(max(0, round(s.left)))} left" if s.left is not None else ""
        count = f"  {s.done}/{s.total}" if s.total else ""
        first = Text(f"{s.stage:<10} {bar}{count}{left}", no_wrap=True, overflow="ellipsis")
        below = printable("  ·  ".join(p for p in (s.now, s.last) if p))
        second = Text(f"\n  {below}", "dim", no_wrap=True, overflow="ellipsis")
        return first.append_text(second)

    def update(self) -> None:
        return None  # redrawn four times a second

    def note(self, line: str) -> None:
        from rich.text import Text

        self._live.console.print(Text(printable(as_typed(line))), soft_wrap=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()


def display(stream: TextIO | None = None) -> Progress:
    """Moving on a terminal that can, plain lines elsewhere. NO_COLOR is respected, and TERM=dumb."""
    stream = stream or sys.stderr
    if stream.isatty() and os.environ.get("TERM", "dumb") != "dumb" and not os.environ.get("CI"):
        return Moving(stream, colour=not os.environ.get("NO_COLOR"))
    return Plain(stream)
