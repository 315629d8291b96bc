"""The battery of a laptop: the power of all of it, with its display, while it discharges."""

from __future__ import annotations

from pathlib import Path

from firstlight.system.energy import Denied, Meter, Source
from firstlight.system.energy.files import FileGauge, number, word

PLACE = 60
UPDATE = 4.0
"""Seconds: smart batteries measure once or a few times in that time (Smart Battery Data Specification 1.1)."""
MICRO = 1e-6


def find(root: Path, command: str = "", interval: float = 1.0) -> Source | Denied | None:
    """Return the discharging batteries that report their power; while they charge, they measure something else."""
    folders = [
        folder
        for folder in sorted((root / "sys/class/power_supply").glob("*"))
        if word(folder / "type") == "Battery" and word(folder / "scope") != "Device"
    ]
    files = tuple(folder / "power_now" for folder in folders if number(folder / "power_now") is not None)
    if not files:
        return None
    if any(word(file.with_name("status")) != "Discharging" for file in files):
        return Denied("battery", "the battery reports power only while it discharges", "unplug the charger")
    return Source(Meter("battery", "the whole laptop", UPDATE), gauge=FileGauge(files, MICRO, UPDATE))
