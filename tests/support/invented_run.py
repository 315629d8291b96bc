"""A run of the shipped workloads as an invented machine of any size would have made it: the plan, and records for it.

The times are those of a simple machine (a rate for each level of memory, a time for each message); no program is built.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
import zlib
from collections.abc import Iterator, Mapping

import shipped
import synthetic
import synthetic_machine
from firstlight.analysis.levels import Hierarchy, nominal
from firstlight.model.catalogue import Workload
from firstlight.model.plan import Cell, plan
from firstlight.results.description import Description, Metric, Parameter
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
from firstlight.system.machine import Machine, cores
from firstlight.system.mpi_families import NodeCapacity, bind_unit
from firstlight.toolchain import Toolbox
from synthetic import Scene

WORKLOADS = shipped.workloads()
METRICS = """
cg              time_to_solution s operations time 1, time_per_iteration us time_per_iteration value 1e6
dirac           speed Mflop/s operations rate 1e-6, time us elements time 1e6
dirac_overlap   time s operations time 1, iterations iterations iterations value 1
dirac_solver    time_to_solution s operations time 1, time_per_iteration us time_per_iteration value 1e6, speed Mflop/s speed value 1e-6, iterations iterations iterations value 1
dot             rate Gflop/s flops rate 1e-9
fem2d           time_to_tolerance s operations time 1, iterations iterations iterations value 1, communication_share % communication_share value 100
halo            exchange us operations time 1e6, bandwidth GB/s flow rate 1e-9
himeno          rate Mflop/s flops rate 1e-6, sweep_time us operations time 1e6, gosa 1 gosa value 1, gosa_exact 1 gosa_exact value 1, gosa_official 1 gosa_official value 1
latency         latency ns accesses time 1e9
matmul          rate Gflop/s flops rate 1e-9
noise           quantum us operations time 1e6, noise % noise value 100, together % together value 100, stolen % stolen value 100
peak            rate Gflop/s flops rate 1e-9
pingpong        latency us messages time 1e6, bandwidth GB/s message_bytes rate 1e-9
stream          bandwidth GB/s bytes rate 1e-9
transpose       bandwidth GB/s bytes rate 1e-9
rdma            bandwidth GB/s flow rate 1e-9, message_rate 1/s elements rate 1, step us operations time 1e6
vector_sum      rate Mbit/s flow rate 7.62939453125e-6, time us operations time 1e6
collectives     gap us operations time 1e6, latency us latency value 1e6, rate GB/s flow rate 1e-9
waiting         cpu_share % cpu_share value 100
device_copy     bandwidth GB/s bytes rate 1e-9
kernel_launch   time us operations time 1e6
"""  # noqa: E501 (a table)

GRID: Mapping[str, int | float | str] = {"pt": 0, "px": 0, "py": 0, "pz": 0}
DEFAULTS: Mapping[str, Mapping[str, int | float | str]] = {
    "cg": {
        "matrix": "laplace2d",
        "m": 40,
        "method": "classic",
        "preconditioner": "jacobi",
        "digits": 6,
        "iterations": 0,
    },
    "dirac": {"t": 8, "x": 8, "y": 8, "z": 8, "bits": 64, "operator": "D", "boundary": "periodic"} | dict(GRID),
    "dirac_solver": {"t": 8, "x": 8, "y": 8, "z": 8, "mass": 100, "digits": 8, "method": "cg"} | dict(GRID),
    "fem2d": {"level": 5, "problem": "R", "digits": 6, "rows": 0},
    "halo": {"n": 32, "width": 1, "word": 8, "data": "packed", "rows": 0},
    "himeno": {"size": "XS", "i": 12, "j": 10, "k": 17, "sweeps": 3, "problem": "official", "pi": 0, "pj": 0, "pk": 0},
    "pingpong": {"bytes": 1024, "data": "cached"},
    "rdma": {"bytes": 8192, "interfaces": 1, "messages": 4, "neighbours": "six", "operation": "put"},
    "stream": {"op": "triad", "n": 1000},
}
"""Defaults of parameters that a cell may leave to the program, as the shipped headers declare them."""


@functools.cache
def metrics() -> dict[str, tuple[Metric, ...]]:
    """Declare the most important metrics, as the shipped headers do."""
    made = {}
    for line in METRICS.strip().splitlines():
        workload, _, rest = line.partition(" ")
        words = [entry.split() for entry in rest.split(",")]
        made[workload] = tuple(
            Metric(name, unit, quantity, form, float(scale), "higher" if form == "rate" else "lower")  # type: ignore[arg-type]
            for name, unit, quantity, form, scale in words
        )
    return made


def run(
    on: Machine,
    suite: str = "quick",
    launches: int = 6,
    seed: int = 1,
    names: tuple[str, ...] = (),
    toolbox: Toolbox | None = None,
) -> Scene:
    """Return a complete run of the suite on this machine, with these tools or those of `synthetic_machine`."""
    rng, toolbox, quantities = random.Random(seed), toolbox or synthetic_machine.toolbox(), metrics()
    planned = plan(suite, WORKLOADS, names, toolbox, on)
    cells = planned.cells
    records = [record(cell, number, rng, on) for number in range(launches) for cell in cells]
    run = Run(
        schema=SCHEMA, id=f"20261122-120000-{suite}", started=synthetic.STARTED,
        finished=synthetic.STARTED + len(records), state="complete", firstlight="0.1.0", revision="abc1234",
        command=("./fl", "run", f"--{suite}"), suite=suite, budget=150.0, launches=launches, precision=0.025, seed=seed,
        machine=on, toolbox=toolbox, environment={}, cells=cells,
        builds=tuple(Build(p, True, 1.0, "0" * 64) for p in planned.programs),
        descriptions={p.target: _description(p.workload, p.variant, quantities) for p in planned.programs},
        not_available=planned.absent,
    )  # fmt: skip
    return Scene(run, tuple(records), WORKLOADS)


def record(cell: Cell, number: int, rng: random.Random, on: Machine) -> LaunchRecord:
    """Return one good launch."""
    program, place = cell.program, cell.placement
    workload, quantities = WORKLOADS[program.workload], metrics()[program.workload]
    shift = math.exp(rng.gauss(0, 0.01)) * _skill(program.key)
    cases, samples, checks, counters = [], [], [], []
    for k, values in enumerate(_cases(cell)):
        cost, size, seconds = _work(workload, values, cell, on)
        steps = max(1, round(0.005 / seconds))
        cases.append(Case(k, values, place.threads, cost, size, steps))
        checks += [Check(k, when, True, 0.0, 1e-12, "agrees with the oracle") for when in ("before", "after")]  # type: ignore[arg-type]
        observed = {m.quantity: (v := seconds * (1 + n), v, v) for n, m in enumerate(quantities) if m.form == "value"}
        for s in range(5):
            wall = steps * seconds * shift * math.exp(rng.gauss(0, 0.003))
            samples.append(Sample(k, s, wall, 0.98 * wall, 0.99 * wall, 0.995, observed))
        counters.append(Counters(k, steps))
    return LaunchRecord(
        start=Start("invented", cell.id, number, number, synthetic.STARTED + number, ("./" + program.target,), 0.2),
        launch=Launch(1, program.workload, program.variant, program.toolchain, "", program.mpi or "", place.ranks,
                      place.nodes, tuple(binding(cell, on)), "not permitted", 1e-9),
        cases=tuple(cases), samples=tuple(samples), checks=tuple(checks), counters=tuple(counters), complete=True,
        exit=Exit(True, 0, "", 0.3, 0.3, "", "0" * 64),
    )  # fmt: skip


def binding(cell: Cell, on: Machine) -> Iterator[Binding]:
    """Bind like launchers: to whole cores, else to hardware threads, else not at all."""
    place = cell.placement
    unit = bind_unit(place, NodeCapacity(on.cores, len(on.cpus)))
    some = cores.among(on, on.cpus)
    if place.ranks * place.threads == 1 and cell.program.mpi is None:
        cpu = cores.serial(on)
        yield Binding(0, () if cpu is None else (cpu,))
        return
    for rank in range(place.ranks):
        node, local = divmod(rank, place.per_node)
        mine = slice(local * place.threads, (local + 1) * place.threads)
        if unit == "core":
            yield Binding(rank, tuple(sorted(cpu for core in some[mine] for cpu in core)), node)
        else:
            yield Binding(rank, tuple(sorted(cpu for c in some for cpu in c)[mine]) if unit else on.cpus, node)


def _description(workload: str, variant: str, quantities: Mapping[str, tuple[Metric, ...]]) -> Description:
    names = {name for some in WORKLOADS[workload].suites.values() for entry in some for name in entry.parameters}
    taken = tuple(Parameter(name, "int", "1", name.replace("_", " "), "") for name in sorted(names))
    title = WORKLOADS[workload].title
    return Description(
        workload, variant, title, taken, quantities[workload], "as declared", "against an oracle", "rounding"
    )


def _cases(cell: Cell) -> Iterator[dict[str, int | float | str]]:
    defaults = DEFAULTS.get(cell.program.workload, {})
    for values in itertools.product(*cell.values.values()):
        yield {**defaults, **dict(zip(cell.values, values, strict=True))}


def _skill(key: str) -> float:
    """Return the factor by which a program is slower than the best: constant for each program."""
    return 1.0 + zlib.crc32(key.encode()) % 41 / 100


def _work(
    workload: Workload, values: Mapping[str, int | float | str], cell: Cell, on: Machine
) -> tuple[dict[str, float], float, float]:
    """(cost, working set of a process, seconds a step)"""
    place, sizes = cell.placement, workload.sizes
    busy = place.ranks * place.threads
    of_node = busy // place.nodes
    elements = math.prod(float(v) for k, v in values.items() if k in ("t", "x", "y", "z"))
    if sizes and sizes.parameter in values:
        elements = sizes.elements(float(values[sizes.parameter]))
    elif "bytes" in values:
        elements = float(values["bytes"]) / 8
    size = elements * (sizes.bytes_per_element if sizes else 8.0)
    if "size" in values:  # himeno's, of which each has eight times the points of the one before
        elements = 7000.0 * 8 ** ("free", "XS", "S", "M", "L", "XL").index(str(values["size"]))
        size = 56 * elements
    loops = ("dot", "stream", "matmul", "fem2d", "dirac", "dirac_solver", "dirac_overlap", "himeno")
    arithmetic = {"flops": 2 * elements, "bytes": size} if workload.name in loops else {"bytes": size}
    cost = {**arithmetic, "message_bytes": 8 * elements, "flow": 8 * elements, "messages": 1.0,
            "operations": 1.0, "elements": max(elements, 1.0), "accesses": 1000.0}  # fmt: skip
    if workload.name == "peak":
        cost = {"flops": 1e6 * busy}
        return cost, 0.0, 1e6 / (40e9 if str(values.get("precision")) == "64" else 80e9)
    if workload.name == "latency":
        return cost, size, 1e-6 * _latency(size, on)
    if workload.name in ("dirac", "dirac_solver", "dirac_overlap"):
        cost["operations"] = 1320 * elements
    slower = 1.0 if workload.name == "stream" else 2.0  # nothing passes what the machine can do
    travel = 4e-7 * math.log2(place.ranks) * (4 if place.nodes > 1 else 1) if place.ranks > 1 else 0.0
    seconds = 5e-8 + slower * size / _rate(size, of_node, place.nodes, on) + travel
    return cost, size / place.ranks, seconds


def _rate(size: float, busy: int, nodes: int, on: Machine) -> float:
    """Return bytes per second from the memory of the data, over all cores of all used nodes."""
    rate = {"L1": 140e9, "L2": 60e9, "L3": 25e9}.get(_levels(on).place(size / nodes, busy))
    return (rate * busy if rate else min(12e9 * busy, 150e9 * max(1, len(on.numa)))) * nodes


_NOMINAL: dict[int, tuple[Machine, Hierarchy]] = {}
"""Stores the result by the machine's identity: the computation is slow for a thousand cores."""


def _levels(on: Machine) -> Hierarchy:
    if id(on) not in _NOMINAL:
        _NOMINAL[id(on)] = (on, nominal(on))
    return _NOMINAL[id(on)][1]


def _latency(size: float, on: Machine) -> float:
    """Return the nanoseconds of an access."""
    steps = ((1, 1.6), (2, 5.0), (3, 16.0))
    return next((ns for level, ns in steps if (c := on.cache(level)) is not None and size <= c.size), 110.0)
