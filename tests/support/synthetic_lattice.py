"""Invent a run of a lattice operator, like the runs of `synthetic`, that follows R5's model except for noise.

A core does 12 Gflop/s on virtual nodes, 4 site by site and 2 in plain loops while the fields fit the last cache, and
half of it beyond; 64 bits take twice as long. Messages cost their bytes at 1.5 GB/s each way with Open MPI, 1 GB/s with
MPICH; of that time `overlap` hides half.
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
from firstlight.results.record import Build
from synthetic_figures import Point

METRICS = (
    Metric("speed", "Mflop/s", "operations", "rate", 1e-6, "higher"),
    Metric("time", "us", "elements", "time", 1e6, "lower"),
)
PARAMETERS = (Parameter("t", "sites", "8", "extent in time"),)
PLOT = Plot("lattice", "t", "speed", "variant", {"operator": "D", "boundary": "periodic"}, subject="speed")
FLOPS = 1392
SPEED = {"virtual_nodes": 12e9, "site": 4e9, "serial": 2e9}
BANDWIDTH = {"openmpi": 1.5e9, "mpich": 1.0e9}
HIDDEN = {"mpi_blocking": 0.0, "mpi_overlap": 0.5, "mpi_silent": 1.0}
ALONE = ((4, 4), (8, 8), (16, 16), (32, 32))  # extents in time and in space
SHARED = ((16, 16), (2, 16), (8, 8))
GRIDS = {1: ((1, 1, 1, 1),), 2: ((2, 1, 1, 1), (1, 2, 1, 1)), 4: ((2, 2, 1, 1),)}
WHY = "it leaves the exchange out"


def workload() -> Workload:
    base = synthetic_workloads.workload("pingpong")
    folder = shipped.folder("dirac")
    names = (*SPEED, *HIDDEN)
    variants = tuple(Variant(v, folder / f"{v}.cpp", ("mpi",) if v.startswith("mpi") else (), False) for v in names)
    return replace(
        base, name="dirac", folder=folder, title="Wilson-Dirac operator", rows=(), plots=(PLOT,), bounded_by=(),
        variants=variants, question="How fast is the operator?", chapter="applications",
    )  # fmt: skip


def speed(layout: str, sites: float, bits: int) -> float:
    """Flop/s of a core that has so many sites."""
    return SPEED[layout] * (1.0 if 120 * 4 * sites * bits / 32 <= 32 * synthetic_machine.MIB else 0.5) * 32 / bits


def sent(extents: tuple[int, int], grid: tuple[int, ...], bits: int) -> float:
    """Return the bytes that leave a process in a step."""
    t, n = extents
    local = [e / p for e, p in zip((t, n, n, n), grid, strict=True)]
    volume = local[0] * local[1] * local[2] * local[3]
    return sum(2 * volume / local[mu] * 12 * bits / 8 for mu in range(4) if grid[mu] > 1)


def point(extents: tuple[int, int], grid: tuple[int, ...], bits: int, variant: str, mpi: str | None) -> Point:
    t, n = extents
    ranks = grid[0] * grid[1] * grid[2] * grid[3]
    sites = t * n**3 / ranks
    size = sent(extents, grid, bits)
    layout = variant if variant in SPEED else "virtual_nodes"
    seconds = FLOPS * sites / speed(layout, sites, bits)
    if mpi is not None:
        seconds += (1 - HIDDEN[variant]) * size / BANDWIDTH[mpi]
    parameters = {"t": t, "x": n, "y": n, "z": n, "bits": bits, "operator": "D", "boundary": "periodic"}
    parameters |= dict(zip(("pt", "px", "py", "pz"), grid, strict=True))
    cost = {"flops": FLOPS * t * n**3, "operations": FLOPS * sites, "elements": sites, "flow": 2 * size}
    return Point(parameters, 1, {k: float(v) for k, v in cost.items() if v}, 120 * sites * bits / 8, seconds)


def cells(ranks: Iterable[int], variants: Iterable[str]) -> list[tuple[Cell, list[Point]]]:
    made = []
    for variant in variants:
        parallel = variant.startswith("mpi")
        for n in ranks if parallel else (1,):
            for mpi in synthetic_machine.MPIS if parallel else (None,):
                program = Program("dirac", variant, "gcc-native", mpi)
                cell = Cell(f"dirac.{variant}.{mpi}.{n}", program, Placement(1, n, 1), ())
                grids, lattices = (GRIDS[n], SHARED) if parallel else (GRIDS[1], ALONE)
                points = [point(e, g, b, variant, mpi) for e in lattices for g in grids for b in (32, 64)]
                made.append((cell, points))
    return made


def run(
    seed: int = 1,
    launches: int = 8,
    *,
    ranks: Iterable[int] = (1, 2),
    variants: Iterable[str] = (*SPEED, *HIDDEN),
    noise: float = 0.002,
) -> synthetic.Scene:
    rng = random.Random(seed)
    base = synthetic.run(seed, launches, only=["peak"], failed_build=False, noise=noise).run
    mine = cells(ranks, variants)
    records = []
    for number in range(launches):
        for cell, points in mine:
            record = synthetic.launch(
                cell, number, rng, time=synthetic.STARTED + number, noise=noise, samples=2, disturbed=0, points=points
            )
            records.append(replace(record, checks=()) if cell.program.variant == "mpi_silent" else record)
    programs = [cell.program for cell, _ in mine]
    described = {
        p.target: Description(
            "dirac", p.variant, "", PARAMETERS, METRICS, "", "every site", "", WHY if p.variant == "mpi_silent" else ""
        )
        for p in programs
    }
    it = replace(
        base, launches=launches, cells=tuple(cell for cell, _ in mine),
        builds=tuple(Build(p, True, 1.0, "0" * 64) for p in programs), descriptions=described,
    )  # fmt: skip
    return synthetic.Scene(it, tuple(records), {"dirac": workload()})
