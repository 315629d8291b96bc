"""Invent a run of a finite-element solver, like the runs of `synthetic`: one core, threads, two MPI libraries.

An unknown costs `one_pass` 6 ns an iteration where the vectors do not fit the last cache and 3 ns where they do,
`serial` 1.5 times that. Multigrid is three times as fast as BPX, hypre takes as long as `one_pass`. Two cores of
Open MPI are 1.8 times as fast as one, of MPICH 1.5 times; four are as fast as two, for there are but two.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

from msgspec.structs import replace

import shipped
import synthetic
import synthetic_machine
import synthetic_workloads
from firstlight.model.catalogue import Bound, Plot, Provides, Sizes, Variant, Workload
from firstlight.model.plan import Cell, Placement, Program
from firstlight.results.description import Description, Metric, Parameter
from firstlight.results.record import Build
from synthetic_figures import Point

METRICS = (
    Metric("time_to_tolerance", "s", "operations", "time", 1, "lower"),
    Metric("time_per_unknown_iteration", "ns", "time_per_unknown_iteration", "value", 1e9, "lower"),
    Metric("iterations", "iterations", "iterations", "value", 1, "lower"),
    Metric("assembly", "s", "assembly", "value", 1, "lower"),
    Metric("communication_share", "%", "communication_share", "value", 100, "lower"),
)
PARAMETERS = (Parameter("level", "refinements", "5", "of the coarse mesh"),)
PLOT = Plot(
    "solver", "level", "time_to_tolerance", "variant", {"problem": "R", "digits": 6}, subject="time to tolerance"
)
SCALING = tuple(
    replace(PLOT, kind="scaling", subject=subject, variants=variants)
    for subject, variants in (
        ("BPX", ["one_pass", "serial", "assembled", "omp", "mpi", "mpi_assembled"]),
        ("multigrid", ["multigrid", "omp_multigrid", "mpi_multigrid"]),
    )
)
LEVELS = (4, 5, 6, 7)
SHARE = (0.02, 0.03, 0.05)
FACTOR = {"one_pass": 1.0, "serial": 1.5, "assembled": 2.0, "multigrid": 1 / 3, "peer_hypre": 1.0}
VARIANTS = (
    "one_pass", "serial", "assembled", "multigrid", "omp", "omp_multigrid", "mpi", "mpi_assembled", "mpi_multigrid",
    "peer_hypre",
)  # fmt: skip
FEW = ("one_pass", "multigrid")
PUBLISHED = ["one_pass", "serial", "assembled", "omp", "mpi", "mpi_assembled"]


def unknowns(level: int) -> int:
    return (16 * 2**level + 1) ** 2


def workload() -> Workload:
    base = synthetic_workloads.workload("pingpong")
    folder = shipped.folder("fem2d")
    variants = tuple(
        Variant(v, folder / f"{v}.cpp", ("mpi",) if v.startswith(("mpi", "peer")) else (), False) for v in VARIANTS
    )
    return replace(
        base, name="fem2d", folder=folder, title="Finite elements", rows=(), plots=(PLOT, *SCALING),
        bounded_by=(Bound("bytes", "bandwidth", {"problem": "R", "digits": 6}, PUBLISHED),),
        sizes=Sizes("level", 9000, growth=4), variants=variants,
        question="How fast is an elliptic problem solved?", chapter="applications",
    )  # fmt: skip


def seconds(program: Program, level: int, parties: int) -> float:
    """Return the true time of 44 iterations of BPX."""
    bare = program.variant.removeprefix("mpi_").removeprefix("omp_")
    factor = FACTOR.get(bare if bare not in ("mpi", "omp") else "one_pass", 1.0)
    pace = 6e-9 if 32 * unknowns(level) > 32 * synthetic_machine.MIB else 3e-9
    gain = 1.0 if parties == 1 else 1.5 if program.mpi == "mpich" else 1.8
    return factor * pace * 44 * unknowns(level) / gain


def cells(variants: Iterable[str], ranks: Iterable[int], mpis: Iterable[str]) -> list[Cell]:
    made = []
    for variant in variants:
        threads = variant.startswith("omp")
        parallel = variant.startswith(("mpi", "peer"))
        places = [Placement(1, r, 1) for r in ranks] if parallel else [Placement(1, 1, 2 if threads else 1)]
        for mpi in tuple(mpis) if parallel else (None,):
            for place in places:
                program = Program("fem2d", variant, "gcc-native", mpi)
                name = f"fem2d.{variant}.{mpi}.{place.ranks}x{place.threads}"
                made.append(Cell(name, program, place, ()))
    return made


def run(
    seed: int = 1,
    launches: int = 8,
    *,
    variants: Iterable[str] = VARIANTS,
    ranks: Iterable[int] = (1, 2),
    levels: Iterable[int] = LEVELS,
    mpis: Iterable[str] = synthetic_machine.MPIS,
    stream: bool = True,
    noise: float = 0.002,
) -> synthetic.Scene:
    """Return a complete run, with stream's triad of one core as the limit."""
    rng = random.Random(seed)
    base = synthetic.run(seed, launches, only=["stream"], failed_build=False, noise=noise)
    mine = cells(variants, ranks, mpis)
    records = list(base.records) if stream else []
    for number in range(launches):
        for cell in mine:
            parties = cell.placement.ranks * cell.placement.threads
            points = [
                Point(
                    {"level": v, "problem": "R", "digits": 6, "rows": 0}, cell.placement.threads, work(v),
                    32.0 * unknowns(v) / cell.placement.ranks, seconds(cell.program, v, parties),
                )
                for v in levels
            ]  # fmt: skip
            record = synthetic.launch(
                cell, number, rng, time=synthetic.STARTED + number, noise=noise, samples=2, disturbed=0, points=points
            )
            samples = tuple(
                replace(s, values=observed(cell.program, s.wall / record.cases[s.case].steps, points[s.case], parties))
                for s in record.samples
            )
            records.append(replace(record, samples=samples))
    it = replace(
        base.run,
        launches=launches,
        cells=(*base.run.cells, *mine) if stream else tuple(mine),
        builds=(*base.run.builds, *(Build(c.program, True, 1.0, "0" * 64) for c in mine)),
        descriptions=base.run.descriptions
        | {f"fem2d.{v}": Description("fem2d", v, "", PARAMETERS, METRICS, "", "every node", "") for v in VARIANTS},
    )
    triad = Provides("bandwidth", "bandwidth", {"op": "triad"}, by_working_set=True)
    bandwidth = replace(base.workloads["stream"], provides=(triad,))
    return synthetic.Scene(it, tuple(records), {"fem2d": workload(), "stream": bandwidth})


def work(level: int) -> dict[str, float]:
    return {"operations": 1.0, "bytes": 56.0 * 44 * unknowns(level)}


def observed(program: Program, wall: float, point: Point, parties: int) -> dict[str, tuple[float, float, float]]:
    iterations = 12.0 if "multigrid" in program.variant or "peer" in program.variant else 44.0
    pace = wall / (iterations * unknowns(int(point.parameters["level"])))
    assembly = 0.4 if "assembled" in program.variant else 0.0
    values = {"iterations": (iterations,) * 3, "time_per_unknown_iteration": (pace,) * 3, "assembly": (assembly,) * 3}
    if not program.variant.startswith("peer"):
        values["communication_share"] = SHARE if parties > 1 else (0.0, 0.0, 0.0)
    return values  # type: ignore[return-value]
