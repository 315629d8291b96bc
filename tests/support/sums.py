"""Invent runs of vector_sum with ping-pong and STREAM; the time of a route is that of the models, times factors."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

import shipped
import synthetic
import synthetic_machine
from firstlight.analysis import Judgement
from firstlight.analysis.figures import judge
from firstlight.model.plan import Cell, Placement, Program
from firstlight.results.description import Description, Metric, Parameter
from firstlight.results.record import Build
from synthetic import Scene
from synthetic_figures import Point

LENGTHS = (16, 1024, 65536, 1 << 20)
VARIANTS = ("mpi_allreduce", "mpi_cube", "mpi_rabenseifner")
METRICS = (
    Metric("rate", "Mbit/s", "flow", "rate", 8 / 2**20, "higher"),
    Metric("time", "us", "operations", "time", 1e6, "lower"),
)
LINK = {"openmpi": (0.45e-6, 9.8e9), "mpich": (0.31e-6, 6.1e9)}  # as synthetic's ping-pong has it
ADDING = 5e9  # bytes of result per second

Factor = Mapping[tuple[str, str], float]  # (MPI, variant): how many times longer than its model


def seconds(mpi: str, variant: str, p: int, m: float) -> float:
    """Return the seconds of the models in closed form, with one regime of messages."""
    (alpha, rate), d = LINK[mpi], math.log2(p)
    if variant == "mpi_cube":
        return d * (alpha + m / rate + m / ADDING)
    return 2 * d * alpha + (p - 1) / p * (2 * m / rate + m / ADDING)


def points(program: Program, p: int, factor: float) -> list[Point]:
    found = []
    for n in LENGTHS:
        m = 8.0 * n
        cost = {"flow": 2 * math.log2(p) * m, "operations": 1.0, "bytes": 2 * m * p, "flops": (p - 1.0) * n}
        time = factor * seconds(program.mpi or "", program.variant, p, m)
        found.append(Point({"n": n}, 1, cost, 3 * m, time))
    return found


def scene(
    launches: int = 8,
    *,
    ranks: int = 2,
    factors: Factor | None = None,
    beside: Iterable[str] = ("pingpong", "stream"),
    variants: Iterable[str] = VARIANTS,
    mpis: Iterable[str] = synthetic_machine.MPIS,
    large_only: Factor | None = None,
) -> Scene:
    """Return a run on a machine with four CPUs. `large_only`: factors for vectors of 512 KiB and more."""
    here = synthetic_machine.machine(cpus=(0, 1, 2, 3), cores=4)
    base = synthetic.run(1, launches, only=beside, on=here, failed_build=False)
    rng, cells, records, clock = random.Random(7), [], [], synthetic.STARTED
    for mpi in mpis:
        for variant in variants:
            program = Program("vector_sum", variant, "gcc-native", mpi)
            words = ("n=" + ",".join(map(str, LENGTHS)),)
            cell = Cell(f"vector_sum.{variant}-{mpi}", program, Placement(ranks=ranks), words)
            cells.append(cell)
            some = points(program, ranks, (factors or {}).get((mpi, variant), 1.0))
            slow = (large_only or {}).get((mpi, variant), 1.0)
            some = [p._replace(seconds=p.seconds * (slow if p.working_set >= 3 * 2**19 else 1.0)) for p in some]
            for number in range(launches):
                records.append(synthetic.launch(cell, number, rng, time=clock, points=some))
                clock += 0.5
    described = {
        f"vector_sum.{v}": Description("vector_sum", v, "Global vector sum", (Parameter("n", "elements", "1", "len"),),
                                       METRICS, "2 d L", "every word", "exact")
        for v in variants
    }  # fmt: skip
    run = replace(
        base.run,
        cells=(*base.run.cells, *cells),
        builds=(*base.run.builds, *(Build(c.program, True, 1.0, "0" * 64) for c in cells)),
        descriptions=base.run.descriptions | described,
    )
    workload = shipped.workloads()["vector_sum"]
    return Scene(run, (*base.records, *records), base.workloads | {"vector_sum": workload})


def judgement(**options: object) -> Judgement:
    return judge(*scene(**options))  # type: ignore[arg-type]
