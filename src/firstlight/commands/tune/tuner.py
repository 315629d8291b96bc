"""Tune the collectives of an MPI library: measure, choose, write its selection file, compare, keep the faster one."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec
from msgspec.structs import replace

from firstlight import __version__, runner
from firstlight.analysis import Judgement
from firstlight.analysis.figures import judge
from firstlight.analysis.roles import Player, missing, players
from firstlight.commands.tune import choosing, files
from firstlight.commands.tune.choosing import Begun, Candidate, Choice, Times
from firstlight.commands.tune.files import Written
from firstlight.commands.tune.planning import Place, Planned, Target, cell, first, places
from firstlight.commands.tune.setting import under
from firstlight.commands.tune.table import LIBRARY, table
from firstlight.core.confidence import LAUNCHES
from firstlight.core.errors import ENVIRONMENT, UsageError
from firstlight.core.roles import COLLECTIVE
from firstlight.core.units import count
from firstlight.model import catalogue
from firstlight.model.plan import Cell, Plan, Program
from firstlight.results import store
from firstlight.results.record import Build
from firstlight.results.store import StoreError
from firstlight.runner import Made, Prepared, Result, RunRequest
from firstlight.runner.progress import Progress
from firstlight.system.machine import cores
from firstlight.toolchain import Absent, Mpi

FIRST = 0.6
"""Share of the budget for the first measurement; the rest is for the trial."""
TRIALS = 12
"""Default number of launches of each side in a trial."""


class TuningRequest(msgspec.Struct, frozen=True):
    """What to tune. `sizes` in bytes; `budget` in seconds of launching, for both measurements together."""

    collectives: tuple[str, ...]
    sizes: tuple[int, ...]
    targets: tuple[Target, ...]
    budget: float
    mpis: tuple[str, ...] = ("*",)
    placements: tuple[str, ...] = ()
    toolchains: tuple[str, ...] = ("*",)
    results: Path = Path("results")
    output: Path | None = None
    launches: int = LAUNCHES
    trials: int = TRIALS
    measured: Path | None = None  # the run of an earlier tuning, instead of the first measurement


class Tuned(msgspec.Struct, frozen=True):
    """The result of a tuning: the runs of the measurement and the trial, every choice with its reason, and the
    files.
    """

    firstlight: str
    measured: str
    tried: str
    cases: int  # points that were measured
    choices: tuple[Choice, ...]
    files: tuple[Written, ...]
    absent: tuple[Absent, ...]
    interrupted: bool = False

    @property
    def kept(self) -> list[Choice]:
        return [c for c in self.choices if c.kept]


def tune(request: TuningRequest, progress: Progress) -> Tuned:
    """Measure, choose, try and write. Raises UsageError if something is missing, BuildError if a build fails."""
    player = _player()
    order = RunRequest(
        names=(player.library,),
        suite="standard",  # every library and placement is in it
        budget=FIRST * request.budget,
        toolchains=request.toolchains,
        mpis=request.mpis,
        launches=request.launches,
        results=request.results,
        placements=request.placements,
        name=store.free_id(request.results, time.time(), "tune"),
    )
    prepared = runner.prepare(order, progress)
    where = [p for p in places(prepared.plan.cells, prepared.toolbox, player) if not _crowded(p, prepared)]
    if not where:
        raise UsageError("every placement has more ranks than CPUs, and such figures are not ranked; use fewer ranks")
    planned = first(player, where, request.collectives, request.sizes, _ours(player, request), request.targets)
    wanted = _bases(planned.cells, planned) if request.measured is None else [p.program for p in where]
    made = runner.make(list(dict.fromkeys(wanted)), prepared.toolbox, prepared.workloads, progress)
    if request.measured is None:
        first_run = _whole(runner.carry_out(order, *_run(prepared, planned.cells, planned.mpis, made), progress))
        directory, judgement = first_run.directory, first_run.judgement
    else:
        directory, judgement = request.measured, _judged(request.measured, prepared, progress)
    measured = choosing.times(judgement.figures, player, prepared.machine)
    some = choosing.candidates(measured, planned.settings)
    points = _points(measured, where)
    absent = planned.absent + tuple(_left_out(planned.cells, judgement, where, player))
    stopped = judgement.run.state == "interrupted" and request.measured is None
    if not some or stopped:
        return Tuned(__version__, directory.name, "", len(points), (), (), absent, stopped)
    trial = _Trial(player, request, prepared, planned, where, made, points)
    place = store.new_folder(request.results / store.layout.TUNED, time.time(), "tune")  # in a run check would object
    tried, tuned, launched = trial.go(some, place / "candidates", progress)
    outcome = choosing.times(tried.judgement.figures, player, prepared.machine)
    choices = choosing.judged(some, outcome, tuned, launched)
    written = trial.write([c for c in choices if c.kept], request.output or place)
    return Tuned(
        __version__, directory.name, tried.directory.name, len(points), tuple(choices), tuple(written),
        absent, tried.judgement.run.state == "interrupted",
    )  # fmt: skip


def _whole(result: Result) -> Result:
    """Return the result of a measurement. Raises StoreError if it could not be written."""
    if result.code == ENVIRONMENT:
        raise StoreError(result.missing or result.line)
    return result


def _judged(path: Path, prepared: Prepared, progress: Progress) -> Judgement:
    """Judge the figures of an earlier measurement again: only the tuning knows the names of its settings.

    Print the files that were passed over.
    """
    opened = store.open(path)
    run = opened.run()
    if run.machine.name != prepared.machine.name:
        raise UsageError(f"run {run.id} was measured on another machine; measure here, without --run")
    records = list(opened.records())
    for defect in opened.defects:
        progress.note(f"skipped {defect}")
    return judge(run, records, prepared.workloads)


def _crowded(place: Place, prepared: Prepared) -> bool:
    p = place.placement
    return cores.crowded(p.ranks * p.threads, prepared.machine, p.nodes)


def _player() -> Player:
    """Return the first player that measures collectives here. Raises UsageError if there is none."""
    workloads = catalogue.load(catalogue.roots())
    known = players(workloads, COLLECTIVE)
    if not known:
        raise UsageError(missing(workloads, COLLECTIVE))
    return known[0]


def _ours(player: Player, request: TuningRequest) -> dict[str, list[str]]:
    """Return our variants by collective, as the workload's suites name them."""
    workload, role = player
    found: dict[str, list[str]] = {}
    for selections in workload.suites.values():
        for entry in selections:
            for variant in (v.name for v in workload.variants if not v.broken and v.name != role.library):
                if not any(fnmatchcase(variant, p) for p in entry.variants):
                    continue
                for collective in map(str, entry.parameters.get(role.operation, [])):
                    if collective in request.collectives and variant not in found.setdefault(collective, []):
                        found[collective].append(variant)
    return found


