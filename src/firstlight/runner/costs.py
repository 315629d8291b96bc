"""Costs: the duration of a launch of a cell, from its own launches, those of similar cells, or its arguments."""

from __future__ import annotations

import math
from bisect import insort
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from filelock import FileLock

from firstlight.core import reading
from firstlight.model.catalogue import Workload, device_variant
from firstlight.model.plan import Cell
from firstlight.model.plan.arguments import Options
from firstlight.model.plan.runtime_estimate import START, launch_seconds
from firstlight.results.description import Description
from firstlight.results.record import Build
from firstlight.results.store import durable

FILE = "launches.json"
MOST = 20_000  # of what earlier runs measured is kept


class Costs:
    """The durations of launches in seconds. `earlier`: those that earlier runs measured, by `key`.

    Without `gpus`, programs for them refuse at once. `builds`: those of the run. Durations of an external command are
    those of the same program, because a user changes programs and keeps their names. `descriptions`: those that
    programs printed, with the options that a pattern matches.
    """

    def __init__(
        self,
        workloads: Mapping[str, Workload],
        earlier: Mapping[str, float] | None = None,
        gpus: bool = True,
        builds: Sequence[Build] = (),
        descriptions: Iterable[Description] = (),
    ) -> None:
        self._options: dict[str, Options] = {}
        for d in descriptions:
            self._options.setdefault(d.workload, d.options)
        self._hashes = {build.program: build.sha256 for build in builds}
        self._workloads, self._earlier, self._gpus = workloads, dict(earlier or {}), gpus
        self._seconds: dict[str, list[float]] = defaultdict(list)  # by cell
        self._like: dict[str, tuple[float, int]] = {}  # seconds and launches
        self._factors: dict[str, list[float]] = defaultdict(list)  # measured over estimated, by workload, in order
        self.measured: dict[str, float] = {}

    def take(self, cell: Cell, seconds: float) -> None:
        """Record that a launch of the cell lasted `seconds` in all."""
        mine = self._seconds[cell.id]
        mine.append(seconds)
        total, launches = self._like.get(_like(cell), (0.0, 0))
        self._like[_like(cell)] = total + seconds, launches + 1
        insort(self._factors[cell.program.workload], seconds / max(self._estimated(cell), 1e-3))
        self.measured[self._key(cell)] = sum(mine) / len(mine)

    def of(self, cell: Cell) -> float:
        """Return the expected seconds of the next launch of a cell."""
        if mine := self._seconds.get(cell.id):
            return sum(mine) / len(mine)
        if (known := self._earlier.get(self._key(cell))) is not None:
            return known
        if like := self._like.get(_like(cell)):
            return like[0] / like[1]
        factors = self._factors.get(cell.program.workload)
        return self._estimated(cell) * (_middle(factors) if factors else 1.0)

    def sure(self, cell: Cell) -> bool:
        """Return whether the expected seconds of a cell were measured, not estimated."""
        return cell.id in self._seconds or self._key(cell) in self._earlier

    def _key(self, cell: Cell) -> str:
        return key(cell, self._hashes.get(cell.program, ""))

    def _estimated(self, cell: Cell) -> float:
        workload = self._workloads.get(cell.program.workload)
        if workload is None:
            return 1.0
        if not self._gpus and device_variant(workload, cell.program.variant):
            return START
        return launch_seconds(cell, workload, self._options.get(workload.name, {}))


def _middle(factors: list[float]) -> float:
    """Return the median of a sorted list."""
    half = len(factors) // 2
    return factors[half] if len(factors) % 2 else (factors[half - 1] + factors[half]) / 2


def key(cell: Cell, sha256: str = "") -> str:
    """Return the name of the launches of a cell. `sha256`: of its program, if it is an external command."""
    p = cell.placement
    words = cell.arguments + ((*cell.external.command, sha256) if cell.external is not None else ())
    return f"{cell.program.key} {p.nodes}x{p.ranks}x{p.threads} {' '.join(words)}"


def _like(cell: Cell) -> str:
    """Return a key that is equal for the same launch of the same sources with any toolchain."""
    p = cell.placement
    mpi = "+mpi" if cell.program.mpi else ""
    return f"{cell.program.target}{mpi} {p.nodes}x{p.ranks}x{p.threads} {' '.join(cell.arguments)}"


def load(cache: Path) -> dict[str, float]:
    """Return the seconds per launch that earlier runs measured here; nothing if the cache cannot be read."""
    try:
        found = reading.json((cache / FILE).read_bytes(), dict[str, float])
    except (OSError, reading.MalformedError):
        return {}
    return {name: seconds for name, seconds in found.items() if math.isfinite(seconds) and seconds >= 0}


def keep(cache: Path, measured: Mapping[str, float]) -> None:
    """Store the measured seconds for the next run; do nothing if the cache cannot be written."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(cache / f"{FILE}.lock"):  # several runs may end simultaneously: each adds to the others' records
            together = load(cache)
            for name, seconds in measured.items():
                together.pop(name, None)
                together[name] = seconds  # the newest is last
            durable.replace(cache / FILE, msgspec.json.encode(dict(list(together.items())[-MOST:])))
    except OSError:
        return
