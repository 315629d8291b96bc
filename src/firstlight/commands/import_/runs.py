"""Turn the results of other tools into a run: an ordinary directory of a run, in which nothing was launched."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from firstlight import __version__
from firstlight.analysis import Judgement
from firstlight.analysis.evidence import REPORTED
from firstlight.analysis.figures import judge
from firstlight.analysis.overrides import of_run
from firstlight.commands.import_.results import Case, Results
from firstlight.core.errors import RecordError, UsageError
from firstlight.execute.launch import Outcome
from firstlight.model import catalogue
from firstlight.model.catalogue import Workload
from firstlight.model.catalogue.brought import Brought, Reporter, variant_name
from firstlight.model.plan import Cell, Placement, Program
from firstlight.model.plan.types import NOT_OURS
from firstlight.results import record, store
from firstlight.results.description import Description, Metric, Parameter
from firstlight.results.record import SCHEMA, End, Launch, Reported, Run, Start
from firstlight.results.store import Store, StoreError, documents, durable, lines
from firstlight.runner import environment
from firstlight.runner.session import derive
from firstlight.system.machine import Machine
from firstlight.toolchain import Toolbox

SUITE = "import"
FILE = "file"
"""The setting of a workload that names the imported files."""


class Imported(NamedTuple):
    """A file that was read: its name and content, the name of its reader, and its results."""

    name: str
    content: bytes
    reader: str
    results: Results


class Origin(NamedTuple):
    """The machine of the results, and their date: None if it is not known."""

    machine: Machine
    date: float | None
    options: tuple[str, ...] = ()


def unseen(name: str) -> Machine:
    """Return a machine of which only the name is known."""
    return Machine(
        name=name, processor="", architecture="", microarchitecture="", sockets=0, cores=0, cpus=(), threads_per_core=0,
        numa=(), caches=(), memory=0, memory_available=0, system="", kernel="", virtual=None, governor=None, turbo=None,
        huge_pages=None, load=0.0, counters="", limits={},
    )  # fmt: skip


def write(files: Sequence[Imported], origin: Origin, results: Path, name: str | None) -> tuple[Path, Judgement]:
    """Write the run with its pages; return its directory and the judgement. Raises StoreError and RecordError."""
    by_reader: dict[str, list[Imported]] = {}
    for file in files:
        by_reader.setdefault(file.reader, []).append(file)
    kept = [documents.of(file.name, file.content) for file in files]
    run = _run(by_reader, origin, results, name)
    workloads = workloads_of(run)
    try:
        opened = store.create(results, run, free=name is None, files=kept)
        try:
            with opened:
                return opened.path, _filled(opened, replace(run, id=opened.path.name), by_reader, workloads)
        except BaseException:  # also when the user interrupts it: nothing is half imported
            shutil.rmtree(opened.path)
            raise
    except StoreError as error:
        why = durable.reason(error.__cause__) if isinstance(error.__cause__, OSError) else str(error)
        raise StoreError(f"cannot write {results}: {why}; nothing was imported") from error


def _filled(
    opened: Store, run: Run, by_reader: Mapping[str, Sequence[Imported]], workloads: dict[str, Workload]
) -> Judgement:
    """Write the records, the end and the pages of a new run."""
    for reader, some in by_reader.items():
        _launches(opened, run, reader, some)
    run = replace(run, state="complete", finished=time.time(), sealed=True)
    opened.write_run(run)
    judgement = judge(run, opened.records(), workloads)
    derive(opened.folder, judgement, workloads)
    return judgement


def _run(by_reader: Mapping[str, Sequence[Imported]], origin: Origin, results: Path, name: str | None) -> Run:
    now = time.time()
    started = now if origin.date is None else origin.date
    brought = tuple(_brought(reader, some) for reader, some in by_reader.items())
    return Run(
        schema=SCHEMA,
        id=name or store.free_id(results, started, SUITE),
        started=started,
        finished=None,
        state="running",
        firstlight=__version__,
        revision=environment.revision(),
        command=("./fl", "import", *origin.options, *(file.name for some in by_reader.values() for file in some)),
        suite=SUITE,
        budget=0.0,
        launches=0,
        precision=0.0,
        seed=0,
        machine=origin.machine,
        toolbox=Toolbox((), (), (), ()),
        environment={},
        cells=tuple(Cell(f"{b.name}.{v}", _program(b.name, v), Placement(), ()) for b in brought for v in b.commands),
        builds=(),
        descriptions={k: d for reader, some in by_reader.items() for k, d in _descriptions(reader, some).items()},
        not_available=(),
        settings={
            reader: {FILE: tuple(documents.of(file.name, file.content).name for file in some)}
            for reader, some in by_reader.items()
        },
        brought=brought,
        undated=origin.date is None,
    )


def _program(reader: str, variant: str) -> Program:
    return Program(reader, variant, NOT_OURS)


def _cases(files: Sequence[Imported]) -> list[Case]:
    return [case for file in files for case in file.results.cases]


def _by_name(cases: Sequence[Case]) -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    for case in cases:
        found.setdefault(case.name, []).append(case)
    return found


def _variants(files: Sequence[Imported]) -> dict[str, str]:
    """Return the variant of each benchmark: its name in lower-case letters, with a number if two would be equal."""
    found: dict[str, str] = {}
    for name in _by_name(_cases(files)):
        base, number = variant_name(name), 2
        variant = base
        while variant in found.values():
            variant, number = f"{base}_{number}", number + 1
        found[name] = variant
    return found


def _reporter(files: Sequence[Imported]) -> Reporter:
    """Return the tool of these files. Raises UsageError if they were written by different versions."""
    first = files[0]
    for file in files[1:]:
        if file.results.version != first.results.version:
            raise UsageError(
                f"{file.name} is of {Reporter(file.results.tool, file.results.version)}, {first.name} of "
                f"{Reporter(first.results.tool, first.results.version)}; import each version as a separate run"
            )
    return Reporter(first.results.tool, first.results.version)


def _brought(reader: str, files: Sequence[Imported]) -> Brought:
    reporter, variants = _reporter(files), _variants(files)
    typed = {variants[case.name]: case.typed or variants[case.name] for case in reversed(_cases(files))}
    return Brought(
        name=reader,
        title=reporter.tool,
        question=f"What did {reporter.tool} report?",
        commands={variant: typed[variant] for variant in variants.values()},
        reporter=reporter,
    )


def _descriptions(reader: str, files: Sequence[Imported]) -> dict[str, Description]:
    """Return what each benchmark reports: the metrics that any of its executions has."""
    quantities = {name: q for file in files for name, q in file.results.quantities.items()}
    found, by_name = {}, _by_name(_cases(files))
    for name, variant in _variants(files).items():
        mine = by_name[name]
        measured = dict.fromkeys(m for case in mine for one in case.executions for m in one.values)
        parameters = dict.fromkeys(p for case in mine for p in case.parameters)
        found[f"{reader}.{variant}"] = Description(
            workload=reader,
            variant=variant,
            title=name,
            parameters=tuple(Parameter(p, "", "", "") for p in parameters),
            metrics=tuple(Metric(m, quantities[m].unit, m, REPORTED, 1.0, quantities[m].better) for m in measured),
            cost="",
            verified="",
            tolerance="",
            unverified=f"reported by {_reporter(files)}",
        )
    return found


def _launches(opened: Store, run: Run, reader: str, files: Sequence[Imported]) -> None:
    """Write a record for each file and benchmark: its cases, and what the tool reports of their executions."""
    variants = _variants(files)
    for file in files:
        for name, cases in _by_name(file.results.cases).items():
            _launch(opened, run, _program(reader, variants[name]), file, cases)


def _launch(opened: Store, run: Run, program: Program, file: Imported, cases: Sequence[Case]) -> None:
    cell = program.target
    number = opened.next_launch(cell)
    part = opened.begin(Start(run.id, cell, number, 0, run.started, (file.name,), 0.0))
    parts: list[record.Line] = [
        Launch(1, program.workload, program.variant, "", "", "", 1, 1, (), "not read: the results were imported", 0.0)
    ]
    for k, case in enumerate(_merged(cases)):
        parts.append(record.Case(k, case.parameters, 1, {}, 0.0, 1))
        for one in case.executions:
            began = one.began if one.after is None else run.started + one.after
            parts.append(Reported(k, one.values, began, one.failed[:4096]))
    parts.append(End(k + 1))
    with part.open("ab") as out:
        out.write(b"".join(map(lines.encode, parts)))
    ending = opened.finish(part, Outcome((file.name,), True, 0, "", 0.0, 0.0, ""))
    if not ending.ok:
        raise RecordError(f"{file.name}: the results cannot be recorded: {ending.reason}")


def _merged(cases: Sequence[Case]) -> list[Case]:
    """Return the cases with different parameters, each with all of its executions."""
    found: dict[tuple[tuple[str, object], ...], Case] = {}
    for case in cases:
        key = tuple(sorted(case.parameters.items(), key=lambda p: p[0]))
        known = found.get(key)
        found[key] = case if known is None else known._replace(executions=known.executions + case.executions)
    return list(found.values())


def workloads_of(run: Run) -> dict[str, Workload]:
    """Return the workloads of the catalogue and of the run."""
    return of_run(catalogue.load(catalogue.roots()), run)
