"""The preparation of a run: discover the machine, plan the cells, build the executables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from firstlight import toolchain
from firstlight.analysis import stop
from firstlight.analysis.overrides import Replaced, apply_settings, replaced
from firstlight.core.confidence import LAUNCHES
from firstlight.core.errors import BuildError, UsageError
from firstlight.core.units import count, duration
from firstlight.execute import build
from firstlight.execute.build import Built
from firstlight.execute.build.assembly import widths
from firstlight.execute.build.effort import Effort, efforts
from firstlight.model import catalogue
from firstlight.model.catalogue import Value, Workload
from firstlight.model.catalogue.brought import Brought
from firstlight.model.plan import EFFORT, Cell, Plan, Program, plan, select, suite_of
from firstlight.model.plan.arguments import is_pattern
from firstlight.model.plan.settings import Defaults, Setting, Settings
from firstlight.report import wording
from firstlight.results.description import Description
from firstlight.results.record import Build, TunedDefault
from firstlight.runner import agenda, costs, parameters, tuned_defaults
from firstlight.runner.agenda import Item, Rank
from firstlight.runner.costs import Costs
from firstlight.runner.documents import Given
from firstlight.runner.forecast import Forecast, forecast
from firstlight.runner.progress import Progress
from firstlight.system import machine, site
from firstlight.system.machine import Machine, hardware, storage
from firstlight.toolchain import Toolbox

IN_RESERVE = 1.5
"""Programs are built for this many times the budget: launches may be shorter than estimated."""


class RunRequest(msgspec.Struct, frozen=True):
    """What the user requests. `budget` in seconds of launching, `timeout` of one launch; None: those of the suite."""

    names: tuple[str, ...] = ()
    suite: str = "quick"
    budget: float | None = None
    toolchains: tuple[str, ...] = ("*",)
    mpis: tuple[str, ...] = ("*",)
    launches: int = LAUNCHES
    results: Path = Path("results")
    timeout: float | None = None
    placements: tuple[str, ...] = ()  # of every MPI program, instead of the suite's
    name: str | None = None  # of the run; None: made from the time
    settings: tuple[Setting, ...] = ()  # of parameters of what is named
    precision: float = stop.PRECISION  # relative half-width of the intervals that are narrow enough
    storage: dict[str, Path] = {}  # directories that the user names, by target of storage


class Prepared(msgspec.Struct, frozen=True):
    """What is here and what will be launched. `settings`: by workload, what the user set; `given`: the same, read.
    `brought`: those of the workloads that are in no folder. `answered`: parameters that took what was found before.
    `descriptions`: of workloads whose parameters the user or a pattern sets, as far as a program of them is built.
    """

    machine: Machine
    toolbox: Toolbox
    workloads: dict[str, Workload]
    plan: Plan
    settings: dict[str, dict[str, tuple[Value, ...]]] = {}
    given: Given = Given({}, ())
    brought: tuple[Brought, ...] = ()
    answered: tuple[TunedDefault, ...] = ()
    descriptions: tuple[Description, ...] = ()


class Made(msgspec.Struct, frozen=True):
    """The builds as recorded, the executables of those that succeeded, and their descriptions of themselves.

    `outputs`: the build output of each program that failed to build, by its key. `efforts`: what each variant adds to
    the serial one of its workload.
    """

    builds: tuple[Build, ...]
    executables: dict[Program, Path]
    descriptions: dict[str, Description]
    outputs: dict[str, str] = {}
    efforts: dict[str, Effort] = {}


def discover(progress: Progress, set_up: bool = True) -> tuple[Machine, Toolbox]:
    """Return this machine and its toolchains. With `set_up`, install MPI libraries once if the system has none."""
    progress.state.enter("look", "detecting compilers, MPI and numerical libraries")
    progress.update()
    promised = site.current().site.hardware
    found = msgspec.structs.replace(machine.discover(), label=site.name())
    found = hardware.promised(found, promised.clock, promised.memory)
    here = toolchain.played(found, machine.cache_directory())
    return here, toolchain.discover(here, machine.cache_directory(), embed_mpi=set_up, say=progress.note)


def with_storage(here: Machine, results: Path, given: Mapping[str, Path]) -> Machine:
    """Return the machine with its targets of storage, those that the user names first."""
    return msgspec.structs.replace(here, storage=storage.describe(storage.locate(results, named_storage(given))))


def named_storage(given: Mapping[str, Path]) -> dict[str, Path]:
    """Return the directories of the command line, then those of the site file. Raises UsageError for a wrong one."""
    of_site = {n: site.folder(text) for n, text in site.current().site.storage.items() if n not in given}
    return {**given, **{name: storage.check(name, Path(folder)) for name, folder in of_site.items()}}


def prepare(order: RunRequest, progress: Progress, set_up: bool = True) -> Prepared:
    """Discover this machine and plan. Raises UsageError for what is not available, BuildError for an empty plan."""
    workloads = catalogue.load(catalogue.roots())
    chosen = select(workloads, order.names)  # reports a misspelt name before the machine is searched
    named = [workloads[name] for name in chosen] if order.names else []
    given = parameters.read(order.settings, named, workloads.values())  # and so is a file that is not there
    here, toolbox = discover(progress, set_up)
    here = with_storage(here, order.results, order.storage)

    def planning(settings: Settings, defaults: Defaults, without: Replaced) -> Plan:
        patterns = (order.toolchains, order.mpis, order.placements)
        return plan(order.suite, workloads, order.names, toolbox, here, *patterns, settings, defaults, without)

    planned, settings, without = planning({}, {}, {}), {}, {}
    may_build = set_up and bool(order.names)  # the first page of a whole suite does not wait for these
    asked = parameters.to_ask(planned, chosen if given.values else _with_patterns(planned.cells))
    answers = _ask(asked, toolbox, workloads, progress, may_build)
    descriptions = parameters.described(answers)
    if given.values:
        settings = parameters.shared(given.values, named, descriptions)
        without = replaced(settings, descriptions.values())
        parameters.refuse_replaced(settings, without, descriptions)
        planned = planning(settings, parameters.defaults(descriptions), without)
        parameters.refuse(planned.cells, answers, given, toolbox)
        names = [w.name for w in named]
        for line in (*parameters.elsewhere(settings, names), *parameters.unsure(settings, named, descriptions)):
            progress.note(line)
    if not planned.cells:
        reasons = "; ".join(f"{a.what}: {a.why} ({a.fix})" for a in planned.absent[:3])
        raise BuildError(
            f"nothing to launch: {reasons or 'the suite contains no such program for this machine'}; see ./fl doctor"
        )
    for workload in (workloads[n] for n in order.names if n in workloads):
        if (other := suite_of(workload, order.suite)) != order.suite:
            progress.note(
                f"{workload.name} has no {order.suite} suite: its --{other} cases run with the shorter samples of "
                f"--{order.suite}"
            )
    planned, answered = tuned_defaults.answered(planned, workloads, toolbox, here, order.results)
    for line in wording.answered(answered, toolbox):
        progress.note(line)
    prepared = Prepared(
        here,
        toolbox,
        apply_settings(workloads, settings, without),
        planned,
        settings,
        given,
        answered=answered,
        descriptions=tuple(descriptions.values()),
    )
    if order.placements and (others := [c for c in planned.cells if not c.program.mpi]):
        progress.note(
            f"--placement affects only MPI programs: {len(others)} of {count(len(planned.cells), 'cell')} use no MPI"
        )
    if order.timeout is not None:
        _long_enough(order.timeout, prepared, progress)
    return prepared


def _with_patterns(cells: Iterable[Cell]) -> set[str]:
    """Return the workloads of cells that set a parameter with a pattern: their programs know what it matches."""
    return {c.program.workload for c in cells if any(is_pattern(v) for some in c.values.values() for v in some)}


def _ask(
    programs: Sequence[Program], toolbox: Toolbox, workloads: dict[str, Workload], progress: Progress, may_build: bool
) -> dict[Program, Built]:
    """Return programs that report their parameters: those that are built, or with `may_build` all that build."""
    cache = machine.cache_directory()
    if not programs or not may_build:
        return build.known(programs, toolbox, workloads, cache)
    built = build.build(programs, toolbox, workloads, cache, _shown(progress))
    return {program: one for program, one in built.items() if not one.error}


def _shown(progress: Progress) -> build.Progress:
    def shown(done: int, total: int, text: str) -> None:
        progress.state.enter("build", text)
        progress.state.done, progress.state.total = done, total
        progress.update()

    return shown


def _long_enough(timeout: float, prepared: Prepared, progress: Progress) -> None:
    """Report launches that may exceed the time limit, before any build. Raises UsageError if all of them do."""
    known = costs_of(prepared)
    cells = prepared.plan.cells
    late = [cell for cell in cells if known.of(cell) > timeout]
    if not late:
        return
    longest = max(late, key=known.of)
    most = f"{longest.id} lasts about {duration(known.of(longest))}"
    if len(late) == len(cells):
        raise UsageError(f"no launch can end within --timeout {duration(timeout)}: {most}; use a longer --timeout")
    what = f"{len(late)} of {count(len(cells), 'cell')}"
    progress.note(f"--timeout {duration(timeout)} is expected to kill the launches of {what}: {most}")


def costs_of(prepared: Prepared, builds: Sequence[Build] = ()) -> Costs:
    """Return the durations of launches: measured by earlier runs, otherwise estimated."""
    known, gpus = costs.load(machine.cache_directory()), bool(prepared.machine.gpus)
    return Costs(prepared.workloads, known, gpus, builds, prepared.descriptions)


class RunForecast(NamedTuple):
    """The forecast for `budget` seconds of launching, and the programs that the run may launch."""

    forecast: Forecast
    programs: list[Program]
    budget: float


def forecast_run(
    prepared: Prepared, order: RunRequest, had: Mapping[str, int] = {}, builds: Sequence[Build] = ()
) -> RunForecast:
    """Forecast the run before anything is built. `had`: launches that cells already have; `builds`: what is built."""
    known, cells = costs_of(prepared, builds), prepared.plan.cells
    workloads, here = prepared.workloads, prepared.machine
    named = agenda.named(workloads, order.names, (one.name for one in prepared.brought))
    wanted = agenda.ranked(cells, workloads, here, prepared.toolbox, known.of, named)
    compared = agenda.comparisons(cells, workloads, prepared.toolbox)
    items = [
        Item(
            c,
            wanted[c.id],
            order.launches - had.get(c.id, 0),
            known.of(c),
            c.id in had,
            known.sure(c),
            compared.get(c.id, ""),
        )
        for c in cells
        if had.get(c.id, 0) < order.launches
    ]
    whole = {c.id for c in cells} - {i.cell.id for i in items}
    budget = _usual_budget(prepared, order, items) if order.budget is None else order.budget
    answering = any(wanted[name] is not Rank.CEILING for name in whole)
    ahead = forecast(items, whole, agenda.rows(cells, workloads, here, named), budget, answering)
    may = {i.cell.id for i in agenda.chosen(items, IN_RESERVE * budget)} or {c.id for c in cells}
    return RunForecast(ahead, list(dict.fromkeys(c.program for c in cells if c.id in may)), budget)


def _usual_budget(prepared: Prepared, order: RunRequest, items: Sequence[Item]) -> float:
    """Return the budget of the suite, or if the user names workloads, as much of it as their rows need."""
    effort = EFFORT[order.suite]
    if not order.names:
        return effort.budget
    opening = sum(i.need for i in items if i.rank in (*agenda.OPENING, Rank.CEILING))
    return effort.enough(len(select(prepared.workloads, order.names)), opening)


def make(
    programs: Sequence[Program],
    toolbox: Toolbox,
    workloads: dict[str, Workload],
    progress: Progress,
    required: bool = True,
) -> Made:
    """Build every program once.

    Raises BuildError with the output of the first compiler if none builds, unless `required` is false.
    """
    shown = _shown(progress)
    shown(0, len(programs), "")
    built = build.build(programs, toolbox, workloads, machine.cache_directory(), shown)
    outputs = {b.program.key: b.error for b in built.values() if b.error}
    room = max(LEAST_WORDS, min(MOST_WORDS, ALL_WORDS // max(1, len(outputs))))
    made = Made(
        builds=tuple(_record(b, room) for b in built.values()),
        executables={p: b.executable for p, b in built.items() if b.executable is not None and not b.error},
        descriptions=_descriptions(built.values()),
        outputs=outputs,
        efforts=efforts(programs, workloads),
    )
    failed = [b for b in made.builds if not b.ok]
    if required and not made.executables:
        key, words = next(iter(outputs.items()))
        raise BuildError(f"no program could be built; the first error, of {key}:\n{words}")
    for one in failed:
        key = one.program.key
        progress.note(f"does not build: {key}; the compiler's output is in builds/{key}.log of the run")
    return made


def _record(built: Built, room: int) -> Build:
    error = excerpt(built.error, room, f"builds/{built.program.key}.log")
    made = Build(built.program, not built.error, built.seconds, built.sha256, error, built.recipe, built.kernels)
    return msgspec.structs.replace(made, widths=_widths(built))


def _widths(built: Built) -> dict[str, int]:
    """Return the vector width of each kernel of a program with named kernels; {} without a disassembler."""
    if built.executable is None or not built.describe or not (names := parameters.describe(built).kernels):
        return {}
    found = widths(built.executable, names)
    return {} if isinstance(found, str) else found


MOST_WORDS, LEAST_WORDS, ALL_WORDS = 4000, 300, 1 << 20
"""Characters of build output in run.json: maximum and minimum per build, and for all; a file per build has all."""


def excerpt(output: str, room: int, place: str) -> str:
    """Return about `room` characters of a compiler's output from its first error on, and the place of the rest."""
    if len(output) <= room:
        return output
    lines = output.splitlines()
    first = next((k for k, line in enumerate(lines) if "error" in line.lower()), 0)
    return "\n".join(lines[first:])[:room].rstrip() + f"\n[complete output: {place}]\n"


def _descriptions(built: Iterable[Built]) -> dict[str, Description]:
    """Return descriptions by `workload.variant`, the first of each: all toolchains build the same sources."""
    found: dict[str, Description] = {}
    for one in built:
        if one.describe and one.program.target not in found:
            found[one.program.target] = parameters.describe(one)
    return found
