"""Invented meters of energy: trees of counters, and runs whose launches read the counters of two sockets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec.structs import replace

from firstlight.results.record import Case, LaunchRecord, Span
from firstlight.system.energy import Counter, Energy, Meter
from synthetic import Scene

RANGE = 262_143_328_850
"""max_energy_range_uj of an Intel server."""
TWO = Meter(
    "powercap", "2 processor packages", 1e-3, (Counter("package-0", 1e-6, RANGE), Counter("package-1", 1e-6, RANGE))
)

SERVER = {
    "intel-rapl:0": ("package-0", 5_000_000),
    "intel-rapl:0:0": ("dram", 1_000_000),
    "intel-rapl:1": ("package-1", 7_000_000),
    "intel-rapl:1:0": ("dram", 2_000_000),
    "intel-rapl-mmio:0": ("package-0", 5_000_000),
}
"""The zones of an Intel server with two sockets, their names and counters."""
DESKTOP = {
    "intel-rapl:0": ("package-0", 5_000_000),
    "intel-rapl:0:0": ("core", 4_000_000),
    "intel-rapl:0:1": ("uncore", 100_000),
    "intel-rapl:1": ("psys", 9_000_000),
}
"""The zones of a desktop: parts of the package, and the platform around it."""


def write(root: Path, files: Mapping[str, object]) -> Path:
    """Write a file for each path, and return the root."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{content}\n")
    return root


def powercap(root: Path, zones: Mapping[str, tuple[str, int]]) -> Path:
    """Write a tree of zones as Linux shows them."""
    for zone, (name, count) in zones.items():
        base = f"sys/class/powercap/{zone}"
        write(root, {f"{base}/name": name, f"{base}/energy_uj": count, f"{base}/max_energy_range_uj": RANGE})
    return root


def metered(scene: Scene, watts: Callable[[LaunchRecord, Case], float], idle: float = 40.0) -> Scene:
    """Return the run as a machine with two sockets would have recorded it, each with half of the power of a case."""
    records = tuple(replace(r, spans=tuple(_span(r, case, watts(r, case)) for case in r.cases)) for r in scene.records)
    return scene._replace(run=replace(scene.run, energy=Energy(TWO, idle)), records=records)


def _span(record: LaunchRecord, case: Case, watts: float) -> Span:
    wall = sum(s.wall for s in record.samples if s.case == case.case)
    began, half = 10.0 * case.case, round(watts * wall / 2 / 1e-6)
    before = RANGE - half // 2  # each counter begins at 0 again in the middle
    return Span(case.case, began, began + wall, wall, ((before, 5),), ((before + half - RANGE, 5 + half),))
