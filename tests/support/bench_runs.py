"""Runs of programs that are not firstlight's: as a user types them, and invented."""

from __future__ import annotations

import json
import random
from pathlib import Path

from msgspec.structs import replace

import synthetic
from commands import Captured, call
from firstlight.analysis import Judgement
from firstlight.analysis.interval import estimate
from firstlight.analysis.verdict import Identity, Verified
from firstlight.core.roles import EXECUTION, EXECUTION_CPU, Role
from firstlight.model.catalogue import Row
from firstlight.model.catalogue.brought import Brought
from firstlight.model.plan import Placement


def run(capsys: Captured, *words: str) -> tuple[int, list[dict[str, object]], str]:
    """Return the status, the figures and the messages of a run of few launches."""
    name = f"r{len(list(Path.cwd().glob('results/r*'))) or ''}"
    code, _, err = call(capsys, "bench", "--launches", "2", "--as", name, *words)
    _, out, _ = call(capsys, "figures", name, "--json")
    return code, json.loads(out), err


def figure(level: float, launches: int = 12, noise: float = 0.003, better: str = "lower") -> Verified:
    rng = random.Random(f"{level} {launches}")
    values = [level * rng.gauss(1, noise) for _ in range(launches)]
    times = [0.01 * k for k in range(launches)]
    identity = Identity("bench", "a", "as-it-is", None, Placement(), (), "time")
    found = Verified(identity, "s", "lower", estimate(values), 0.0, {"executions": 1.0}, None, 0.0)
    return replace(found, better=better, estimate=replace(found.estimate, times=tuple(times)))


def with_times(wall: float, cpu: float, diverged: float, wall_ratio: float = 2.0, cpu_ratio: float = 2.0) -> Judgement:
    """Return a run of two commands, `a` with these times, and `b` with these ratios to `a`.

    `diverged`: the share of the samples of `a` in which wall and CPU time diverged.
    """
    roles = (Role(EXECUTION, "time"), Role(EXECUTION_CPU, "cpu_time"))
    rows = (Row("t", "time", "", choose="variant", headline=True),)
    brought = Brought("bench", "t", "?", {"a": "./a", "b": "./b"}, rows=rows, roles=roles)
    found = []
    for variant, ratios in (("a", (1.0, 1.0)), ("b", (wall_ratio, cpu_ratio))):
        for metric, level, times in zip(("time", "cpu_time"), (wall, cpu), ratios, strict=True):
            f = figure(times * level)
            f = replace(f, identity=replace(f.identity, variant=variant, metric=metric))
            found.append(replace(f, diverged=diverged if variant == "a" else 0.0))
    base = synthetic.judgement(1, 2, only=("latency",))
    return replace(base, run=replace(base.run, brought=(brought,)), figures=tuple(found))
