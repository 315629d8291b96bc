"""The runner: execute a run in these steps: discover, plan, build, launch in rounds, judge, report."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from firstlight import __version__
from firstlight.analysis import Judgement
from firstlight.analysis.overrides import of_run
from firstlight.core.errors import ENVIRONMENT, INTERRUPTED, UsageError
from firstlight.core.units import duration
from firstlight.model import catalogue
from firstlight.model.catalogue import Workload
from firstlight.model.plan import AS_IT_IS, EFFORT, Plan, Program, unfit
from firstlight.model.plan.settings import Setting, names_file
from firstlight.results import store
from firstlight.results.record import SCHEMA, Run
from firstlight.results.store import Store
from firstlight.results.store.documents import named, typed
from firstlight.runner import documents, environment, exit_status, forecast, guests
from firstlight.runner.forecast import Forecast
from firstlight.runner.interrupt import interruptible, leaving_nothing
from firstlight.runner.prepare import (
    Made,
    Prepared,
    RunRequest,
    discover,
    forecast_run,
    make,
    prepare,
)
from firstlight.runner.progress import Progress
from firstlight.runner.rounds import Rounds
from firstlight.runner.session import Session
from firstlight.system import site
from firstlight.system.machine import Machine
from firstlight.system.machine.neighbours import BESIDE, Neighbours, beside
from firstlight.toolchain import Toolbox

__all__ = [
    "Made",
    "Prepared",
    "Result",
    "RunRequest",
    "carry_out",
    "discover",
    "forecast_run",
    "make",
    "prepare",
    "resume",
    "run",
]


class Result(msgspec.Struct, frozen=True):
    """How a run ended: `line` says why it stopped, `code` is the exit status, `missing` what could not be written."""

    directory: Path
    report: Path | None  # None: it is not there
    judgement: Judgement
    workloads: dict[str, Workload]
    code: int
    line: str
    missing: str = ""


def run(order: RunRequest, progress: Progress) -> Result:
    """Execute a new run. Raises UsageError for what is not available here, BuildError if nothing could be built."""
    _writable(order.results)
    if order.name is not None:
        store.free_name(order.results, order.name)
    with _measuring(progress) as neighbours:
        try:
            with leaving_nothing():
                prepared = prepare(order, progress)
                ahead = forecast_run(prepared, order)
                _tell(ahead.forecast, progress)
                made = make(ahead.programs, prepared.toolbox, prepared.workloads, progress)
        except KeyboardInterrupt:
            progress.note(
                "stopped before the first launch: there is no run to resume; what is built is kept, start again"
            )
            raise
        return _new_run(replace(order, budget=ahead.budget), prepared, made, progress, neighbours)


@contextlib.contextmanager
def _measuring(progress: Progress) -> Iterator[Neighbours]:
    """Report other processes that measure on this node before the body begins: even a build disturbs them."""
    with beside() as neighbours:
        for process in neighbours.before:
            who = f" (process {process})" if process else ""
            progress.note(
                f"another firstlight measures on this node now{who}: the figures of both will be disturbed; "
                "stop one with Ctrl-C, --resume goes on with it later"
            )
        yield neighbours


def _tell(ahead: Forecast, progress: Progress) -> None:
    for line in filter(None, (forecast.summary(ahead), forecast.in_short(ahead))):
        progress.note(line)


def carry_out(order: RunRequest, prepared: Prepared, made: Made, progress: Progress) -> Result:
    """Execute a new run that is planned and built."""
    with _measuring(progress) as neighbours:
        return _new_run(order, prepared, made, progress, neighbours)


def _new_run(order: RunRequest, prepared: Prepared, made: Made, progress: Progress, neighbours: Neighbours) -> Result:
    new = _new(order, prepared, made)
    files = prepared.given.files
    with store.create(order.results, new, free=order.name is None, files=files) as opened:
        new = replace(new, id=opened.path.name)
        _keep_logs(opened, made)
        session = Session(opened, new, prepared.workloads, made.executables, progress, timeout=order.timeout)
        return _carry_out(session, new.budget, neighbours)


def _writable(results: Path) -> None:
    """Raise UsageError for a folder without write permission, before minutes of building."""
    there = next(p for p in (results.absolute(), *results.absolute().parents) if p.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(f"cannot write {results}; choose another folder with --results DIR")


def _new(order: RunRequest, prepared: Prepared, made: Made) -> Run:
    started = time.time()
    return Run(
        schema=SCHEMA,
        id=order.name or store.free_id(order.results, started, order.suite),
        started=started,
        finished=None,
        state="running",
        firstlight=__version__,
        revision=environment.revision(),
        command=("./fl", *_typed(order, prepared)),
        suite=order.suite,
        budget=EFFORT[order.suite].budget if order.budget is None else order.budget,
        launches=order.launches,
        precision=order.precision,
        seed=int(started * 1000) % 2**31,
        machine=prepared.machine,
        toolbox=prepared.toolbox,
        environment=environment.variables(),
        modules=environment.loaded(),
        cells=prepared.plan.cells,
        builds=made.builds,
        descriptions=made.descriptions,
        not_available=tuple(dict.fromkeys((*prepared.toolbox.absent, *prepared.plan.absent))),
        names=order.names,
        efforts=made.efforts,
        settings=prepared.settings,
        brought=prepared.brought,
        answered=prepared.answered,
    )


def _typed(order: RunRequest, prepared: Prepared) -> list[str]:
    """Return the command line with each file of a setting replaced by its bare name: its folder is private."""
    shown = dict(zip(map(str, order.settings), typed(prepared.given.values), strict=True))
    return [shown.get(word, word) for word in sys.argv[1:]]


def _keep_logs(opened: Store, made: Made) -> None:
    """Write the compiler output of every failed build, one file each."""
    for key, output in made.outputs.items():
        opened.keep_log(key, output)


def resume(
    path: Path,
    progress: Progress,
    budget: float | None = None,
    timeout: float | None = None,
    placements: Sequence[str] = (),
    settings: Sequence[Setting] = (),
) -> Result:
    """Resume a run: its cells, its seed, its executables. `budget`: additional seconds; None: what is left.

    `timeout` as in `RunRequest`: it is not part of a run. Cells with more threads than CPUs are launched if their suite
    has them here, or if `placements` names theirs. `settings`, if there are any, must be those of the run. Raises
    UsageError if the machine, the tools or the sources are no longer those of the run.
    """
    with store.resume(path) as opened, _measuring(progress) as neighbours:
        for note in opened.notes:
            progress.note(note)
        old = opened.run()
        workloads = of_run(catalogue.load(catalogue.roots()), old)
        _same_settings(old, settings)
        _harmless(old)
        guests.require_remembered(old)
        documents.require(path, old)
        wanted = {b.program: b.sha256 for b in old.builds if b.ok}
        _known(wanted, workloads)
        _same_modules(old)
        with leaving_nothing():
            here, toolbox = discover(progress)
            old = _same_machine(old, here, progress)
            _same_tools(old, toolbox)
            _listed(old, wanted, toolbox)
            old, refused = _fitting(old, workloads, toolbox, here, placements, progress)
            cells = [cell for cell in old.cells if cell.id not in refused]
            records = list(opened.records())
            used = exit_status.spent(records)
            left = old.budget - used if budget is None else budget
            if left <= 0:
                raise UsageError(
                    f"{path}: its budget of {duration(old.budget)} is spent; give it more with --budget 5m"
                )
            now = Prepared(here, toolbox, workloads, Plan(tuple(cells), ()))
            order = RunRequest(old.names, budget=left, launches=old.launches)
            ahead = forecast_run(now, order, Counter(r.start.cell for r in records))
            _tell(ahead.forecast, progress)
            more = _not_yet_built(old, ahead.programs, now)
            made = _made(old, [*wanted, *more], toolbox, workloads, progress)
        _same_executables(wanted, made)
        old = _with_builds(old, more, made)
        _keep_logs(opened, made)
        session = Session(opened, old, workloads, made.executables, progress, here, toolbox, timeout, refused)
        session.run = replace(old, budget=used + left)
        return _carry_out(session, left, neighbours)


def _made(
    old: Run, programs: Sequence[Program], toolbox: Toolbox, workloads: dict[str, Workload], progress: Progress
) -> Made:
    """Build the programs of a resumed run again; guests stay as they are."""
    visiting = guests.programs(old.cells)
    own = [program for program in programs if program not in visiting]
    made = make(own, toolbox, workloads, progress) if own else Made((), {}, {})
    there = tuple(b for b in guests.builds(old.cells) if b.program in programs)
    executables = {**made.executables, **{b.program: guests.OBSERVER for b in there}}
    return replace(made, builds=(*made.builds, *there), executables=executables)


def _carry_out(session: Session, budget: float, neighbours: Neighbours) -> Result:
    """Launch, then judge and report the existing launches, also after an interrupt and on a full disk."""
    rounds: Rounds | None = None
    full = ""
    if neighbours.before:
        session.warn(BESIDE)
    try:
        with interruptible():
            rounds = session.go(budget)
    except KeyboardInterrupt:
        session.progress.note("interrupted: writing the report of what is there")
    except store.StoreError as error:
        full = str(error)
    if neighbours.since():
        session.warn(BESIDE)
    session.progress.state.enter("report")
    session.progress.update()
    judgement, missing = session.conclude()
    directory = session.store.path
    page = directory / store.layout.REPORT
    return Result(
        directory=directory,
        report=None if missing and not page.is_file() else page,
        judgement=judgement,
        workloads=session.workloads,
        code=ENVIRONMENT if full or missing else _status(judgement, rounds),
        line=full or exit_status.why(judgement, session.workloads, rounds, directory),
        missing=missing,
    )


def _status(judgement: Judgement, rounds: Rounds | None) -> int:
    """Return the exit status. `rounds`: None if the run was interrupted."""
    return INTERRUPTED if rounds is None else exit_status.status(judgement, bool(rounds.unfinished()))


def _not_yet_built(run: Run, programs: Sequence[Program], now: Prepared) -> list[Program]:
    """Return the programs that an earlier session had no time to build, if their tools are unchanged."""
    built = {b.program for b in run.builds}
    before, here = _versions(run.toolbox), _versions(now.toolbox)
    known = [p for p in programs if p not in built and p.workload in now.workloads]
    return [
        p
        for p in known
        if all(name is None or (name in here and here[name] == before.get(name)) for name in (p.toolchain, p.mpi))
        and any(v.makes(p.variant) and not v.broken for v in now.workloads[p.workload].variants)
    ]


def _with_builds(run: Run, more: Sequence[Program], made: Made) -> Run:
    builds = (*run.builds, *(b for b in made.builds if b.program in more))
    descriptions = {**made.descriptions, **run.descriptions}
    return replace(run, builds=builds, descriptions=descriptions, efforts={**made.efforts, **run.efforts})


def _fitting(
    old: Run,
    workloads: dict[str, Workload],
    toolbox: Toolbox,
    here: Machine,
    placements: Sequence[str],
    progress: Progress,
) -> tuple[Run, set[str]]:
    """Return the run with its unavailable cells in `not_available`, and the ids of those cells.

    Raises UsageError if no cell is available here.
    """
    known = [cell for cell in old.cells if cell.program.workload in workloads]
    found = unfit(known, old.suite, old.names, workloads, toolbox, here, placements, old.settings)
    for absent in list(found.values())[:MOST_TOLD]:
        progress.note(f"not launched: {absent.what}: {absent.why}; {absent.fix}")
    if len(found) > MOST_TOLD:
        progress.note(f"not launched: {len(found) - MOST_TOLD} more like these; the report lists them")
    if known and len(found) == len(known):
        first = next(iter(found.values()))
        raise UsageError(f"run {old.id}: none of its cells fits this machine: {first.why}; {first.fix}")
    earlier = [absent for absent in old.not_available if absent.what not in {cell.id for cell in known}]
    return replace(old, not_available=(*earlier, *found.values())), set(found)


MOST_TOLD = 3


def _refuse(what: str) -> UsageError:
    return UsageError(f"{what}; its launches would not be comparable, start a new run with ./fl run")


OTHER_NODES = "resumed on other nodes of the same kind: its figures hold for the kind, not for one node"


def _same_machine(old: Run, here: Machine, progress: Progress) -> Run:
    """Return the run to resume; accept other nodes of the same kind, which a batch system may assign.

    Comparisons stay valid: a round launches every cell, so the other nodes affect all cells alike. Raises UsageError.
    """
    was = old.machine
    if (was.name, was.processor, was.cpus, was.nodes) == (here.name, here.processor, here.cpus, here.nodes):
        return old
    if not (was.batch and was.batch == here.batch and _kind(was) == _kind(here)):
        raise _refuse(f"run {old.id} was measured on another machine or with other CPUs")
    progress.note(OTHER_NODES)
    warnings = was.warnings if OTHER_NODES in was.warnings else (*was.warnings, OTHER_NODES)
    return replace(old, machine=replace(was, warnings=warnings))


def _kind(machine: Machine) -> tuple[object, ...]:
    """Return what two nodes must have in common to count as the same kind."""
    caches = tuple((c.level, c.size, len(c.shared_by)) for c in machine.caches)
    layout = (machine.sockets, machine.cores, len(machine.cpus), machine.threads_per_core, len(machine.numa))
    return machine.processor, machine.microarchitecture, machine.nodes, layout, caches


def _same_modules(old: Run) -> None:
    was, now = old.modules.modules if old.modules else (), site.wanted()[1]
    if was != now:
        again = f"--modules {','.join(was) or repr('')} run --resume {old.id}"
        raise UsageError(f"run {old.id} was begun with {', '.join(was) or 'no'} modules; go on with ./fl {again}")


def _same_tools(old: Run, toolbox: Toolbox) -> None:
    """Raise UsageError if a compiler or MPI library in use is absent or has another version."""
    used = {b.program.toolchain for b in old.builds if b.ok} | {b.program.mpi for b in old.builds if b.ok}
    now = _versions(toolbox)
    for name, version in _versions(old.toolbox).items():
        if name in used and now.get(name) != version:
            raise _refuse(f"{name} was {version} in run {old.id} and is {now.get(name, 'absent')} now")


def _versions(toolbox: Toolbox) -> dict[str, str]:
    return {t.name: t.version for t in toolbox.toolchains} | {m.name: m.version for m in toolbox.mpis}


_HARMLESS = re.compile(r"[a-z][a-z0-9_]*=[\w.,*?+-]+|--samples|--sample-seconds|--case-seconds|--threads|[0-9.e,+-]+")


_OF_GUEST = re.compile(r"[a-z][a-z0-9_]*=.*", re.DOTALL)


def _harmless(old: Run) -> None:
    """Raise UsageError for a suite, cell or argument in run.json that firstlight does not write, such as a path."""
    if old.suite not in EFFORT:
        raise UsageError(f"run {old.id}: its suite {old.suite[:80]!r} is none of {', '.join(EFFORT)}")
    kept = named(old.settings)
    for cell in old.cells:
        if not store.layout.CELL.fullmatch(cell.id):
            raise UsageError(f"run {old.id}: {cell.id[:80]!r} cannot name a cell; firstlight does not write it")
        for word, after in itertools.zip_longest(cell.arguments, cell.arguments[1:], fillvalue=""):
            if cell.guest is not None and _OF_GUEST.fullmatch(word):
                continue  # the word is only recorded: the guest has the command that is started
            files = {v for v in word.partition("=")[2].split(",") if names_file(v)} - kept
            if not _HARMLESS.fullmatch(word) or (word.startswith("--") and not _is_number(after)) or files:
                raise UsageError(f"run {old.id}: cell {cell.id[:80]!r} has an argument that firstlight does not write")


def _same_settings(old: Run, settings: Sequence[Setting]) -> None:
    """Raise UsageError if `settings` differ from those that the run was begun with; none are always accepted."""
    if not settings:
        return
    begun = {name: tuple(values) for some in old.settings.values() for name, values in some.items()}
    words = {name: {v for v in map(str, values) if names_file(v)} for name, values in begun.items()}
    now = documents.given(settings, words).values
    if now != begun:
        shown = " ".join(typed(begun)) or "no settings"
        changed = next(name for name in (*now, *begun) if now.get(name) != begun.get(name))
        raise UsageError(f"run {old.id} was begun with {shown}, and keeps that: {changed} is another; start a new run")


def _is_number(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False


def _known(wanted: dict[Program, str], workloads: dict[str, Workload]) -> None:
    for program in wanted:
        if program.workload not in workloads:
            raise _refuse(f"workload {program.workload!r} is no longer here")
        if not any(v.makes(program.variant) for v in workloads[program.workload].variants):
            raise _refuse(f"variant {program.target!r} is no longer here")


def _listed(old: Run, wanted: dict[Program, str], toolbox: Toolbox) -> None:
    """Raise UsageError if a program uses a tool that is absent, or that run.json does not list: no check covered it."""
    listed, here = _versions(old.toolbox), _versions(toolbox)
    for program in dict.fromkeys([*wanted, *(cell.program for cell in old.cells)]):
        for tool in (program.toolchain, program.mpi):
            if tool not in (None, AS_IT_IS) and (tool not in listed or (program in wanted and tool not in here)):
                raise _refuse(f"{program.key} needs {tool!r}, which run {old.id} does not list or is not here")


def _same_executables(wanted: dict[Program, str], made: Made) -> None:
    now = {b.program: b.sha256 for b in made.builds}
    changed = [program.key for program, sha256 in wanted.items() if now.get(program) != sha256]
    if changed:
        raise _refuse(f"{len(changed)} of {len(wanted)} programs have changed since, first {changed[0]}")
