"""Compare the wall time of a job that is killed at random moments with the expected time by Daly's formula.

python tests/benchmarks/bench_checkpoint.py [FOLDER [SECONDS [MTBF [EDGE]]]]: 300 s, 30 s, 256³ cells of 8 bytes.

The job saves its state with native/checkpoint at Daly's interval and is killed after exponential times. The times of a
checkpoint and of a restart are measured: first to choose the interval, then in the run itself for the prediction, so
other programs on the machine slow both sides down. Ten failures have a scatter of 30 % in their number. So the times
between failures are stratified: of ten successive ones, each is from another tenth of the distribution.
"""

from __future__ import annotations

import math
import queue
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from firstlight import ROOT
from firstlight.analysis.checkpoints import Costs, daly, expected

STRATA = 10
SETTLING = 4
"""Checkpoints, and restarts, before the run: they choose the interval."""


class Times(NamedTuple):
    wall: float
    saves: list[float]
    restarts: list[float]
    kills: int
    wrong: int


def build(folder: Path) -> Path:
    program = folder / "checkpoint_job"
    includes = [f"-I{ROOT}/native/{name}/include" for name in ("harness", "grid", "checkpoint")]
    source = Path(__file__).with_name("checkpoint_job.cpp")
    words = ["g++", "-std=c++20", "-O2", "-pthread", "-Wno-psabi", *includes, str(source), "-o", str(program)]
    subprocess.run(words, check=True)
    return program


def between_failures(mtbf: float, drawn: random.Random) -> Iterator[float]:
    """Yield stratified exponential times with the mean `mtbf`."""
    while True:
        for k in drawn.sample(range(STRATA), STRATA):
            yield -mtbf * math.log(1 - (k + drawn.random()) / STRATA)


def run(words: list[str], failures: Iterator[float]) -> Times:
    """Run the job to its end: start it again after each failure."""
    began = time.monotonic()
    saves: list[float] = []
    restarts: list[float] = []
    kills = wrong = 0
    killed, strikes = None, began + next(failures)
    while True:
        job = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert job.stdout is not None
        lines: queue.SimpleQueue[tuple[float, str]] = queue.SimpleQueue()
        reader = threading.Thread(target=_read, args=(job, lines))
        reader.start()
        try:
            job.wait(max(0.0, strikes - time.monotonic()))
        except subprocess.TimeoutExpired:
            job.kill()
        ended = time.monotonic()
        reader.join()
        while not lines.empty():
            at, line = lines.get()
            what, *numbers = line.split()
            if what == "saved":
                saves.append(float(numbers[1]))
            elif what == "ready" and killed is not None:
                restarts.append(at - killed)
            wrong += what == "wrong"
        if job.wait() == 0:
            return Times(ended - began, saves, restarts, kills, wrong)
        if job.returncode > 0:
            raise RuntimeError(f"the job ended with status {job.returncode}")
        kills += 1
        killed, strikes = ended, ended + next(failures)


def _read(job: subprocess.Popen[str], lines: queue.SimpleQueue[tuple[float, str]]) -> None:
    assert job.stdout is not None
    for line in job.stdout:
        lines.put((time.monotonic(), line))


def main(place: str | None, seconds: float, mtbf: float, edge: int) -> int:
    with tempfile.TemporaryDirectory(dir=place) as scratch:
        folder = Path(scratch)
        program = str(build(folder))
        before = run([program, str(folder / "first"), str(edge), str(SETTLING), "0"], iter([math.inf]))
        began = time.monotonic()
        run([program, str(folder / "first"), str(edge), str(SETTLING), "0"], iter([math.inf]))
        costs = Costs(fmean(before.saves), time.monotonic() - began)
        interval = daly(costs.checkpoint, mtbf)
        segments = max(1, round(seconds / (interval * expected(interval, costs, mtbf))))
        print(f"interval {interval:.2f} s, {segments} intervals", flush=True)
        words = [program, str(folder / "state"), str(edge), str(segments), f"{interval:.6f}"]
        found = run(words, between_failures(mtbf, random.Random(7)))
    costs = Costs(fmean(found.saves), fmean(found.restarts or [costs.restart]))
    predicted = segments * interval * expected(interval, costs, mtbf)
    print(
        f"checkpoint {costs.checkpoint:.2f} s, restart {costs.restart:.2f} s, {found.kills} failures, "
        f"{found.wrong} wrong restarts\n"
        f"{found.wall:.1f} s instead of {predicted:.1f} s predicted ({100 * (found.wall / predicted - 1):+.1f} %)"
    )
    return 0 if found.wrong == 0 and abs(found.wall / predicted - 1) <= 0.1 else 1


if __name__ == "__main__":
    given = sys.argv[1:]
    folder, length, mean, cells = [*given, *["", "300", "30", "256"][len(given) :]]
    sys.exit(main(folder or None, float(length), float(mean), int(cells)))
