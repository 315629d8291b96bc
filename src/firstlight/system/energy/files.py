"""The files of counters and gauges: read with a bound, with the reason if they cannot be read."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

from firstlight.system.energy import Reading, waited
from firstlight.system.machine.files import read

MOST_NAME = 64
_LEADING = re.compile(r"\s*(\d{1,18})(?!\d)")


def number(path: Path) -> int | None:
    """Return the whole number that the file begins with; None if there is none or it cannot be read."""
    found = _LEADING.match(read(path) or "")
    return int(found[1]) if found else None


def word(path: Path) -> str:
    """Return the first line of a small file, at most MOST_NAME printable characters, "" if it does not exist."""
    line = (read(path) or "").strip().partition("\n")[0].strip()
    return "".join(c for c in line[:MOST_NAME] if c.isprintable())


def forbidden(path: Path) -> bool:
    """Return whether the file exists and this user may not read it."""
    return path.exists() and not os.access(path, os.R_OK)


class FileGauge:
    """A gauge whose power is the sum of some files in units of `watts`, read every `update` seconds."""

    def __init__(self, files: tuple[Path, ...], watts: float, update: float) -> None:
        self._files, self._watts, self._update = files, watts, update

    def readings(self, stop: int, deadline: float | None = None) -> Iterator[Reading]:
        """Yield the power, the last time at the end. It ends when a file has no number any more."""
        over = False
        while (power := self._power()) is not None:
            now = time.monotonic()
            yield Reading(now, power)
            if over or (deadline is not None and now >= deadline):
                return
            over = waited(stop, now + self._update)

    def _power(self) -> float | None:
        found = [number(path) for path in self._files]
        return None if None in found else self._watts * sum(value for value in found if value is not None)
