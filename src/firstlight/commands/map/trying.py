"""Trying: launch the user's command with and without the map, interleaved, and compare the times."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from firstlight.analysis.compare import CONFIDENCE, EQUIVALENCE, outcome_of
from firstlight.analysis.interval import ratio
from firstlight.commands.map.answer import Trial
from firstlight.commands.map.slots import Slot
from firstlight.core import caller
from firstlight.core.errors import UsageError
from firstlight.system.mpi_families import of
from firstlight.system.process import bounded
from firstlight.toolchain import Mpi

OnLaunch = Callable[[int, int], None]
"""Function that is called with (launches done, launches in total)."""


def mapped(command: Sequence[str], mpi: Mpi, file: Path | None, slots: Sequence[Slot]) -> list[str]:
    """Return the command with options that make its launcher follow the map. Raises UsageError if there are none."""
    family = of(mpi.family)
    names = [name for launcher in family.launchers for name in (launcher, f"{launcher}.{family.name}")]
    place = next((k for k, word in enumerate(command) if Path(word).name in names), None)
    if place is None:
        raise UsageError(
            f"--try requires a command that uses the launcher of {mpi.label}, such as mpiexec -n 4 ./program"
        )
    cpus = [s.cpu for s in slots if s.cpu is not None] if len({s.node for s in slots}) == 1 else []
    if file is None and not cpus:
        raise UsageError(f"{mpi.label} cannot read any of the map's files")
    words = family.mapped(str(file) if file is not None else "", cpus)
    return [*command[: place + 1], *words, *command[place + 1 :]]


def trial(
    command: Sequence[str], with_map: Sequence[str], mpi: Mpi, launches: int, on_launch: OnLaunch = lambda n, m: None
) -> Trial:
    """Measure `launches` of each side, in an order that alternates between pairs, after one warm-up launch of each.

    Raises UsageError if a launch fails, with the first line that it printed to stderr.
    """
    environment = {**caller.original(os.environ), **mpi.environment}
    times: dict[bool, list[float]] = {False: [], True: []}
    total = 2 * launches + 2
    for k in range(total):
        side = (k % 4) in (1, 2)
        seconds = _once(with_map if side else command, environment)
        if k >= 2:
            times[side].append(seconds)
        on_launch(k + 1, total)
    a, b = times[False], times[True]
    found = ratio(a, b, CONFIDENCE)
    shown = median(b) / median(a)
    outcome = outcome_of(found, shown, ratio(a, b, EQUIVALENCE), "lower", drift=0.0)
    return Trial(tuple(command), tuple(a), tuple(b), shown, found.low, found.high, outcome)


def _once(words: Sequence[str], environment: dict[str, str]) -> float:
    begin = time.perf_counter()
    try:
        done = bounded.run(words, timeout=None, environment=environment)
    except OSError as error:
        raise UsageError(f"cannot start {words[0]}: {error.strerror}") from error
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip(" -\t")]
        last = lines[0] if lines else "no message"
        raise UsageError(f"{' '.join(words[:6])} ... ended with status {done.returncode}: {last}")
    return seconds
