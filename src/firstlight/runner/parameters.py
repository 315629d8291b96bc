"""Parameters: which workloads have those that a user sets, and whether their programs accept the values.

Parameters in a workload.toml are known at once. A program of the workload, which is built first, reports all others.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from firstlight.analysis.formatting import listing
from firstlight.analysis.overrides import Replaced
from firstlight.core import reading
from firstlight.core.errors import USAGE, BuildError, UsageError
from firstlight.core.shell import command
from firstlight.execute.build import Built
from firstlight.model.catalogue import Value, Workload, needs, on_device
from firstlight.model.plan import Cell, Plan, Program
from firstlight.model.plan.arguments import compose
from firstlight.model.plan.settings import Setting, Settings, value
from firstlight.results.description import Description
from firstlight.runner import documents
from firstlight.runner.documents import Given
from firstlight.system.process import bounded, guard
from firstlight.toolchain import Toolbox

LONGEST = 20.0
"""Maximum seconds for a program to report whether it accepts values."""


def declared(workload: Workload) -> dict[str, set[str]]:
    """Return the parameters in the workload.toml of a workload, with their values there."""
    found: dict[str, set[str]] = {}
    for entry in (entry for entries in workload.suites.values() for entry in entries):
        for name, values in entry.parameters.items():
            found.setdefault(name, set()).update(map(str, values))
    return found


def read(some: Sequence[Setting], named: Collection[Workload], all_of: Iterable[Workload]) -> Given:
    """Return the values that are set, with files read. Raises UsageError if no workload is named for them."""
    if not some:
        return Given({}, ())
    if not named:
        able = [w.name for w in all_of if some[0].name in declared(w)]
        example = f": {command('run', able[0], some[0])}" if able else ""
        raise UsageError(f"{some[0]}: name the workload of this parameter{example}")
    words: dict[str, set[str]] = {}
    for workload in named:
        for name, values in declared(workload).items():
            words.setdefault(name, set()).update(values)
    return documents.given(some, words)


def to_ask(plan: Plan, named: Collection[str]) -> list[Program]:
    """Return for each workload the program that builds fastest: without MPI, libraries and devices where possible."""

    def order(program: Program) -> tuple[int, bool, str]:
        wants = needs(program.variant)
        return len(wants) + bool(program.mpi), on_device(wants), program.variant

    programs = sorted((p for p in plan.programs if p.workload in named), key=order)
    return list({p.workload: p for p in reversed(programs)}.values())


def describe(built: Built) -> Description:
    """Return the description that a program prints of itself. Raises BuildError."""
    try:
        return reading.json(built.describe, Description)
    except reading.MalformedError as error:
        raise BuildError(
            f"{built.program.key}: the output of --describe is not valid: {error}; rebuild the program"
        ) from error


def described(asked: Mapping[Program, Built]) -> dict[str, Description]:
    """Return the descriptions of programs by workload."""
    return {program.workload: describe(built) for program, built in asked.items()}


def defaults(descriptions: Mapping[str, Description]) -> dict[str, dict[str, Value]]:
    """Return the default values of the programs' parameters, by workload."""
    return {w: {p.name: value(p.name, p.default) for p in d.parameters if p.default} for w, d in descriptions.items()}


def shared(
    values: Mapping[str, Sequence[Value]], named: Sequence[Workload], descriptions: Mapping[str, Description]
) -> dict[str, dict[str, tuple[Value, ...]]]:
    """Assign each setting to the workloads that have its parameter.

    `descriptions`: what programs print of themselves, by workload. A workload without a description may have any
    parameter that no described workload has. Raises UsageError for a parameter that no workload can have.
    """
    has = {
        w.name: {p.name for p in descriptions[w.name].parameters} if w.name in descriptions else {*declared(w)}
        for w in named
    }
    silent = [w.name for w in named if w.name not in descriptions]
    found: dict[str, dict[str, tuple[Value, ...]]] = {}
    for name, some in values.items():
        able = [w for w, known in has.items() if name in known] or silent
        if not able:
            raise UsageError(_unknown(name, has))
        for workload in able:
            found.setdefault(workload, {})[name] = tuple(some)
    return found


