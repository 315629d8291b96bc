"""Sensors of Linux's hwmon: energy counters of AMD's sockets, power of a node by ACPI, of processors by their drivers.

Only drivers whose sensors are known to be a whole node or its processors are used. A node has many other power sensors:
graphics cards, drives, network interfaces.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from firstlight.core.units import count
from firstlight.system.energy import MOST_COUNTERS, Counter, Denied, Meter, Source
from firstlight.system.energy.files import FileGauge, forbidden, number, word

PLACE = 30
MICRO = 1e-6
COUNTING = {"amd_energy": "Esocket"}
"""Drivers with energy counters, and how the labels of those of whole sockets begin: others are parts of them."""
COUNTED_EVERY = 1e-3
POWER = {"power_meter": "the whole node", "ibmpowernv": "the whole node", "fam15h_power": "the processors",
         "apm_xgene": "the processors"}  # fmt: skip
"""Drivers with power sensors, and what these cover."""
WHOLE = ("Module Power", "Grace Power", "System")
"""How the label of a sensor begins that contains the others of its driver (NVIDIA's Grace, IBM's OCC)."""
LONGEST = 3600.0
"""Seconds: a longer interval is damaged text, and no launch is as long."""
USUAL = 1.0
"""Seconds between two updates of a sensor that does not report its own interval."""


def find(root: Path, command: str = "", interval: float = 1.0) -> Source | Denied | None:
    """Return the counters, otherwise the gauges of all known drivers of one kind."""
    folders = [(word(folder / "name"), folder) for folder in sorted((root / "sys/class/hwmon").glob("hwmon*"))]
    return _counters(folders) or _gauges(folders)


def _counters(folders: list[tuple[str, Path]]) -> Source | Denied | None:
    files = [
        file
        for name, folder in folders
        if name in COUNTING
        for file in sorted(folder.glob("energy*_input"))
        if word(_label(file)).startswith(COUNTING[name])
    ][:MOST_COUNTERS]
    if any(map(forbidden, files)):
        return _denied(files)
    files = [file for file in files if number(file) is not None]
    if not files:
        return None
    counters = tuple(Counter(word(_label(file)), MICRO) for file in files)
    meter = Meter("hwmon", count(len(files), "processor socket"), COUNTED_EVERY, counters, "processors")
    return Source(meter, tuple(files))


def _gauges(folders: list[tuple[str, Path]]) -> Source | Denied | None:
    for driver, covers in POWER.items():
        files = [file for name, folder in folders if name == driver for file in _power(folder)]
        if any(map(forbidden, files)):
            return _denied(files)
        files = _whole([file for file in files if number(file) is not None])
        if files:
            update = max(map(_interval, files))
            part: Literal["node", "processors"] = "processors" if covers == "the processors" else "node"
            return Source(Meter("hwmon", covers, update, part=part), gauge=FileGauge(tuple(files), MICRO, update))
    return None


def _power(folder: Path) -> list[Path]:
    """Return one file per sensor: its average if there is one, otherwise its present value."""
    averages = sorted(folder.glob("power*_average"))
    known = {file.name.partition("_")[0] for file in averages}
    return averages + [f for f in sorted(folder.glob("power*_input")) if f.name.partition("_")[0] not in known]


def _whole(files: list[Path]) -> list[Path]:
    """Return the sensors that contain all others, if some do."""
    for beginning in WHOLE:
        if some := [file for file in files if word(_label(file)).startswith(beginning)]:
            return some
    return files


def _label(file: Path) -> Path:
    """Return the file with the label of a sensor; ACPI calls it `oem_info`."""
    sensor = file.name.partition("_")[0]
    label = file.with_name(f"{sensor}_label")
    return label if label.exists() else file.with_name(f"{sensor}_oem_info")


def _interval(file: Path) -> float:
    milliseconds = number(file.with_name(f"{file.name.partition('_')[0]}_average_interval"))
    return min(milliseconds / 1000, LONGEST) if milliseconds else USUAL


def _denied(files: list[Path]) -> Denied:
    return Denied("power sensors", "only root has access", f"sudo chmod a+r {' '.join(map(str, files))}")
