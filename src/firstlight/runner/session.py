"""The session: one run directory while it is being filled. Every launch is on the disk before the next begins."""

from __future__ import annotations

import math
import os
import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from firstlight.analysis import Judgement
from firstlight.analysis.compare import Comparison
from firstlight.analysis.figures import judge
from firstlight.analysis.stored import in_folder
from firstlight.core import shell
from firstlight.core.errors import RecordError
from firstlight.core.heritage import load as load_heritage
from firstlight.execute import launch
from firstlight.model.catalogue import Workload
from firstlight.model.plan import Cell, Program, effort
from firstlight.model.plan.runtime_estimate import launch_seconds
from firstlight.report import export
from firstlight.report.export import kept
from firstlight.results.record import LaunchRecord, Run, Start
from firstlight.results.states import RunState
from firstlight.results.store import Store, StoreError, durable, layout, lines, seal
from firstlight.results.store.disk import Folder
from firstlight.results.store.layout import FIGURES, REPORT
from firstlight.runner import agenda, costs, documents, energy, external_commands
from firstlight.runner.progress import Progress
from firstlight.runner.rounds import BUDGET, Rounds
from firstlight.system.energy import Source
from firstlight.system.machine import Machine, cache_directory
from firstlight.system.machine import storage as storage_places
from firstlight.toolchain import Toolbox

UPDATING = 0.05
"""The share of the time of the rounds in which the page may be written again."""
WRITING = 2.0
"""Seconds that writing the page may need, as long as it was not measured."""
LATE = 10.0
"""How many times its estimate a launch may last."""
SETTLE = 1.0
"""Seconds to wait: a batch system that ends a job may end its programs shortly before it signals firstlight."""


