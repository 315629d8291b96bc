"""Invented runs for tests: dot, stream, peak, latency and pingpong on a small machine.

`run()` gives a `Scene`: the Run, its LaunchRecords and the Workloads, deterministic by seed; `judgement()` judges it.
Known oddities, for findings to discover:
dot.kahan is wrong under every *-fast toolchain; MPICH answers small messages first, Open MPI moves large ones 1.6 x
faster; about 3 % of the samples were disturbed; the frequency policy is "powersave"; one Fortran build failed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from firstlight.analysis import Judgement
from firstlight.model.catalogue import Workload
from firstlight.model.plan import Cell, Placement, Program
from firstlight.results.record import (
    SCHEMA,
    Binding,
    Build,
    Case,
    Check,
    Counters,
    Exit,
    Launch,
    LaunchRecord,
    Run,
    Sample,
    Start,
)
from firstlight.system.machine import Machine
from firstlight.toolchain import Absent
from synthetic_figures import TRUTH, Point
from synthetic_machine import machine, toolbox
from synthetic_workloads import VARIANTS, description, programs, workload

STARTED = 1_795_000_000.0


class Scene(NamedTuple):
    """Represent the input of `judge`: `judge(*scene)`."""

    run: Run
    records: tuple[LaunchRecord, ...]
    workloads: dict[str, Workload]


def launch(
    cell: Cell,
    number: int,
    rng: random.Random,
    *,
    time: float = STARTED,
    noise: float = 0.01,
    level: float = 0.0,
    factor: float = 1.0,
    samples: int = 5,
    disturbed: float = 0.03,
    points: Iterable[Point] | None = None,
) -> LaunchRecord:
    """Return one good launch. `noise`: sd of log wall between launches (half of it between samples).

    `level`: log drift; `factor` slows the launch down; `disturbed`: share of samples whose CPU time is low.
    """
    program = cell.program
    wrong = program.target == "dot.kahan" and program.toolchain.endswith("-fast")
    cases, lines, checks, counters = [], [], [], []
    shift = math.exp(rng.gauss(level, noise)) * factor
    for k, point in enumerate(points if points is not None else TRUTH[program.workload](program)):
        steps = max(1, round(0.01 / point.seconds))
        cases.append(Case(k, point.parameters, point.threads, point.cost, point.working_set, steps))
        checks.append(Check(k, "before", True, 0.0, 1e-15, "agrees with the oracle"))
        for s in range(samples):
            bad = rng.random() < disturbed
            wall = steps * point.seconds * shift * math.exp(rng.gauss(0, noise / 2)) * (1.6 if bad else 1.0)
            lines.append(Sample(k, s, wall, wall * 0.99, wall * 0.995, 0.62 if bad else 0.995))
        counters.append(Counters(k, steps))
        error = 2.5e-10 if wrong else 0.0
        what = "the sum of 1 + 1e7 x 1e-16: expected 1.000000001, found 1.00000000075" if wrong else "agrees"
        checks.append(Check(k, "after", not wrong, error, 1e-16, what))
    ranks = cell.placement.ranks
    return LaunchRecord(
        start=Start("synthetic", cell.id, number, number, time, ("./" + program.target, *cell.arguments), 0.2),
        launch=Launch(1, program.workload, program.variant, program.toolchain, "", program.mpi or "", ranks, 1,
                      tuple(Binding(r, (r,)) for r in range(ranks)), "not permitted", 1e-9),
        cases=tuple(cases),
        samples=tuple(lines),
        checks=tuple(checks),
        counters=tuple(counters),
        complete=True,
        exit=Exit(True, 1 if wrong else 0, "", 0.3, 0.3, "", "0" * 64),
    )  # fmt: skip


def lost(
    record: LaunchRecord, reason: str = "rank 1 hung: killed after 60 s", status: int | None = None
) -> LaunchRecord:
    """Return the same launch, ended badly halfway through its samples."""
    return msgspec.structs.replace(
        record,
        samples=record.samples[: len(record.samples) // 2],
        checks=record.checks[: len(record.checks) // 2],
        complete=False,
        exit=msgspec.structs.replace(record.exit, ok=False, status=status, reason=reason),
    )


def run(
    seed: int = 1,
    launches: int = 8,
    *,
    noise: float = 0.01,
    drift: float = 0.0,
    slower: dict[str, float] | None = None,
    only: Iterable[str] = tuple(TRUTH),
    failed_build: bool = True,
    on: Machine | None = None,
) -> Scene:
    """Return a complete run.

    `drift`: sd of an AR(1) log drift that all launches share; `slower`: factors on wall time by "workload" or
    "workload.variant"; `only`: these workloads.
    """
    rng = random.Random(seed)
    chosen = set(only)
    made = [p for p in programs() if p.workload in chosen]
    cells = [_cell(p) for p in made]
    builds = [Build(p, True, 1.5, "0" * 64) for p in made]
    if failed_build and "dot" in chosen:
        broken = Program("dot", "fortran_loop", "clang-native")
        builds.append(Build(broken, False, 0.2, error="fortran_loop.f90:12: error: module 'omp_lib' not found\n"))
    records, level, clock = [], rng.gauss(0, drift) if drift else 0.0, STARTED
    for number in range(launches):
        for cell in rng.sample(cells, len(cells)):
            level = 0.95 * level + rng.gauss(0, drift * math.sqrt(1 - 0.95**2)) if drift else 0.0
            slow = (slower or {}).get(cell.program.target, (slower or {}).get(cell.program.workload, 1.0))
            records.append(launch(cell, number, rng, time=clock, noise=noise, level=level, factor=slow))
            clock += 0.5
    it = Run(
        schema=SCHEMA,
        id="20261121-201400-quick",
        started=STARTED,
        finished=clock,
        state="complete",
        firstlight="0.1.0",
        revision="abc1234",
        command=("./fl", "run"),
        suite="quick",
        budget=150.0,
        launches=launches,
        precision=0.025,
        seed=seed,
        machine=on or machine(),
        toolbox=toolbox(),
        environment={"OMP_PROC_BIND": "close"},
        cells=tuple(cells),
        builds=tuple(builds),
        descriptions={f"{w}.{v}": description(w, v) for w in sorted(chosen) for v in VARIANTS[w]},
        not_available=(Absent("dot.blas_blis", "no BLIS library was found", "install BLIS with its C interface"),),
    )
    return Scene(it, tuple(records), {w: workload(w) for w in sorted(chosen)})


def judgement(seed: int = 1, launches: int = 8, **options: object) -> Judgement:
    """`run(...)`, judged."""
    from firstlight.analysis.figures import judge

    return judge(*run(seed, launches, **options))  # type: ignore[arg-type]


def _cell(program: Program) -> Cell:
    points = list(TRUTH[program.workload](program))
    names = list(points[0].parameters)
    values = {k: list(dict.fromkeys(str(p.parameters[k]) for p in points)) for k in names}
    threads = list(dict.fromkeys(str(p.threads) for p in points))
    arguments = [f"{k}={','.join(v)}" for k, v in values.items()]
    if threads != ["1"]:
        arguments += ["--threads", ",".join(threads)]
    ranks = 2 if program.workload == "pingpong" else 1
    name = program.key.replace("@", "-").replace("+", "-")
    return Cell(name, program, Placement(ranks=ranks, threads=max(map(int, threads))), tuple(arguments))
