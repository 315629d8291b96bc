"""A virtual clock and invented launches for tests of rounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import msgspec

import synthetic
from firstlight.model.plan import Cell, Placement, Program
from firstlight.results.description import Description, Metric
from firstlight.results.record import Case, Check, Exit, Launch, LaunchRecord, Run, Sample, Start
from firstlight.runner.progress import State
from firstlight.runner.rounds import Rounds

RATE = Metric("rate", "Gflop/s", "flops", "rate", 1e-9, "higher")


class Notes:
    """Represent a display that records."""

    def __init__(self) -> None:
        self.state = State()
        self.notes: list[str] = []

    def update(self) -> None:
        pass

    def note(self, line: str) -> None:
        self.notes.append(line)

    def __enter__(self) -> Notes:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Bench:
    """Invented launches of the cells v0, v1, ... under a clock that only launches move."""

    def __init__(self, count: int, wall: Callable[[str, int], float], seconds: float = 1.0) -> None:
        self.now, self.seconds, self.wall = 0.0, seconds, wall
        self.cells = [Cell(f"c{k}", Program("w", f"v{k}", "gcc-base"), Placement(), ("n=1",)) for k in range(count)]
        self.seen: list[tuple[str, int]] = []
        self.bad: dict[str, str] = {}
        self.notes = Notes()

    def run(self, **changes: object) -> Run:
        described = Description("w", "", "", (), (RATE,), "", "the sum", "eps")
        base = synthetic.run().run
        changed = {
            "cells": tuple(self.cells),
            "descriptions": {c.program.target: described for c in self.cells},
            "launches": 6,
            "precision": 0.025,
            "seed": 1,
        }
        return msgspec.structs.replace(base, **(changed | changes))

    def launch(self, cell: Cell, number: int) -> LaunchRecord:
        k = sum(name == cell.id for name, _ in self.seen)
        self.seen.append((cell.id, number))
        self.now += self.seconds
        bad = self.bad.get(cell.id, "")
        wall = self.wall(cell.id, k)
        return LaunchRecord(
            start=Start("run", cell.id, k, number, self.now, (), 0.0),
            launch=Launch(1, "w", cell.program.variant, "", "", "", 1, 1, (), "", 1e-9),
            cases=() if bad == "refused" else (Case(0, {"n": 1}, 1, {"flops": 1e9}, 8, 1),),
            samples=(Sample(0, 0, wall, wall, wall, 1.0),),
            checks=(Check(0, "after", bad != "wrong", 0.0, 1.0, "the sum"),),
            counters=(),
            complete=True,
            exit=Exit(bad in ("", "wrong"), *ENDED[bad], self.seconds, 0.0, "", ""),
        )

    def rounds(self, budget: float, present: list[LaunchRecord] | None = None, **changes: object) -> Rounds:
        return Rounds(
            self.run(**changes), self.cells, self.launch, present or [], budget, self.notes, clock=lambda: self.now
        )

    def counts(self) -> list[int]:
        return sorted(Counter(name for name, _ in self.seen).values())


ENDED: dict[str, tuple[int, str]] = {
    "": (0, ""),
    "wrong": (1, ""),
    "lost": (0, "killed"),
    "refused": (2, "rejected its arguments (status 2): it needs pairs"),
}


def steady(_: str, k: int) -> float:
    return 1.0 + 0.001 * (k % 3)


def noisy(_: str, k: int) -> float:
    return 1.0 + k % 2


def priced(bench: Bench, prices: dict[str, float]) -> Callable[[Cell, int], LaunchRecord]:
    """Return launches that last 1 s, except those named."""

    def launch(cell: Cell, number: int) -> LaunchRecord:
        bench.seconds = prices.get(cell.id, 1.0)
        return bench.launch(cell, number)

    return launch