def _base(program: Program, names: Mapping[str, str]) -> Program:
    """Return the program that is built for this one: a setting changes only the environment."""
    return replace(program, mpi=names.get(program.mpi or "", program.mpi))


def _bases(cells: Sequence[Cell], planned: Planned) -> list[Program]:
    names = {m.name: m.setting for m in planned.mpis}
    return list(dict.fromkeys(_base(c.program, names) for c in cells))


def _run(prepared: Prepared, cells: Sequence[Cell], mpis: Sequence[Mpi], made: Made) -> tuple[Prepared, Made]:
    """Return the run of these cells: it includes libraries with settings, and programs under the names of both."""
    names = {m.name: m.setting for m in mpis}
    toolbox = replace(prepared.toolbox, mpis=(*prepared.toolbox.mpis, *mpis))
    built = {b.program: b for b in made.builds}
    wanted = list(dict.fromkeys(c.program for c in cells))
    builds: list[Build] = []
    executables: dict[Program, Path] = {}
    for program in wanted:
        base = _base(program, names)
        if base in built:
            builds.append(replace(built[base], program=program))
        if base in made.executables:
            executables[program] = made.executables[base]
    plan = Plan(tuple(cells), prepared.plan.absent)
    return replace(prepared, toolbox=toolbox, plan=plan), replace(made, builds=tuple(builds), executables=executables)


