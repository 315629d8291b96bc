"""RAPL by Linux's powercap: energy of the packages and of the memory; of the whole platform if that is all there is.

The counters are updated every millisecond (Intel's manual 325384, section 15.10.1; AMD's behave alike). Since 2020
only root has access, unless an administrator permits it (CVE-2020-8694).
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from firstlight.core.units import count
from firstlight.system.energy import MOST_COUNTERS, Counter, Denied, Meter, Source
from firstlight.system.energy.files import forbidden, number, word

PLACE = 20
UPDATE = 1e-3
JOULES = 1e-6


def find(root: Path, command: str = "", interval: float = 1.0) -> Source | Denied | None:
    """Return the zones below /sys/class/powercap, each once: `*-rapl-mmio` shows the same packages."""
    folder = root / "sys/class/powercap"
    zones = {zone: word(zone / "name") for zone in sorted(folder.glob("*-rapl:*"))}
    packages = [zone for zone, name in zones.items() if name.startswith("package")]
    memory = [zone for zone, name in zones.items() if name == "dram"]
    chosen = [*packages, *memory] or [zone for zone, name in zones.items() if name == "psys"]
    if not chosen:
        return None
    if any(forbidden(zone / "energy_uj") for zone in chosen):
        fix = f"sudo chmod a+r {folder}/*/energy_uj permits access until the next reboot"
        return Denied("energy counters of the processors", "only root has access", fix)
    good = [zone for zone in chosen if number(zone / "energy_uj") is not None][:MOST_COUNTERS]
    if not good:
        return None
    counters = tuple(Counter(_name(zone, zones), JOULES, number(zone / "max_energy_range_uj") or 0) for zone in good)
    part: Literal["node", "processors"] = "processors" if packages or memory else "node"
    meter = Meter("powercap", _covers(good, packages, memory), UPDATE, counters, part)
    return Source(meter, tuple(zone / "energy_uj" for zone in good))


def _name(zone: Path, zones: dict[Path, str]) -> str:
    """Return `package-0`, or `package-0 dram` for a zone within another."""
    outer = zones.get(zone.with_name(zone.name.rpartition(":")[0]), "")
    return f"{outer} {zones[zone]}".strip()


def _covers(good: list[Path], packages: list[Path], memory: list[Path]) -> str:
    some = sum(zone in packages for zone in good)
    parts = [count(some, "processor package")] if some else []
    parts += ["memory"] if any(zone in memory for zone in good) else []
    return " and ".join(parts) or "the whole platform"
