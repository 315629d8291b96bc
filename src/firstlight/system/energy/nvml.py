"""NVIDIA's GPUs: power from NVML, the library of the driver, which every user may call.

GPUs from Volta on count their energy since the driver was loaded. The power is the difference of two readings of these
counters over their times, so no change between the readings is lost. Older GPUs report only their present power.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterator
from pathlib import Path

from firstlight.core.units import count
from firstlight.system.energy import Denied, Meter, Reading, Source, waited

PLACE = 40
UPDATE = 0.1
"""Seconds: GPUs update their power every 20 to 100 ms (Yang, Adamek, Armour, Part-time power measurements, SC 2024)."""
LIBRARY = "libnvidia-ml.so.1"
DRIVER = "dev/nvidiactl"
MOST_GPUS = 64
MILLI = 1e-3


class NvmlError(Exception):
    """A function of NVML returned an error."""


class Gpus:
    """The GPUs that NVML lists. Raises OSError without the library, NvmlError if it finds no GPU that reports power."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(LIBRARY)
        self._call("nvmlInit_v2")
        number = ctypes.c_uint()
        self._call("nvmlDeviceGetCount_v2", ctypes.byref(number))
        if not 1 <= number.value <= MOST_GPUS:
            raise NvmlError(f"NVML lists {number.value} GPUs")
        self._gpus = [ctypes.c_void_p() for _ in range(number.value)]
        for k, gpu in enumerate(self._gpus):
            self._call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(k), ctypes.byref(gpu))
        try:
            self.joules()
            self.counts = True
        except NvmlError:
            self.watts()
            self.counts = False

    def __len__(self) -> int:
        return len(self._gpus)

    def joules(self) -> float:
        """Return the energy of all GPUs since the driver was loaded."""
        return self._sum("nvmlDeviceGetTotalEnergyConsumption", ctypes.c_ulonglong())

    def watts(self) -> float:
        """Return the present power of all GPUs."""
        return self._sum("nvmlDeviceGetPowerUsage", ctypes.c_uint())

    def _sum(self, function: str, value: ctypes.c_uint | ctypes.c_ulonglong) -> float:
        total = 0
        for gpu in self._gpus:
            self._call(function, gpu, ctypes.byref(value))
            total += value.value
        return MILLI * total

    def _call(self, function: str, *arguments: object) -> None:
        try:
            status = getattr(self._library, function)(*arguments)
        except AttributeError:
            raise NvmlError(f"{LIBRARY} has no {function}") from None
        if status != 0:
            raise NvmlError(f"{function} returns {status}")


class NvmlGauge:
    """The power of all GPUs, every `update` seconds. It ends when a GPU reports none any more."""

    def __init__(self, gpus: Gpus, update: float = UPDATE) -> None:
        self._gpus, self._update = gpus, update

    def readings(self, stop: int, deadline: float | None = None) -> Iterator[Reading]:
        """Yield the power, the last time at the end."""
        try:
            yield from self._mean(stop, deadline) if self._gpus.counts else self._present(stop, deadline)
        except NvmlError:
            return

    def _present(self, stop: int, deadline: float | None) -> Iterator[Reading]:
        over = False
        while True:
            yield Reading(now := time.monotonic(), self._gpus.watts())
            if over or (deadline is not None and now >= deadline):
                return
            over = waited(stop, now + self._update)

    def _mean(self, stop: int, deadline: float | None) -> Iterator[Reading]:
        """Yield the mean power since the reading before, at the middle of the time between them.

        A last interval of less than half an update has no reading: a counter may not have changed in it.
        """
        began, before = time.monotonic(), self._gpus.joules()
        over = False
        while not over:
            over = waited(stop, began + self._update)
            now, joules = time.monotonic(), self._gpus.joules()
            if joules < before or now - began < self._update / 2:
                return
            yield Reading((began + now) / 2, (joules - before) / (now - began))
            over = over or (deadline is not None and now >= deadline)
            began, before = now, joules


def find(root: Path, command: str = "", interval: float = 1.0) -> Source | Denied | None:
    """Return the gauge, if NVIDIA's driver is here and its library reports power."""
    if not (root / DRIVER).exists():
        return None
    try:
        gpus = Gpus()
    except (OSError, NvmlError) as error:
        return Denied("power of the GPUs", str(error), f"install the driver's library {LIBRARY}, or repair it")
    return Source(Meter("NVML", count(len(gpus), "GPU"), UPDATE, part="devices"), gauge=NvmlGauge(gpus))
