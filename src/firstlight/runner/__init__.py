"""The runner: execute a run in these steps: discover, plan, build, launch in rounds, judge, report."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from firstlight import __version__
from firstlight.analysis import Judgement
from firstlight.analysis.overrides import of_run
from firstlight.core.errors import ENVIRONMENT, INTERRUPTED, UsageError
from firstlight.core.units import duration
from firstlight.model import catalogue
from firstlight.model.catalogue import Workload
from firstlight.model.plan import EFFORT, Cell, Plan, Program
from firstlight.model.plan.settings import Setting
from firstlight.results import store
from firstlight.results.record import SCHEMA, Run
from firstlight.results.store import Store
from firstlight.results.store.documents import named_settings
from firstlight.runner import (
    documents,
    energy,
    environment,
    exit_status,
    external_commands,
    forecast,
    preview,
    resuming,
)
from firstlight.runner.forecast import Forecast
from firstlight.runner.interrupt import interruptible, leaving_nothing
from firstlight.runner.prepare import (
    Made,
    Prepared,
    RunForecast,
    RunRequest,
    discover,
    forecast_run,
    make,
    named_storage,
    prepare,
    with_storage,
)
from firstlight.runner.progress import Progress
from firstlight.runner.rounds import Rounds
from firstlight.runner.session import Session
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
    """How a run ended: `line`: why it stopped, `code` is the exit status, `missing` what could not be written."""

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
                first, made = _build(order, prepared, ahead, progress)
        except KeyboardInterrupt:
            progress.note(
                "stopped before the first launch, so there is no run to resume; start again, the built programs are "
                "kept"
            )
            raise
        order = replace(order, budget=ahead.budget)
        return _new_run(order, prepared, made, progress, neighbours, first)


class Preview(NamedTuple):
    """The cells of the first page, which are launched before the rest of `programs` is built."""

    cells: Sequence[Cell]
    programs: Sequence[Program]


def _build(
    order: RunRequest, prepared: Prepared, ahead: RunForecast, progress: Progress
) -> tuple[Preview | None, Made]:
    """Build the programs of the preview, or all programs if there is none."""
    toolbox, workloads = prepared.toolbox, prepared.workloads
    if first := preview.cells(prepared, order, ahead):
        made = make(list(dict.fromkeys(c.program for c in first)), toolbox, workloads, progress, required=False)
        if made.executables:
            return Preview([c for c in first if c.program in made.executables], ahead.programs), made
    return None, make(ahead.programs, toolbox, workloads, progress)


@contextlib.contextmanager
def _measuring(progress: Progress) -> Iterator[Neighbours]:
    """Report other processes that measure on this node before the body begins: even a build disturbs them."""
    with beside() as neighbours:
        for process in neighbours.before:
            who = f" (process {process})" if process else ""
            progress.note(
                f"another firstlight process is measuring on this node{who}, and the two will disturb each other's "
                f"figures; stop one with Ctrl-C and continue it later with --resume"
            )
        yield neighbours


def _tell(ahead: Forecast, progress: Progress) -> None:
    for line in filter(None, (forecast.summary(ahead), forecast.in_short(ahead))):
        progress.note(line)


def carry_out(order: RunRequest, prepared: Prepared, made: Made, progress: Progress) -> Result:
    """Execute a new run that is planned and built."""
    with _measuring(progress) as neighbours:
        return _new_run(order, prepared, made, progress, neighbours)


def _new_run(
    order: RunRequest,
    prepared: Prepared,
    made: Made,
    progress: Progress,
    neighbours: Neighbours,
    ahead: Preview | None = None,
) -> Result:
    measured, source = energy.begin(energy.discover()) if not prepared.machine.emulated else (None, None)
    new = replace(_new(order, prepared, made), energy=measured)
    files = prepared.given.files
    with store.create(order.results, new, free=order.name is None, files=files) as opened:
        new = replace(new, id=opened.path.name)
        _keep_logs(opened, made)
        places = named_storage(order.storage)
        session = Session(
            opened,
            new,
            prepared.workloads,
            made.executables,
            progress,
            timeout=order.timeout,
            source=source,
            storage=places,
        )
        return _carry_out(
            session, new.budget, neighbours, (lambda: _preview(session, ahead, prepared)) if ahead else None
        )


def _preview(session: Session, ahead: Preview, prepared: Prepared) -> float:
    """Launch the cells of the first page, then build all other programs. Returns the seconds of launching."""
    try:
        session.preview(ahead.cells, preview.SHARE * session.run.budget)
        session.progress.note(
            f"first page: {session.store.path / store.layout.REPORT}; building and measuring continues"
        )
        built = {b.program for b in session.run.builds}
        more = [p for p in ahead.programs if p not in built]
        with leaving_nothing():
            made = make(more, prepared.toolbox, prepared.workloads, session.progress, required=False)
        _keep_logs(session.store, made)
        session.add(_with_builds(session.run, more, made), made.executables)
        return exit_status.spent(session.records)
    except BaseException:
        session.interrupted()
        raise


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
        environment=environment.variables(
            external=bool(prepared.brought),
            placed=any(cell.external.placed for cell in prepared.plan.cells if cell.external is not None),
        ),
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
    shown = dict(zip(map(str, order.settings), named_settings(prepared.given.values), strict=True))
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
    storage: Mapping[str, Path] = {},
) -> Result:
    """Resume a run: its cells, its seed, its executables. `budget`: additional seconds; None: what is left.

    `timeout` as in `RunRequest`: it is not part of a run. Cells with more threads than CPUs are launched if their suite
    has them here, or if `placements` names theirs. `settings`, if there are any, must be those of the run. `storage`:
    directories that the user names, by target: run.json contains no paths. Raises UsageError if the machine, the tools
    or the sources are no longer those of the run.
    """
    with store.resume(path) as opened, _measuring(progress) as neighbours:
        for note in opened.notes:
            progress.note(note)
        old = opened.run()
        workloads = of_run(catalogue.load(catalogue.roots()), old)
        resuming.same_settings(old, settings)
        resuming.harmless(old)
        external_commands.require_remembered(old)
        documents.require(path, old)
        wanted = {b.program: b.sha256 for b in old.builds if b.ok}
        resuming.known(wanted, workloads)
        resuming.same_modules(old)
        with leaving_nothing():
            here, toolbox = discover(progress)
            here = with_storage(here, path.parent, storage)
            old = resuming.same_machine(old, here, progress)
            resuming.same_tools(old, toolbox)
            resuming.listed(old, wanted, toolbox)
            old, refused = resuming.fitting(old, workloads, toolbox, here, placements, progress)
            cells = [cell for cell in old.cells if cell.id not in refused]
            records = list(opened.records())
            used = exit_status.spent(records)
            left = old.budget - used if budget is None else budget
            if left <= 0:
                raise UsageError(f"{path}: the budget of {duration(old.budget)} is used up; extend it with --budget 5m")
            descriptions = tuple(old.descriptions.values())
            now = Prepared(here, toolbox, workloads, Plan(tuple(cells), ()), descriptions=descriptions)
            order = RunRequest(old.names, budget=left, launches=old.launches)
            ahead = forecast_run(now, order, Counter(r.start.cell for r in records), old.builds)
            _tell(ahead.forecast, progress)
            more = resuming.not_yet_built(old, ahead.programs, now)
            made = _made(old, [*wanted, *more], toolbox, workloads, progress)
        resuming.same_executables(wanted, made)
        old = _with_builds(old, more, made)
        _keep_logs(opened, made)
        source = energy.again(old.energy, energy.discover())
        session = Session(
            opened,
            old,
            workloads,
            made.executables,
            progress,
            here,
            toolbox,
            timeout,
            refused,
            source,
            named_storage(storage),
        )
        session.run = replace(old, budget=used + left)
        return _carry_out(session, left, neighbours)


def _made(
    old: Run, programs: Sequence[Program], toolbox: Toolbox, workloads: dict[str, Workload], progress: Progress
) -> Made:
    """Build the programs of a resumed run again; external commands stay as they are."""
    visiting = external_commands.programs(old.cells)
    own = [program for program in programs if program not in visiting]
    made = make(own, toolbox, workloads, progress) if own else Made((), {}, {})
    there = tuple(b for b in external_commands.builds(old.cells) if b.program in programs)
    executables = {**made.executables, **{b.program: external_commands.OBSERVER for b in there}}
    return replace(made, builds=(*made.builds, *there), executables=executables)


def _carry_out(
    session: Session, budget: float, neighbours: Neighbours, first: Callable[[], float] | None = None
) -> Result:
    """Launch, then judge and report the existing launches, also after an interrupt and on a full disk.

    `first` is called before the rounds, and returns the seconds of the budget that it used.
    """
    rounds: Rounds | None = None
    full = ""
    if neighbours.before:
        session.warn(BESIDE)
    try:
        with interruptible():
            rounds = session.go(budget - (first() if first else 0.0))
    except KeyboardInterrupt:
        session.progress.note("interrupted: writing the report of the finished launches")
    except external_commands.ChangedError as error:
        full = str(error)
        session.warn(full)
    except store.StoreError as error:
        full = str(error)
    if neighbours.since():
        session.warn(BESIDE)
    session.progress.state.enter("report")
    session.progress.state.last = ""
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


def _with_builds(run: Run, more: Sequence[Program], made: Made) -> Run:
    builds = (*run.builds, *(b for b in made.builds if b.program in more))
    descriptions = {**made.descriptions, **run.descriptions}
    return replace(run, builds=builds, descriptions=descriptions, efforts={**made.efforts, **run.efforts})
