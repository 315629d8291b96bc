"""Measure the seconds that a run with many figures needs, from its plan to its page. This is a script, not a test:

    python tests/benchmarks/bench_scale.py FOLDER [FIGURES]

The run is invented once in FOLDER: the full suite on a machine of 1,792 threads with enough compilers
for that many figures (100,000), three launches per cell. Each command is timed in its own process, as users run it.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))

import invented
import invented_run
import many_runs
import synthetic
import synthetic_machine
from firstlight import ROOT
from firstlight.model.plan import plan
from firstlight.results.record import LaunchRecord
from firstlight.system.machine import Machine
from firstlight.toolchain import Toolbox

NAME, LAUNCHES = "large", 3
NAMES = tuple(name for name in invented_run.WORKLOADS if name in invented_run.metrics())


def tools(versions: int) -> Toolbox:
    """Return the two compilers of `synthetic_machine`, and this many other versions of each."""
    few = synthetic_machine.toolbox()
    other = (
        replace(t, name=f"{t.compiler}-{20 + k}-{t.flag_set}", compiler=f"{t.compiler}-{20 + k}")
        for t in few.toolchains
        for k in range(versions)
    )
    return replace(few, toolchains=(*few.toolchains, *other))


def large(folder: Path, figures: int) -> Path:
    """Invent a sealed run of about this many figures, one launch at a time."""
    versions, scene = 0, None
    machine = invented.machine(folder, "wide")
    while scene is None or _counted(scene) < figures:
        scene = invented_run.run(machine, "full", launches=0, names=NAMES, toolbox=tools(versions))
        versions += 1
    cells = scene.run.cells
    run = replace(scene.run, launches=LAUNCHES, finished=scene.run.started + LAUNCHES * len(cells))
    return many_runs.write(scene._replace(run=run), folder, NAME, synthetic.STARTED, _records(scene, machine))


def _counted(scene: synthetic.Scene) -> int:
    metrics = invented_run.metrics()
    return sum(cell.cases * len(metrics[cell.program.workload]) for cell in scene.run.cells)


def _records(scene: synthetic.Scene, on: Machine) -> Iterator[LaunchRecord]:
    rng = random.Random(1)
    for number in range(LAUNCHES):
        for cell in scene.run.cells:
            yield invented_run.record(cell, number, rng, on)


def timed(what: str, call: Callable[[], Any]) -> None:
    began = time.monotonic()
    call()
    print(f"{what}: {time.monotonic() - began:.2f} s", flush=True)


def command(*words: str) -> None:
    """Run one command of ./fl and return its peak memory."""
    began = time.monotonic()
    child = subprocess.Popen([sys.executable, "-m", "firstlight", *words], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    line = f"{time.monotonic() - began:.2f} s, {usage.ru_maxrss >> 10} MiB, status {os.waitstatus_to_exitcode(status)}"
    print(f"{' '.join(word for word in words if '/' not in word)}: {line}", flush=True)


def main(folder: str, figures: str = "100000") -> None:
    place = Path(folder).absolute()
    if not (place / NAME).exists():
        place.mkdir(parents=True, exist_ok=True)
        timed("invented", lambda: large(place, int(figures)))
    run = place / NAME
    files = list((run / "launches").iterdir())
    size = sum(file.stat().st_size for file in files)
    print(f"{len(files)} launches, {size >> 20} MiB; run.json {(run / 'run.json').stat().st_size / 1e6:.1f} MB")
    versions = 9
    machine = invented.machine(place, "wide")
    timed("planned", lambda: plan("full", invented_run.WORKLOADS, NAMES, tools(versions), machine))
    os.chdir(ROOT)
    os.environ["PYTHONPATH"] = str(ROOT / "src")
    for _ in range(2):
        command("figures", str(run), "--json")
    command("report", str(run), "--output", str(place / "page.html"))
    print(f"page: {(place / 'page.html').stat().st_size / 1e6:.1f} MB")
    command("check", str(run))
    print(f"this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")


if __name__ == "__main__":
    main(*sys.argv[1:])
