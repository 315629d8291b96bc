"""Describe a request as a workload of a run: its figures, and the rows of its page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from firstlight.analysis import formatting
from firstlight.analysis.formatting import listing
from firstlight.commands.bench.request import BYTES, COUNTERS, CPU, FLOPS, MEMORY, SHARE, TIME, BenchRequest
from firstlight.core.roles import EXECUTION, EXECUTION_CPU, EXECUTION_MEMORY, Role
from firstlight.model.catalogue import Bound, Row, Value
from firstlight.model.catalogue.brought import Brought
from firstlight.model.plan import Cell
from firstlight.results.description import Description, Metric, Parameter

OWN = (
    Metric(TIME, "s", "executions", "time", 1.0, "lower"),
    Metric(CPU, "s", CPU, "value", 1.0, "lower"),
    Metric(MEMORY, "MiB", MEMORY, "value", 2.0**-20, "lower"),
)
"""Metrics of every program; the first one decides how often the program is launched."""
MOST_NAMED = 3  # commands in a title
CALLED = {SHARE: "share of time in MPI", TIME: "wall time", CPU: "CPU time", MEMORY: "peak memory of one process"}
RATES = {
    FLOPS: Metric("flop_rate", "Gflop/s", FLOPS, "rate", 1e-9, "higher"),
    BYTES: Metric("bandwidth", "GB/s", BYTES, "rate", 1e-9, "higher"),
}
"""Rates of a program with --work; BOUNDS names the measured ceiling of each. Bytes are bounded by loads alone, the
fastest mix: the program's own mix of loads and stores is not known."""
BOUNDS = {FLOPS: Bound(FLOPS, "flops_64"), BYTES: Bound(BYTES, "load_bandwidth")}
ROLES = (Role(EXECUTION, TIME), Role(EXECUTION_CPU, CPU), Role(EXECUTION_MEMORY, MEMORY))
IN_MPI = Metric(SHARE, "%", SHARE, "value", 100.0, "lower")
BIND = Parameter("bind", "", "", "whether each process and thread is bound to its own cores")


def descriptions(request: BenchRequest, cells: Sequence[Cell]) -> dict[str, Description]:
    figures = tuple(Metric(n, f.unit, n, "told", 1.0, f.better) for n, f in request.figures.items())
    parameters = tuple(Parameter(name, "", "", f"{{{name}}} of the command") for name in request.sweep)
    unverified = "" if request.verified else "no check verifies the output"
    return {
        f"{request.name}.{name}": Description(
            workload=request.name,
            variant=name,
            title=title(request),
            parameters=(*parameters, *([BIND] if "bind" in request.vary else [])),
            metrics=(
                *OWN,
                *figures,
                *([IN_MPI] if request.mpi_share else []),
                *(Metric(event, "", event, "value", 1.0, "lower") for event in _counted(cells, name)),
                *(RATES[name] for name in RATES if name in request.work),
            ),
            cost="one execution of the command, from its start to its end",
            verified=request.verified,
            tolerance=""
            if request.output is None or request.output.tolerance is None
            else f"{request.output.tolerance:g}",
            unverified=unverified,
        )
        for name in request.commands
    }


def _counted(cells: Sequence[Cell], name: str = "") -> list[str]:
    """Return the hardware counters that are read for a command, or for any if it has no name."""
    some = [c.external.counters for c in cells if c.external is not None and name in ("", c.program.variant)]
    return [event for event in COUNTERS if any(event in counters for counters in some)]


def title(request: BenchRequest) -> str:
    """Return the title of the page: the user's own, else the names of a few commands, else their number."""
    names = list(request.commands)
    return request.title or (listing(names) if len(names) <= MOST_NAMED else f"{len(names)} commands")


def brought(request: BenchRequest, cells: Sequence[Cell], limit: float | None) -> Brought:
    return Brought(
        name=request.name,
        title=title(request),
        question="How fast is each of these commands on this machine, and which is the fastest?",
        commands=dict(request.commands),
        toolchain_sensitive=bool(request.build),
        rows=tuple(_rows(request, cells)),
        bounded_by=tuple(BOUNDS[name] for name in BOUNDS if name in request.work),
        roles=ROLES,
        threshold=request.threshold,
        limit=limit,
    )


def _rows(request: BenchRequest, cells: Sequence[Cell]) -> Iterator[Row]:
    """Yield a row for each figure and case with the best of all varied axes together; then, if several axes are varied,
    such rows for each axis alone, without CPU time, memory, hardware counters and the share of time in MPI.
    """
    axes = _axes(cells)
    metrics = [TIME, *request.figures, *(RATES[n].name for n in RATES if n in request.work)]
    aside = [*([SHARE] if request.mpi_share else []), CPU, MEMORY, *_counted(cells)]
    metrics += aside
    cases = [dict(zip(request.sweep, v, strict=True)) for v in product(*request.sweep.values())]
    choices = ["+".join(axes) or "variant", *(axes if len(axes) > 1 else [])]
    placements = list(dict.fromkeys(cell.placement for cell in cells))
    order = 0
    for choose, metric, case in product(choices, metrics, cases):
        if choose != choices[0] and metric in aside:
            continue
        open_ = "placement" in choose
        for placement in placements[:1] if open_ else placements:
            order += 1
            where = "" if len(placements) == 1 or open_ else formatting.where(placement) or "1 core"
            yield Row(
                title=_title(request, metric, case, where, choose if choose != choices[0] else ""),
                metric=metric,
                order=order,
                where=case,
                ranks=placement.ranks,
                threads=placement.threads,
                choose=choose,
                headline=choose == choices[0] and metric not in aside,
                placed=not open_,
            )


def _axes(cells: Sequence[Cell]) -> list[str]:
    """Return the axes that have more than one value in these cells."""
    seen: dict[str, set[object]] = {
        "variant": {c.program.variant for c in cells},
        "toolchain": {c.program.toolchain for c in cells},
        "mpi": {c.program.mpi for c in cells},
        "placement": {c.placement for c in cells},
        "bind": {c.external.bound for c in cells if c.external is not None and "bind" in c.values},
    }
    return [axis for axis, values in seen.items() if len(values) > 1]


def _title(request: BenchRequest, metric: str, case: dict[str, Value], where: str, axis: str) -> str:
    called = CALLED.get(metric, metric.replace("_", " "))
    head = f"{next(iter(request.commands))}: {called}" if len(request.commands) == 1 else called
    by = {"": "", "variant": "by command", "mpi": "by MPI library", "bind": "by binding"}.get(axis, f"by {axis}")
    return ", ".join(filter(None, [head, formatting.values(case.items()), where, by]))