def refuse_replaced(settings: Settings, without: Replaced, descriptions: Mapping[str, Description]) -> None:
    """Raise UsageError for a parameter that the user sets together with files that replace it."""
    for workload, names in without.items():
        for p in (p for p in descriptions[workload].parameters if p.name in names and p.name in settings[workload]):
            raise UsageError(f"{p.name} has no effect if {p.replaced_by} is a file; omit {p.name}=")


def unsure(settings: Settings, named: Sequence[Workload], descriptions: Collection[str]) -> list[str]:
    """Return a sentence for each parameter that neither a built program nor a workload.toml confirms."""
    return [
        f"it is unknown whether {w.name} has a parameter {name!r} until one of its programs is built; its suites set "
        f"{', '.join(sorted(declared(w))) or 'none'}"
        for w in named
        for name in settings.get(w.name, {})
        if w.name not in descriptions and name not in declared(w)
    ]


def _unknown(name: str, has: Mapping[str, Collection[str]]) -> str:
    lists = {workload: ", ".join(sorted(known)) or "none" for workload, known in has.items()}
    if len(lists) == 1:
        ((workload, known),) = lists.items()
        return f"{workload} has no parameter {name!r}; its parameters: {known}"
    each = "; ".join(f"{workload}: {known}" for workload, known in lists.items())
    return f"none of {listing(list(has))} has a parameter {name!r}; their parameters: {each}"


def elsewhere(settings: Settings, named: Sequence[str]) -> list[str]:
    """Return a sentence for each parameter that only some of the workloads have."""
    sentences = []
    for name in dict.fromkeys(name for some in settings.values() for name in some):
        having = [w for w in named if name in settings.get(w, {})]
        others = [w for w in named if w not in having]
        if others:
            verb = "has" if len(others) == 1 else "have"
            sentences.append(f"{name} is set for {listing(having)}; {listing(others)} {verb} no such parameter")
    return sentences


def refuse(cells: Iterable[Cell], asked: Mapping[Program, Built], given: Given, toolbox: Toolbox) -> None:
    """Raise UsageError with the message of a built program if it rejects the values of all its cells."""
    own, planned = {mpi.name: mpi.environment for mpi in toolbox.mpis}, list(cells)
    with guard.scratch("fl-") as folder:
        documents.write(folder, given.files)
        for program, built in asked.items():
            mine = [cell for cell in planned if cell.program == program]
            alone = {c.program.variant for c in planned if c.program.workload == program.workload} == {program.variant}
            environment = os.environ | own.get(program.mpi or "", {})
            starter = toolbox.emulator
            answers = [
                _answer(built.executable, cell, str(folder), environment, starter, alone)
                for cell in mine
                if built.executable
            ]
            if answers and all(answers):
                raise UsageError(answers[0])


def _answer(
    executable: Path, cell: Cell, folder: str, environment: Mapping[str, str], starter: tuple[str, ...], alone: bool
) -> str:
    """Return the message with which a program rejects the values of a cell, "" if it accepts them.

    Patterns are left out unless its variant is `alone`: their values may belong to another one. Raises BuildError.
    """
    values = [word for word in compose(cell.values) if alone or not set(word) & set("*?[")]
    threads = ["--threads", str(cell.placement.threads)] if cell.placement.threads > 1 else []
    words = [*starter, str(executable), "--describe", *values, "--documents", folder, *threads]
    try:
        ended = bounded.run(words, timeout=LONGEST, environment=environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"{cell.program.key} was built but does not respond to --describe: {error}") from error
    if ended.returncode == 0:
        return ""
    message = ended.stderr.strip().rpartition("\n")[2].removeprefix(f"{executable}: ")
    if ended.returncode != USAGE or not message:
        raise BuildError(
            f"{cell.program.key} was built but does not respond to --describe (status {ended.returncode}): {message}"
        )
    return message
