"""A gauge whose power a command prints: one reading and its end, or reading after reading, each in a line."""

from __future__ import annotations

import os
import re
import select
import subprocess
import time
from collections.abc import Iterator, Sequence

from firstlight.system.energy import Reading, waited
from firstlight.system.process import guard, tree

WATTS = re.compile(r"\s*(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)\s*W?\s*")
MOST_WATTS = 1e9
MOST_LINE = 1 << 16
"""Bytes of a line; a longer one ends the readings."""
GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL for a command that goes on."""


class PrintedGauge:
    """A gauge that starts its command again `interval` seconds after the last start, if the command has ended.

    `pattern` finds the watts in a line; without it the line is a number, with or without W.
    """

    def __init__(self, words: Sequence[str], interval: float, pattern: re.Pattern[str] = WATTS) -> None:
        self._words, self._interval, self._pattern = tuple(words), interval, pattern

    def readings(self, stop: int, deadline: float | None = None) -> Iterator[Reading]:
        """Yield what the command prints. Raises OSError if it cannot be started."""
        with guard.environment() as environment:
            while True:
                began = time.monotonic()
                yield from self._once(environment, stop, deadline)
                again = began + self._interval
                if waited(stop, again if deadline is None else min(again, deadline)):
                    return
                if deadline is not None and time.monotonic() >= deadline:
                    return

    def _once(self, environment: dict[str, str], stop: int, deadline: float | None) -> Iterator[Reading]:
        """Start the command and yield its readings until it ends, or until `stop` or the deadline ends it."""
        process = subprocess.Popen(
            self._words,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            bufsize=0,
        )
        root = tree.read(process.pid)
        assert process.stdout is not None
        try:
            with process.stdout as output:
                for line in _lines(output.fileno(), stop, deadline):
                    found = self._pattern.fullmatch(line) or self._pattern.search(line)
                    if found is not None and (watts := float(found[1])) <= MOST_WATTS:
                        yield Reading(time.monotonic(), watts)
        finally:
            if process.poll() is None:
                tree.end(None, root, GRACE)
            process.wait()


def _lines(output: int, stop: int, deadline: float | None) -> Iterator[str]:
    """Yield whole lines as they arrive, until the end of the output, `stop` or the deadline."""
    rest = b""
    while len(rest) <= MOST_LINE:
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        ready = select.select([output, stop], [], [], left)[0]
        if output not in ready:
            return
        if not (data := os.read(output, MOST_LINE)):
            return
        *whole, rest = (rest + data).split(b"\n")
        yield from (line.decode("utf-8", "replace") for line in whole)