def _points(measured: Times, where: Sequence[Place]) -> dict[tuple[str, str, int], list[int]]:
    """Return the measured sizes by (MPI library, collective, ranks)."""
    bases = {p.mpi.name for p in where}
    found: dict[tuple[str, str, int], list[int]] = {}
    for mpi, algorithm, collective, ranks, size in measured:
        if mpi in bases and algorithm == LIBRARY:
            found.setdefault((mpi, collective, ranks), []).append(size)
    return found


def _left_out(cells: Sequence[Cell], judgement: Judgement, where: Sequence[Place], player: Player) -> Iterator[Absent]:
    """Yield the collectives that had no time for a launch with the library's own choice."""
    begun = {record.start.cell for record in judgement.records}
    labels = {p.program: p.mpi.label for p in where}
    for c in cells:
        if c.program in labels and c.id not in begun:
            what = f"{c.values[player.role.operation]}, {count(c.placement.ranks, 'rank')}, {labels[c.program]}"
            yield Absent(
                f"not tuned: {what}", "the budget was used up", "use a larger --budget, or tune fewer collectives"
            )


class _Trial(msgspec.Struct):
    """The second run: each library with its candidate file against the library as it is."""

    player: Player
    request: TuningRequest
    prepared: Prepared
    planned: Planned
    where: list[Place]
    made: Made
    points: dict[tuple[str, str, int], list[int]]

    def go(
        self, some: Sequence[Candidate], folder: Path, progress: Progress
    ) -> tuple[Result, dict[tuple[str, Target], str], set[Begun]]:
        """Run the trial; return its result, the tuned library's name by (MPI library, target), and what had time."""
        progress.state.enter("build", "files for the libraries")
        progress.update()
        written = self.write(some, folder)
        mpis = {p.mpi.name: p.mpi for p in self.where}
        tuned = {(w.mpi, w.target): _tuned(mpis[w.mpi], w) for w in written}
        cells: dict[str, Cell] = {}
        begins: dict[str, Begun] = {}
        for place in self.where:
            for collective in self.request.collectives:
                here = [c for c in some if self._at(c, place, collective)]
                sizes = sorted({c.case.bytes for c in here})
                names = [tuned[c.case.mpi, c.case.target].name for c in here]
                for name in dict.fromkeys([place.mpi.name, *names]) if here else ():
                    one = cell(self.player.role, replace(place.program, mpi=name), place.placement, collective, sizes)
                    cells[one.id] = one
                    begins[one.id] = (place.mpi.name, collective, place.placement.ranks)
        order = RunRequest(
            budget=self.request.budget * (1 - FIRST if self.request.measured is None else 1),
            launches=self.request.trials,
            results=self.request.results,
            name=store.free_id(self.request.results, time.time(), "trial"),
        )
        prepared, made = _run(self.prepared, list(cells.values()), list(tuned.values()), self.made)
        result = _whole(runner.carry_out(order, prepared, made, progress))
        launched = {begins[record.start.cell] for record in result.judgement.records}
        return result, {key: mpi.name for key, mpi in tuned.items()}, launched

    def _at(self, c: Candidate, place: Place, collective: str) -> bool:
        case = c.case
        return (case.mpi, case.collective, case.ranks) == (place.mpi.name, collective, place.placement.ranks)

    def write(self, some: Sequence[Candidate] | Sequence[Choice], folder: Path) -> list[Written]:
        """Write a file for every library and target with a choice."""
        mpis = {p.mpi.name: p.mpi for p in self.where}
        found = []
        for mpi, target in sorted({(c.case.mpi, c.case.target) for c in some}):
            mine = [c for c in some if (c.case.mpi, c.case.target) == (mpi, target)]
            points = {key[1:]: sizes for key, sizes in self.points.items() if key[0] == mpi}
            rules = table(choosing.choices(mine, points))
            found.append(files.write(folder, mpis[mpi], target, rules, files.words(self.planned.settings, mpi)))
        return found


def _tuned(mpi: Mpi, written: Written) -> Mpi:
    words = "tuned with its own file" if written.target == "rules" else "with the preloaded library"
    return under(mpi, f"{mpi.name}-tuned-{written.target}", words, files.variables(written))
