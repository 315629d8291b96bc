"""An invented meter: a file that counts the energy of a known power, kept up to date by a thread with its own clock."""

from __future__ import annotations

import math
import os
import threading
import time
from pathlib import Path
from types import TracebackType

UPDATE = 1e-3
MEAN, SWING, PERIOD = 80.0, 40.0, 0.3
MOST = MEAN + SWING
RANGE = 2_000_000_000
"""The counter begins at 0 again after 2 kJ; a launch must be shorter than that, also on a busy machine."""
FIRST = RANGE - 120_000_000
"""The first value: the counter begins at 0 again about 1.5 s later, while the first program computes."""
DIGITS = 12


def used(since: float, until: float) -> float:
    """Return the joules between two times: the integral of MEAN + SWING sin(2 pi t / PERIOD)."""
    w = 2 * math.pi / PERIOD
    return MEAN * (until - since) + SWING / w * (math.cos(w * since) - math.cos(w * until))


class InventedMeter:
    """Represent the counter while it is a context: `file` has microjoules. `written` lists each update: its time and
    its value.

    A reader sees an old value or a new one, never a mixture: each update is one write of equal length.
    """

    def __init__(self, folder: Path) -> None:
        self.file = folder / "energy_uj"
        self.began = 0.0
        self.written: list[tuple[float, int]] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._count)

    def __enter__(self) -> InventedMeter:
        self._thread.start()
        while len(self.written) < 2:
            time.sleep(UPDATE)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _count(self) -> None:
        self.began = time.monotonic()
        descriptor = os.open(self.file, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            while not self._over.is_set():
                now = time.monotonic()
                value = (FIRST + round(1e6 * used(0.0, now - self.began))) % RANGE
                os.pwrite(descriptor, f"{value:0{DIGITS}d}\n".encode(), 0)
                self.written.append((now, value))
                time.sleep(UPDATE)
        finally:
            os.close(descriptor)

    def late(self, time: float) -> float:
        """Return by how much the value at a time was older than one update."""
        last = max(t for t, _ in self.written if t <= time)
        return max(0.0, time - last - UPDATE)
