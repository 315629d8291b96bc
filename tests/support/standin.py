"""Stand-ins for native programs: they speak the record protocol, and misbehave on request. Standard library only."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

__all__ = ["cpus", "daemon", "deaf", "hang", "line", "os", "output", "record", "signal", "subprocess", "sys", "time"]


def output() -> str:
    return sys.argv[sys.argv.index("--output") + 1]


def cpus() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def line(**members: object) -> None:
    """Append one line to the record, immediately."""
    with open(output(), "ab", buffering=0) as file:  # noqa: PTH123
        file.write(json.dumps(members).encode() + b"\n")


def record(ok: bool = True, samples: int = 3, end: bool = True) -> None:
    """Write a whole record of one case; exit with status 1 if `ok` is false."""
    bound = [{"rank": 0, "node": 0, "cpus": cpus()}]
    line(type="launch", protocol=1, workload="dot", variant="serial", compiler="gcc 12", flags="-O2", mpi="", ranks=1,
         nodes=1, binding=bound, counters="none here", clock=1e-9)  # fmt: skip
    cost = {"flops": 200.0, "bytes": 1600.0}
    line(type="case", case=0, parameters={"n": 100}, threads=1, cost=cost, working_set=1600.0, steps=1000)
    for index in range(samples):
        line(type="sample", case=0, sample=index, wall=2e-3, wall_min=2e-3, wall_median=2e-3, cpu=0.99)
    error = 1e-17 if ok else None
    line(type="check", case=0, when="after", ok=ok, error=error, tolerance=1e-16, what="relative error of the sum")
    if end:
        line(type="end", cases=1)
    if not ok:
        sys.exit(1)


def deaf() -> None:
    """Hear no polite signal."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def hang() -> None:
    while True:
        time.sleep(60)


def daemon(body: str) -> None:
    """Leave a process behind that has left the session and whose parent is dead."""
    if os.fork():
        os.wait()
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    for descriptor in (1, 2):
        os.dup2(os.open("/dev/null", os.O_RDWR), descriptor)
    exec(body)
    os._exit(0)
