"""An invented run of halo exchanges, as `synthetic` invents the others: two MPI libraries, many strategies.

Up to N = 128 `mpi_shared_flags` is twice as fast as `mpi_sendrecv`; beyond, all strategies take the same. A datatype
costs Open MPI 1.5 times the packed exchange for `mpi_waitall`, and MPICH nothing. `omp_flags` needs no MPI.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

from msgspec.structs import replace

import shipped
import synthetic
import synthetic_machine
import synthetic_workloads
from firstlight.model.catalogue import Plot, Variant, Workload
from firstlight.model.plan import Cell, Placement, Program
from firstlight.results.description import Description, Metric, Parameter
from firstlight.results.record import Build, Launch
from firstlight.toolchain import Absent
from synthetic_figures import Point

SIZES = tuple(2**k for k in range(1, 11))
LATENCY = {  # microseconds at small N, without the library
    "mpi_sendrecv": 3.0, "mpi_ordered": 3.6, "mpi_isend_recv": 2.9, "mpi_irecv_send": 2.9, "mpi_waitall": 2.7,
    "mpi_waitany": 2.8, "mpi_all_at_once": 2.5, "mpi_persistent": 2.4, "mpi_put_fence": 5.5, "mpi_get_fence": 6.0,
    "mpi_post_start": 4.4, "mpi_lock_flush": 4.1, "mpi_shared_flags": 1.5, "mpi_neighbour": 3.2,
    "mpi_neighbour_persistent": 2.6, "shmem_put_flag": 3.4, "omp_flags": 2.0, "mpi_omp_funnelled": 3.1,
}  # fmt: skip
WITH_DATA = ("mpi_sendrecv", "mpi_waitall")
METRIC = Metric("exchange", "us", "operations", "time", 1e6, "lower")
PARAMETERS = (
    Parameter("n", "points", "64", "side of the sub-domain"),
    Parameter("width", "points", "1", "width of the halo"),
    Parameter("data", "", "packed", "how the halo is handed over"),
)
PLOT = Plot("halo", "n", "exchange", "variant", subject="time per exchange")


def workload() -> Workload:
    base = synthetic_workloads.workload("pingpong")
    variants = tuple(
        Variant(v, shipped.folder("halo") / f"{v}.cpp", ("openmp",) if v.startswith("omp") else ("mpi",), False)
        for v in LATENCY
    )
    return replace(
        base, name="halo", folder=shipped.folder("halo"), title="Halo exchange", rows=(), plots=(PLOT,),
        bounded_by=(), variants=variants,
        question="What does the exchange of a sub-domain's edges cost, and who does it best?",
    )  # fmt: skip


def seconds(program: Program, n: int, data: str, ranks: int) -> float:
    """Return the true time: a latency that one library makes longer, and beyond N = 128 the memory's share of each
    rank.
    """
    latency = LATENCY[program.variant] * (1.3 if program.mpi == "mpich" else 1.0) * (1 + 0.05 * (ranks - 2))
    both = max(latency, 6.0 * n / 200) if n <= 128 else 6.0 * n / 100
    datatype = program.mpi == "openmpi" and data == "datatype" and program.variant == "mpi_waitall"
    return both * 1e-6 * (1.5 if datatype else 1.0)


def points(program: Program, ranks: int, sizes: Iterable[int]) -> list[Point]:
    ways = ("packed", "datatype") if program.variant in WITH_DATA else ("packed",)
    cost = {"operations": 1.0, "messages": 4.0, "message_bytes": 1.0}
    return [
        Point({"n": n, "width": 1, "data": way}, 1, cost, 0.0, seconds(program, n, way, ranks))
        for way in ways
        for n in sizes
    ]


def run(
    seed: int = 1,
    launches: int = 8,
    *,
    strategies: Iterable[str] = tuple(LATENCY),
    placements: Iterable[Placement] = (Placement(1, 2, 1),),
    sizes: Iterable[int] = SIZES,
    mpis: Iterable[str] = synthetic_machine.MPIS,
    noise: float = 0.004,
) -> synthetic.Scene:
    """Return a complete run."""
    rng = random.Random(seed)
    base = synthetic.run(seed, 1, only=["pingpong"], failed_build=False)
    cells = []
    for placement in placements:
        for variant in strategies:
            threads = variant.startswith("omp")
            for mpi in (None,) if threads else tuple(mpis):
                where = Placement(1, 1, placement.ranks) if threads else placement
                program = Program("halo", variant, "gcc-native", mpi)
                name = f"halo.{variant}.{mpi}.{where.nodes}n{where.ranks}x{where.threads}"
                if all(c.id != name for c in cells):
                    cells.append(Cell(name, program, where, ()))
    records = []
    for number in range(launches):
        for cell in cells:
            parties = cell.placement.ranks * cell.placement.threads
            record = synthetic.launch(
                cell, number, rng, time=synthetic.STARTED + number, noise=noise, samples=2, disturbed=0,
                points=points(cell.program, parties, sizes),
            )  # fmt: skip
            assert isinstance(record.launch, Launch)
            cases = tuple(replace(c, threads=cell.placement.threads) for c in record.cases)
            records.append(replace(record, cases=cases, launch=replace(record.launch, nodes=cell.placement.nodes)))
    it = replace(
        base.run,
        launches=launches,
        cells=tuple(cells),
        builds=tuple(Build(c.program, True, 1.0, "0" * 64) for c in cells),
        descriptions={
            f"halo.{v}": Description("halo", v, "Halo exchange", PARAMETERS, (METRIC,), "", "every word", "exact")
            for v in LATENCY
        },
        not_available=(
            Absent("halo.mpi_partitioned with gcc-native and openmpi", "it needs MPI 4; Open MPI 4.1.4 lacks it", "-"),
            Absent("halo.mpi_partitioned with gcc-native and mpich", "the library gives wrong halos", "-"),
            Absent("halo.caf_put with gcc-native", "it needs coarrays over MPI", "install them"),
            Absent("halo.omp_flags with clang-native", "it needs a compiler with OpenMP", "install it"),
        ),
    )
    return synthetic.Scene(it, tuple(records), {"halo": workload()})
