"""RAPL: the long-term power limit of this machine's packages, if the system reports it."""

from __future__ import annotations

from pathlib import Path

ROOT = Path("/sys/class/powercap")
_LONG = "long_term"


def package_watts(root: Path = ROOT) -> float | None:
    """Return the sum of the long-term limits of all packages, in watts; None if one cannot be read."""
    packages = [p for p in sorted(root.glob("*-rapl:*")) if p.name.count(":") == 1]
    found = [_limit(p) for p in packages]
    return sum(w for w in found if w) if found and all(found) else None


def _limit(package: Path) -> float | None:
    try:
        for name in sorted(package.glob("constraint_*_name")):
            if name.read_text().strip() == _LONG:
                microwatts = name.with_name(name.name.replace("_name", "_power_limit_uw")).read_text()
                return int(microwatts) / 1e6 or None
    except (OSError, ValueError):
        return None
    return None
