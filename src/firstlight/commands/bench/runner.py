"""Turn a bench request into a plan and execute it as a run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from firstlight import runner
from firstlight.analysis import Judgement, stop
from firstlight.analysis.formatting import listing
from firstlight.analysis.verdict import Failed
from firstlight.commands.bench import building, describing, planning, sources, startable
from firstlight.commands.bench.building import BuildResult
from firstlight.commands.bench.placeholders import BUILT, WRAPPERS, names
from firstlight.commands.bench.planning import Made
from firstlight.commands.bench.request import BenchRequest, quoted_operators
from firstlight.core.confidence import LAUNCHES
from firstlight.core.errors import BuildError
from firstlight.core.units import binary, count, parse_duration
from firstlight.execute.recorder import library
from firstlight.model import catalogue
from firstlight.model.catalogue.brought import together
from firstlight.model.plan import EFFORT, Cell, Plan, beside
from firstlight.model.plan.effort import EXTERNAL
from firstlight.results import store
from firstlight.results.record import Build
from firstlight.runner import copies, external_commands
from firstlight.runner.interrupt import leaving_nothing
from firstlight.runner.prepare import excerpt
from firstlight.runner.progress import Progress
from firstlight.system import machine
from firstlight.system.machine import counters
from firstlight.toolchain import Mpi, Toolbox

SHOWN = 5
"""Compiled files that a line names."""


def order(request: BenchRequest, results: Path, name: str | None) -> runner.RunRequest:
    """Return the run request. Raises UsageError for a budget or timeout that is not a time."""
    effort = EFFORT[EXTERNAL]
    return runner.RunRequest(
        suite=EXTERNAL,
        budget=parse_duration(request.budget, "budget") if request.budget else effort.budget,
        launches=LAUNCHES if request.launches is None else request.launches,
        results=results,
        timeout=parse_duration(request.timeout, "timeout") if request.timeout else None,
        name=name,
        precision=min(stop.PRECISION, request.threshold / 2 or stop.PRECISION),
    )


def prepare(
    request: BenchRequest, folder: Path, progress: Progress, limit: float | None, folders: Mapping[str, Path]
) -> tuple[runner.Prepared, runner.Made]:
    """Discover the machine, plan the run and build its programs. Raises UsageError and BuildError."""
    for word in planning.unknown(request):
        progress.note(f"{{{word}}} has no values and is passed literally; --sweep {word}=... sets values")
    for name, word in quoted_operators(request):
        progress.note(
            f"{name}: {word} is passed as an argument, because commands run without a shell; to use a shell: -- sh -c "
            f"'COMMAND'"
        )
    parallel = any(planning.launched(request, name) for name in request.commands) or not names(
        [request.build]
    ).isdisjoint(WRAPPERS)
    here, toolbox = runner.discover(progress, set_up=parallel)
    if (why := counters.missing(here.counters)) and not folders:
        progress.note(f"hardware counters: {why}")
    some = planning.choices(request, here, toolbox, folder)
    place = building.copies(folder, request.build, machine.cache_directory()) if request.build else folder
    if request.build:
        copies.mark(place)
    made = list(planning.ways(some, request.build, folder, place))
    recorders = _recorders(some.mpis, toolbox, machine.cache_directory()) if request.mpi_share else {}
    cells = planning.cells(request, some, made, recorders, folders, counters.events())
    brought = (describing.brought(request, cells, limit),)
    workloads = together(catalogue.load(catalogue.roots()), brought)
    ceilings = beside(cells, workloads, toolbox, here)
    plan = Plan((*cells, *ceilings.cells), (*some.absent, *ceilings.absent))
    prepared = runner.Prepared(here, toolbox, workloads, plan, brought=brought)
    built = _built(request, made, cells, folder, progress)
    if any(outcome.seconds for outcome in built.values()):
        _make_room(progress)
    mine = _made(cells, request, built)
    if not ceilings.cells:
        return prepared, mine
    theirs = runner.make(ceilings.programs, toolbox, workloads, progress)
    return prepared, _together(mine, theirs)


def _make_room(progress: Progress) -> None:
    """Remove old copies of sources to make space for new ones, and report it."""
    gone = copies.shrink(machine.cache_directory())
    if gone.copies:
        some = f"{count(gone.copies, 'copy', 'copies')} of earlier sources, {binary(gone.bytes)}"
        progress.note(f"removed from the cache: {some}; their runs cannot be resumed")
    if gone.error:
        progress.note(f"old sources cannot be removed from the cache: {gone.error}")


def _recorders(mpis: Sequence[Mpi | None], toolbox: Toolbox, cache: Path) -> dict[str, str]:
    """Build the profiler's library for each MPI library; return the paths by MPI library. Raises BuildError."""
    cxx = toolbox.toolchains[0].cxx if toolbox.toolchains else None
    return {mpi.name: str(library.build(mpi, cxx, cache)) for mpi in mpis if mpi is not None}


def _together(a: runner.Made, b: runner.Made) -> runner.Made:
    return runner.Made(
        builds=(*a.builds, *b.builds),
        executables=a.executables | b.executables,
        descriptions=a.descriptions | b.descriptions,
        outputs=a.outputs | b.outputs,
        efforts=a.efforts | b.efforts,
    )


