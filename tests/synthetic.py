"""Invented runs for tests: a small machine that follows a roofline, with dot, stream, peak, latency and pingpong.

`run()` gives a `Scene`: the Run, its LaunchRecords and the Workloads, deterministic by seed; `judgement()` judges it.
The machine: 2 cores, L1 32 KiB and L2 512 KiB each, L3 32 MiB shared. Known oddities, for findings to discover:
dot.kahan is wrong under every *-fast toolchain; MPICH answers small messages first, Open MPI moves large ones 1.6 x
faster; about 3 % of the samples were disturbed; the frequency policy is "powersave"; one Fortran build failed.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from firstlight.catalogue import Bound, Plot, Provides, Row, Sizes, Variant, Workload
from firstlight.judge import Judgement
from firstlight.machine import Cache, Machine
from firstlight.plan import Cell, Placement, Program
from firstlight.record import (
    SCHEMA,
    Binding,
    Build,
    Case,
    Check,
    Counters,
    Description,
    Exit,
    Launch,
    LaunchRecord,
    Metric,
    Parameter,
    Run,
    Sample,
    Start,
)
from firstlight.toolchains import Absent, Blas, Mpi, Toolbox, Toolchain

STARTED = 1_795_000_000.0
KIB, MIB, GIB = 1024, 1024**2, 1024**3

TOOLCHAINS = tuple(f"{c}-{f}" for c in ("gcc", "clang") for f in ("base", "native", "fast"))
MPIS = ("openmpi", "mpich")
LENGTHS = (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
MESSAGES = (8, 64, 512, 4 * KIB, 32 * KIB, 256 * KIB, MIB, 4 * MIB)
CHASES = tuple(4 * KIB * 4**k for k in range(8))
OPERATIONS = {"copy": (16, 0), "scale": (16, 1), "add": (24, 1), "triad": (24, 2), "load": (16, 2)}

RATE = Metric("rate", "Gflop/s", "flops", "rate", 1e-9, "higher")
METRICS = {
    "dot": (RATE,),
    "stream": (Metric("bandwidth", "GB/s", "bytes", "rate", 1e-9, "higher"),),
    "peak": (RATE,),
    "latency": (Metric("latency", "ns", "accesses", "time", 1e9, "lower"),),
    "pingpong": (
        Metric("latency", "us", "messages", "time", 1e6, "lower"),
        Metric("bandwidth", "GB/s", "message_bytes", "rate", 1e-9, "higher"),
    ),
}
TITLES = {
    "dot": "Scalar product",
    "stream": "Memory bandwidth",
    "peak": "Peak arithmetic",
    "latency": "Memory latency",
    "pingpong": "Messages between two ranks",
}
VARIANTS = {
    "dot": ("serial", "unrolled_8", "simd", "kahan", "blas_openblas"),
    "stream": ("omp", "omp_nontemporal"),
    "peak": ("omp",),
    "latency": ("chase",),
    "pingpong": ("mpi_blocking", "mpi_nonblocking"),
}


class Scene(NamedTuple):
    """The input of `judge`: `judge(*scene)`."""

    run: Run
    records: tuple[LaunchRecord, ...]
    workloads: dict[str, Workload]


class Point(NamedTuple):
    """One case as a program would declare it, with the true seconds a step."""

    parameters: dict[str, int | float | str]
    threads: int
    cost: dict[str, float]
    working_set: float
    seconds: float


# --- the machine and its tools --------------------------------------------------------------------


def machine(**changes: object) -> Machine:
    import msgspec

    caches = [
        Cache(level, kind, size, 64, shared)
        for level, kind, size, groups in (
            (1, "data", 32 * KIB, ((0,), (1,))),
            (2, "unified", 512 * KIB, ((0,), (1,))),
            (3, "unified", 32 * MIB, ((0, 1),)),
        )
        for shared in groups
    ]
    base = Machine(
        name="node-5f3a9c",
        processor="Example EPYC 7003",
        architecture="x86_64",
        microarchitecture="zen3",
        sockets=1,
        cores=2,
        cpus=(0, 1),
        threads_per_core=1,
        numa=((0, 1),),
        caches=tuple(caches),
        memory=24 * GIB,
        memory_available=20 * GIB,
        system="Example Linux 12",
        kernel="6.18.0",
        virtual="kvm",
        governor="powersave",
        turbo=True,
        huge_pages="madvise",
        load=0.3,
        counters="not permitted (perf_event_paranoid is 4)",
        limits={"memlock": "8388608", "nofile": "1024"},
        warnings=("virtual machine: neighbours may disturb the measurement",),
    )
    return msgspec.structs.replace(base, **changes)


def toolbox() -> Toolbox:
    flags = {
        "base": ("-O2",),
        "native": ("-O3", "-march=native"),
        "fast": ("-Ofast", "-march=native"),
    }
    version = {"gcc": "12.2.0", "clang": "19.1.7"}
    fortran = {"gcc": ("/usr/bin/gfortran", "12.2.0"), "clang": (None, None)}
    chains = [
        Toolchain(
            name=name,
            compiler=name.split("-")[0],
            flag_set=name.split("-")[1],
            version=version[name.split("-")[0]],
            cxx="/usr/bin/" + {"gcc": "g++", "clang": "clang++"}[name.split("-")[0]],
            flags=flags[name.split("-")[1]],
            openmp=("-fopenmp",),
            fortran=fortran[name.split("-")[0]][0],
            fortran_version=fortran[name.split("-")[0]][1],
        )
        for name in TOOLCHAINS
    ]
    mpis = (
        Mpi("openmpi", "openmpi", "Open MPI 4.1.4", "4.1.4", "system", "/usr/bin/mpicxx.openmpi", None, (),
            "/usr/bin/mpiexec.openmpi", {}),
        Mpi("mpich", "mpich", "MPICH 4.0.2", "4.0.2", "system", "/usr/bin/mpicxx.mpich", None, (),
            "/usr/bin/mpiexec.mpich", {}),
    )  # fmt: skip
    blas = (Blas("openblas", "OpenBLAS 0.3.21", (), ("-lopenblas",)),)
    absent = (Absent("Intel oneAPI (icpx)", "no icpx in PATH", "install the oneAPI C++ compiler"),)
    return Toolbox(tuple(chains), mpis, blas, absent)


# --- the truth: how long a step takes -------------------------------------------------------------


def load_rate(working_set: float, threads: int) -> float:
    """Bytes a second that `threads` cores load from where `working_set` bytes lie."""
    for size, rate in ((32 * KIB, 140e9), (512 * KIB, 62e9)):
        if working_set <= size * threads:
            return rate * threads
    return 31e9 * threads if working_set <= 32 * MIB else (14.2e9 if threads == 1 else 21e9)


def _dot(program: Program) -> Iterator[Point]:
    compiler, flag_set = program.toolchain.split("-")
    wide = flag_set != "base"
    rate = {  # flops a second while the data lie in L1
        "serial": 8.4e9 if flag_set == "fast" else 1.77e9,
        "unrolled_8": 15.5e9 if wide else 8.0e9,
        "simd": 17.0e9 if wide else 9.0e9,
        "kahan": 8.2e9 if flag_set == "fast" else 0.43e9,
        "blas_openblas": 16.5e9,
    }[program.variant] * (1.04 if compiler == "clang" and program.variant == "unrolled_8" else 1.0)
    for n in LENGTHS:
        flops, size = 2.0 * n, 16.0 * n
        seconds = max(flops / rate, size / (0.96 * load_rate(size, 1))) + 2e-9
        yield Point({"n": n}, 1, {"flops": flops, "bytes": size}, size, seconds)


def _stream(program: Program) -> Iterator[Point]:
    slow = 0.9 if program.toolchain.endswith("-base") else 1.0
    if program.variant == "omp_nontemporal":
        slow *= 0.7
    for threads, op, n in itertools.product((1, 2), OPERATIONS, (*LENGTHS, 30_000_000)):
        size, flops = OPERATIONS[op]
        working_set = float(n * (size if op != "scale" else 16))
        share = 1.0 if op == "load" else 0.8
        cost = {"bytes": float(size * n), "flops": float(flops * n)}
        yield Point({"op": op, "n": n}, threads, cost, working_set,
                    size * n / (share * slow * load_rate(working_set, threads)))  # fmt: skip


def _peak(program: Program) -> Iterator[Point]:
    lanes = 0.5 if program.toolchain.endswith("-base") else 1.0
    for threads, precision in itertools.product((1, 2), (32, 64)):
        flops = 1e6 * threads
        rate = 52e9 * lanes * threads * (64 / precision)
        yield Point({"precision": precision}, threads, {"flops": flops}, 0.0, flops / rate)


def _latency(program: Program) -> Iterator[Point]:
    for size in CHASES:
        ns = next(t for s, t in ((32 * KIB, 1.6), (512 * KIB, 5.0), (32 * MIB, 16.0), (math.inf, 98.0)) if size <= s)
        yield Point({"bytes": size}, 1, {"accesses": 1000.0}, float(size), 1000 * ns * 1e-9)


def _pingpong(program: Program) -> Iterator[Point]:
    alpha, rate = (0.45e-6, 9.8e9) if program.mpi == "openmpi" else (0.31e-6, 6.1e9)
    if program.variant == "mpi_nonblocking":
        alpha *= 1.15
    for size in MESSAGES:
        cost = {"messages": 1.0, "message_bytes": float(size), "bytes": 2.0 * size}
        yield Point({"bytes": size}, 1, cost, 2.0 * size, alpha + size / rate)


TRUTH = {"dot": _dot, "stream": _stream, "peak": _peak, "latency": _latency, "pingpong": _pingpong}


def programs() -> list[Program]:
    """What the quick suite would build."""
    out = [Program("dot", v, t) for v in VARIANTS["dot"] if not v.startswith("blas") for t in TOOLCHAINS]
    out.append(Program("dot", "blas_openblas", "gcc-native"))
    out += [Program("stream", v, t) for v in VARIANTS["stream"] for t in ("gcc-base", "gcc-native", "clang-native")]
    out += [Program("peak", "omp", t) for t in ("gcc-base", "gcc-native", "clang-native")]
    out.append(Program("latency", "chase", "gcc-native"))
    out += [Program("pingpong", v, "gcc-native", m) for v in VARIANTS["pingpong"] for m in MPIS]
    return out


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


# --- what a launch leaves behind ------------------------------------------------------------------


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
    """One good launch. `noise`: sd of log wall between launches (half of it between samples).

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
    """The same launch, ended badly halfway through its samples."""
    import msgspec

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
    """A complete run.

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
    from firstlight.judge.figures import judge

    return judge(*run(seed, launches, **options))  # type: ignore[arg-type]


# --- what the workloads declare -------------------------------------------------------------------


def description(name: str, variant: str) -> Description:
    parameters = {
        "dot": (Parameter("n", "elements", "1000", "length of the vectors"),),
        "stream": (
            Parameter("op", "", "triad", "copy, scale, add, triad or load"),
            Parameter("n", "elements", "1000", "length of each array"),
        ),
        "peak": (Parameter("precision", "bit", "64", "width of a number"),),
        "latency": (Parameter("bytes", "B", "4096", "size of the chain"),),
        "pingpong": (Parameter("bytes", "B", "8", "size of a message"),),
    }[name]
    return Description(name, variant, TITLES[name], parameters, METRICS[name], "see README.md",
                       "the oracle in long double", "n eps sum |x y|")  # fmt: skip


def workload(name: str) -> Workload:
    provides = {
        "stream": (
            Provides("load_bandwidth", "bandwidth", {"op": "load"}, by_working_set=True),
            Provides("copy_bandwidth", "bandwidth", {"op": "copy"}, by_working_set=True),
        ),
        "peak": (
            Provides("flops_64", "rate", {"precision": 64}),
            Provides("flops_32", "rate", {"precision": 32}),
        ),
    }
    bounds = {
        "dot": (Bound("flops", "flops_64"), Bound("bytes", "load_bandwidth")),
        "pingpong": (Bound("bytes", "copy_bandwidth"),),
    }
    rows = {
        "dot": (
            Row("scalar product in L1", "rate", 40, {"n": 1000}),
            Row("scalar product in memory", "rate", 50, {"n": 10_000_000}),
        ),
        "stream": (
            Row("memory bandwidth, 1 core", "bandwidth", 10, {"op": "triad", "n": 30_000_000}),
            Row("memory bandwidth, 2 cores", "bandwidth", 20, {"op": "triad", "n": 30_000_000}, threads=2),
        ),
        "peak": (Row("arithmetic, 64 bit, 1 core", "rate", 30, {"precision": 64}),),
        "latency": (Row("memory latency", "latency", 60, {"bytes": CHASES[-1]}),),
        "pingpong": (
            Row("message latency, 2 ranks", "latency", 70, {"bytes": 8}, ranks=2, choose="mpi"),
            Row("message bandwidth, 1 MiB", "bandwidth", 80, {"bytes": MIB}, ranks=2, choose="mpi"),
        ),
    }
    plots = {
        "dot": (Plot("staircase", "n", "rate", "toolchain", subject="the scalar product", mark_caches=True),),
        "stream": (Plot("staircase", "n", "bandwidth", "toolchain", {"op": "triad"}, subject="triad"),),
        "peak": (Plot("roofline", "intensity", "rate", "toolchain"),),
        "latency": (Plot("staircase", "bytes", "latency", "toolchain", subject="a load", mark_caches=True),),
        "pingpong": (
            Plot("message", "bytes", "latency", "mpi", subject="a message"),
            Plot("message", "bytes", "bandwidth", "mpi", subject="a message"),
        ),
    }
    needs = {"omp": ("openmp",), "mpi": ("mpi",), "blas": ("blas",)}
    folder = Path("workloads") / name
    return Workload(
        name=name,
        folder=folder,
        title=TITLES[name],
        question=f"What does {name} show?",
        chapter="network" if name == "pingpong" else "node",
        toolchain_sensitive=name in ("dot", "stream", "peak"),
        suites={},
        variants=tuple(
            Variant(v, folder / f"{v}.cpp", needs.get(v.split("_")[0], ()), False) for v in VARIANTS[name]
        ),
        sizes=Sizes("n", 16) if name == "dot" else None,
        provides=provides.get(name, ()),
        bounded_by=bounds.get(name, ()),
        rows=rows.get(name, ()),
        plots=plots.get(name, ()),
    )  # fmt: skip