class Session:
    """The launches of the cells of `run` whose programs have an executable. It keeps run.json up to date."""

    def __init__(
        self,
        store: Store,
        run: Run,
        workloads: dict[str, Workload],
        executables: dict[Program, Path],
        progress: Progress,
        machine: Machine | None = None,
        toolbox: Toolbox | None = None,
        timeout: float | None = None,
        refused: Collection[str] = (),
        source: Source | None = None,
        storage: Mapping[str, Path] = {},
    ) -> None:
        """Read the existing launches. `machine` and `toolbox`: as found now, for a resumed run.json is not trusted.

        `timeout`: seconds after which a launch is killed; None: those of the suite, or LATE times its estimate if that
        is more. `refused`: ids of cells that are not started. `source`: measures the energy of launches. `storage`:
        directories that the user names, by target.
        """
        self.store, self.run, self.workloads, self.progress = store, run, workloads, progress
        self._executables, self._refused = executables, frozenset(refused)
        self._machine, self._toolbox = machine or run.machine, toolbox or run.toolbox
        self._timeout, self._source = timeout, source
        self._storage = storage_places.locate(store.path.parent, storage)
        self._watch = external_commands.Watch(run.builds, run.cells)
        self._saved = True  # whether run.json equals `run`
        self._page = time.monotonic(), WRITING  # when it was written, and in how many seconds
        self.records: list[LaunchRecord] = list(store.records())
        for defect in store.defects:
            progress.note(f"skipped: {defect}")

    def preview(self, cells: Sequence[Cell], budget: float) -> None:
        """Launch the cells of the first page as often as intervals need, and write the page."""
        known = self._costs()
        run, launch = replace(self.run, precision=math.inf), partial(self._launch, preview=True)
        Rounds(run, cells, launch, [], budget, self.progress, costs=known, stage="first page").go()
        costs.keep(cache_directory(), known.measured)
        self._write_page()

    def add(self, longer: Run, executables: dict[Program, Path]) -> None:
        """Go on with a run of more programs; `executables`: those that were built since."""
        self.run, self._executables = longer, {**self._executables, **executables}
        self._save("running")

    def interrupted(self) -> None:
        """Record that the run was stopped before its rounds."""
        self._save("interrupted")

    def _costs(self) -> costs.Costs:
        """Return the durations of launches that earlier runs measured."""
        known, descriptions = costs.load(cache_directory()), self.run.descriptions.values()
        return costs.Costs(self.workloads, known, bool(self._machine.gpus), self.run.builds, descriptions)

    def _update_page(self) -> None:
        """Write the page again, unless that would need more than UPDATING of the time since it was written."""
        written, seconds = self._page
        if (time.monotonic() - written) * UPDATING >= seconds:
            self._write_page()

    def _judged(self) -> Judgement:
        return judge(in_folder(self.run, self.store.path), self.records, self.workloads)

    def _write_page(self) -> None:
        began = time.monotonic()
        derive(self.store.folder, self._judged(), self.workloads)
        self._page = time.monotonic(), time.monotonic() - began

    def go(self, budget: float) -> Rounds:
        """Launch for at most `budget` seconds and write the state reached: complete, budget or interrupted.

        Raises KeyboardInterrupt after the launch in flight was ended and the state written.
        """
        wanted_here = [cell for cell in self.run.cells if cell.id not in self._refused]
        cells = [cell for cell in wanted_here if cell.program in self._executables]
        failed = {b.program for b in self.run.builds if not b.ok}
        later = [c for c in wanted_here if c.program not in self._executables and c.program not in failed]
        known = self._costs()
        named = agenda.named(self.workloads, self.run.names, (one.name for one in self.run.brought))
        wanted = agenda.ranked(cells, self.workloads, self.run.machine, self.run.toolbox, known.of, named)
        rounds = Rounds(
            self.run,
            cells,
            self._launch,
            [r for r in self.records if not r.start.preview],
            budget,
            self.progress,
            ranks=wanted,
            costs=known,
            later=later,
            comparisons=agenda.comparisons(cells, self.workloads, self.run.toolbox),
            finished=self._update_page,
        )
        self._save("running")
        self.store.forget(FIGURES)  # what an earlier stretch had derived is no longer so
        state: RunState = "interrupted"
        try:
            state = rounds.go()
        except external_commands.ChangedError:
            state = "changed"
            raise
        finally:
            self._save(state, rounds.missing() if state == BUDGET else None)
            if not self._machine.emulated:  # which does not show the time of launches here
                costs.keep(cache_directory(), known.measured)
        return rounds

    def warn(self, text: str) -> None:
        """Record once what may have disturbed all of the run."""
        machine = self.run.machine
        if text not in machine.warnings:
            self.run = replace(self.run, machine=replace(machine, warnings=(*machine.warnings, text)))
            self._saved = False

    def _save(self, state: RunState, missing: float | None = None) -> None:
        finished = None if state == "running" else time.time()
        self.run = replace(self.run, state=state, finished=finished, missing=missing, sealed=True)
        self._saved = False
        self.store.write_run(self.run)
        self._saved = True

    def _launch(self, cell: Cell, number: int, preview: bool = False) -> LaunchRecord:
        """Launch a cell in round `number`; the record is durable when this returns.

        Raises ChangedError if its program was replaced; no launch of the new program is kept.
        """
        self._watch.check(cell)
        executable, machine, toolbox = self._executables[cell.program], self._machine, self._toolbox
        count = self.store.next_launch(cell.id)
        part = self.store.part(cell.id, count)
        options = [*documents.option(self.store.path, self.run.settings), *energy.options(self._source)]
        places = self._places(cell)
        command = launch.command(
            cell, executable, toolbox, output=part, machine=machine, options=options, storage=places
        )
        if shell.call().verbose:
            self.progress.note(f"launch {count} of {cell.id}: {shell.line(command.words)}")
        load = os.getloadavg()[0]
        self.store.begin(Start(self.run.id, cell.id, count, number, time.time(), command.words, load, preview))
        try:
            with energy.read(self._source) as power:
                outcome = launch.launch(command, self._limit(cell), uuid.uuid4().hex)
            outcome = replace(outcome, power=tuple(power))
            if machine.batch and not outcome.ok:
                time.sleep(SETTLE)
            self._watch.check(cell)
        except BaseException:
            self.store.discard(part)
            raise
        self.store.finish(part, outcome)
        return self._read(cell, count)

    def _places(self, cell: Cell) -> dict[str, Path]:
        """Return the directories of the targets that the cell names."""
        workload = self.workloads.get(cell.program.workload)
        named = cell.values.get(workload.storage, ()) if workload and workload.storage else ()
        return {name: self._storage[name] for name in map(str, named) if name in self._storage}

    def _limit(self, cell: Cell) -> float:
        """Return the seconds after which a launch is killed: a user may set hundreds of cases for one launch."""
        if self._timeout is not None:
            return self._timeout
        workload = self.workloads.get(cell.program.workload)
        description = self.run.descriptions.get(cell.program.target)
        options = description.options if description else {}
        estimate = launch_seconds(cell, workload, options) if workload and cell.external is None else 0.0
        return max(effort(self.run.suite, self._machine).timeout, LATE * estimate)

    def _read(self, cell: Cell, count: int) -> LaunchRecord:
        path = self.store.path / layout.LAUNCHES / layout.launch_name(cell.id, count)
        reading = lines.read(layout.read_file(path, layout.MAX_LAUNCH_BYTES))
        if reading.record is None:
            raise RecordError(f"{path}: cannot be read back: {reading.defects[0][1]}")
        self.records.append(reading.record)
        return reading.record

    def conclude(self) -> tuple[Judgement, str]:
        """Judge the launches; write figures.json and report.html, and seal the run.

        Returns the judgement, and what could not be written (see `UnwrittenError`), "" if everything was.
        """
        judgement = self._judged()
        try:
            if not self._saved:
                self._save(self.run.state)
            table = derive(self.store.folder, judgement, self.workloads)
            path, defects = self.store.path, [str(defect) for defect in self.store.defects]
            if (now := kept.key(path)) is not None:
                kept.keep(path, judgement.run.id, defects, table, now)
        except StoreError as error:
            return judgement, str(error)
        return judgement, ""