def _built(
    request: BenchRequest, made: Sequence[Made], cells: Sequence[Cell], folder: Path, progress: Progress
) -> dict[Path, BuildResult]:
    """Build each copy of the folder and return the results by copy. Raises BuildError if nothing could be built."""
    found: dict[Path, BuildResult] = {}
    for one in made if request.build else ():
        tools = [one.toolchain.name, one.toolchain.version] if one.toolchain is not None else []
        tools += [one.mpi.label] if one.mpi is not None else []
        progress.state.enter("build", one.folder.name)
        progress.state.done, progress.state.total = len(found), len(made)
        progress.update()
        values = building.known(one.toolchain, one.mpi)
        lacking = sorted(names([request.build]) & {*BUILT, *WRAPPERS} - values.keys())
        if lacking:
            found[one.folder] = BuildResult(0.0, f"error: {{{lacking[0]}}}: {' with '.join(tools)} has no such tool")
            continue
        variables = building.environment(one.toolchain, one.mpi)
        commands = {
            c.program.variant: c.external.command for c in cells if c.external and c.external.folder == str(one.folder)
        }
        found[one.folder] = outcome = building.make(
            request.build,
            values,
            folder,
            one.folder,
            variables,
            " ".join([*tools, *values.values(), building.key(variables)]),
            commands,
        )
        if outcome.error:
            progress.note(f"does not build: {one.folder.name}")
        for name, why in outcome.flaws.items():
            progress.note(f"not measured: {name} of {one.folder.name}: {why}")
    _note_reused(request, found, progress)
    if any(result.error or result.flaws for result in found.values()) and (old := sources.old_files(folder)):
        progress.note(f"--build does not copy compiled files, so the build must create these: {_some(old)}")
    if given := list(dict.fromkeys(name for result in found.values() for name in result.given)):
        progress.note(f"the build did not create these files, but may link them with any toolchain: {_some(given)}")
    reasons = [(copy, outcome.of(name)) for copy, outcome in found.items() for name in request.commands]
    if reasons and all(why for _, why in reasons):
        copy, first = reasons[0]
        raise BuildError(
            f"no program could be built; the first error:\n{excerpt(first, 2000, str(building.log(copy)))}"
        )
    return found


def _some(names: Sequence[str]) -> str:
    return f"{', '.join(names[:SHOWN])}{', ...' if len(names) > SHOWN else ''}"


def _note_reused(request: BenchRequest, results: Mapping[Path, BuildResult], progress: Progress) -> None:
    """Report the stored builds that are used again: their recipe may read files outside of the folder."""
    by_time: dict[str, list[str]] = {}
    for copy in (copy for copy, r in results.items() if not (r.seconds or r.error or r.flaws)):
        built = time.strftime("%d %b %Y %H:%M", time.localtime(building.built_at(copy))).lstrip("0")
        by_time.setdefault(built, []).append(copy.name)
    if by_time:
        some = "; ".join(f"{listing(copies)}, built {built}" for built, copies in by_time.items())
        progress.note(
            f"reused builds: {listing(list(request.commands))} with {some}; changes outside the folder are not "
            f"detected; to rebuild, remove {next(iter(results)).parent}"
        )


def _made(cells: Sequence[Cell], request: BenchRequest, outcomes: Mapping[Path, BuildResult]) -> runner.Made:
    """Return the records of the programs, built or already there. Raises UsageError if one cannot be started."""
    outcome = {
        c.program: outcomes.get(Path(c.external.folder), BuildResult(0.0, "")) for c in cells if c.external is not None
    }
    outputs = {p.key: why for p, o in outcome.items() if (why := o.of(p.variant))}
    good = [c for c in cells if c.external is not None and not outcome[c.program].of(c.program.variant)]
    for cell in good:
        if cell.external is not None:
            startable.require(cell.external)
    there = external_commands.builds(good, {p: o.seconds for p, o in outcome.items()})
    failed = [
        Build(p, ok=False, seconds=o.seconds, error=excerpt(why, 4000, f"builds/{p.key}.log"))
        for p, o in outcome.items()
        if (why := o.of(p.variant))
    ]
    executables = {b.program: external_commands.OBSERVER for b in there}
    return runner.Made((*there, *failed), executables, describing.descriptions(request, cells), outputs)


def run(
    request: BenchRequest,
    folder: Path,
    results: Path,
    name: str | None,
    progress: Progress,
    limit: float | None = None,
    folders: Mapping[str, Path] = {},
) -> runner.Result:
    """Execute a request as a run. `folder`: where commands are started, `folders`: where some of them are, by name.

    `limit`: that of the gate, stored with the run. Raises UsageError and BuildError.
    """
    asked = order(request, results, name)
    if name is not None:
        store.free_name(results, name)
    with leaving_nothing():
        prepared, made = prepare(request, folder, progress, limit, folders)
    external_commands.remember(prepared.plan.cells)
    return runner.carry_out(asked, prepared, made, progress)


def failures(judgement: Judgement) -> list[str]:
    """Return one line for each command that failed, with the first reason."""
    reasons: dict[str, str] = {}
    for figure in judgement.figures:
        if isinstance(figure, Failed):
            reasons.setdefault(figure.identity.variant, figure.reason)
    return [f"{variant} failed: {reason}" for variant, reason in reasons.items()]