def derive(
    folder: Folder, judgement: Judgement, workloads: dict[str, Workload], compared: Comparison | None = None
) -> list[export.Row]:
    """Write what is derived from a run, figures.json and report.html, and seal it. Returns the rows of figures.json.

    In a run that is sealed already, only these two lines of the seal are renewed. A run of a version without seals
    stays unsealed, because a seal must not cover unchecked files. Raises UnwrittenError if a step fails.
    """
    from firstlight.report import html

    run, launches = judgement.run, export.rows(judgement, launches=True)
    table = export.without_launches(launches)

    def page() -> str:
        return html.render(judgement, workloads, load_heritage(), compared, launches)

    steps: dict[str, Callable[[], None]] = {REPORT: lambda: folder.replace(REPORT, page().encode())}
    if run.state != "running":
        steps[FIGURES] = lambda: folder.replace(FIGURES, export.to_json(table).encode())
        if seal.exists(folder.path):
            steps[layout.SEAL] = lambda: seal.renew(folder, layout.DERIVED)
        elif run.sealed:
            steps[layout.SEAL] = lambda: seal.write(folder)
    for done, step in enumerate(steps.values()):
        try:
            step()
        except OSError as error:
            raise UnwrittenError(folder.path, list(steps)[done:], error) from error
    return table


class UnwrittenError(StoreError):
    """Files of `names` in the run do not fit its launches; a command writes them again."""

    def __init__(self, path: Path, names: Sequence[str], error: OSError) -> None:
        super().__init__(
            f"not written: {' and '.join(names)}: {durable.reason(error)}; all launches are safe. Solve this problem, "
            f"then {shell.command('report', path)} writes these files"
        )
