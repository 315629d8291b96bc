"""Resuming: what of a run must be unchanged before its launches go on, and what is no longer available here."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence

from msgspec.structs import replace

from firstlight.core.errors import UsageError
from firstlight.model.catalogue import Workload
from firstlight.model.plan import AS_IT_IS, EFFORT, Program, unfit
from firstlight.model.plan.settings import Setting, names_file
from firstlight.results import store
from firstlight.results.record import Run
from firstlight.results.store.documents import named, named_settings
from firstlight.runner import documents
from firstlight.runner.prepare import Made, Prepared
from firstlight.runner.progress import Progress
from firstlight.system import site
from firstlight.system.machine import Machine
from firstlight.toolchain import Toolbox

MOST_NAMED = 3
OTHER_NODES = "resumed on other nodes of the same kind: the figures describe this kind of node, not a single node"


def not_yet_built(run: Run, programs: Sequence[Program], now: Prepared) -> list[Program]:
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


def fitting(
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
    for absent in list(found.values())[:MOST_NAMED]:
        progress.note(f"not launched: {absent.what}: {absent.why}; {absent.fix}")
    if len(found) > MOST_NAMED:
        progress.note(f"not launched: {len(found) - MOST_NAMED} more, which the report lists")
    if known and len(found) == len(known):
        first = next(iter(found.values()))
        raise UsageError(f"run {old.id}: none of its cells fits this machine: {first.why}; {first.fix}")
    earlier = [absent for absent in old.not_available if absent.what not in {cell.id for cell in known}]
    return replace(old, not_available=(*earlier, *found.values())), set(found)


def _refuse(what: str) -> UsageError:
    return UsageError(f"{what}; launches would not be comparable, so start a new run")


def same_machine(old: Run, here: Machine, progress: Progress) -> Run:
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


def same_modules(old: Run) -> None:
    was, now = old.modules.modules if old.modules else (), site.wanted()[1]
    if was != now:
        again = f"--modules {','.join(was) or repr('')} run --resume {old.id}"
        raise UsageError(f"run {old.id} was started with {', '.join(was) or 'no'} modules; continue with ./fl {again}")


def same_tools(old: Run, toolbox: Toolbox) -> None:
    """Raise UsageError if a compiler or MPI library in use is absent or has another version."""
    used = {b.program.toolchain for b in old.builds if b.ok} | {b.program.mpi for b in old.builds if b.ok}
    now = _versions(toolbox)
    for name, version in _versions(old.toolbox).items():
        if name in used and now.get(name) != version:
            raise _refuse(f"{name} was {version} in run {old.id}, but is now {now.get(name, 'absent')}")


def _versions(toolbox: Toolbox) -> dict[str, str]:
    return {t.name: t.version for t in toolbox.toolchains} | {m.name: m.version for m in toolbox.mpis}


_HARMLESS = re.compile(r"[a-z][a-z0-9_]*=[\w.,*?+-]+|--samples|--sample-seconds|--case-seconds|--threads|[0-9.e,+-]+")


_OF_COMMAND = re.compile(r"[a-z][a-z0-9_]*=.*", re.DOTALL)


def harmless(old: Run) -> None:
    """Raise UsageError for a suite, cell or argument in run.json that firstlight does not write, such as a path."""
    if old.imported:
        raise UsageError(f"run {old.id}: the results were imported, so there is nothing to resume")
    if old.suite not in EFFORT:
        raise UsageError(f"run {old.id}: its suite {old.suite[:80]!r} is not one of {', '.join(EFFORT)}")
    kept = named(old.settings)
    for cell in old.cells:
        if not store.layout.CELL.fullmatch(cell.id):
            raise UsageError(f"run {old.id}: {cell.id[:80]!r} cannot name a cell; firstlight never writes such names")
        for word, after in itertools.zip_longest(cell.arguments, cell.arguments[1:], fillvalue=""):
            if cell.external is not None and _OF_COMMAND.fullmatch(word):
                continue  # the word is only recorded: the external command has what is started
            files = {v for v in word.partition("=")[2].split(",") if names_file(v)} - kept
            if not _HARMLESS.fullmatch(word) or (word.startswith("--") and not _is_number(after)) or files:
                raise UsageError(f"run {old.id}: cell {cell.id[:80]!r} has an argument that firstlight does not write")


def same_settings(old: Run, settings: Sequence[Setting]) -> None:
    """Raise UsageError if `settings` differ from those that the run was begun with; none are always accepted."""
    if not settings:
        return
    begun = {name: tuple(values) for some in old.settings.values() for name, values in some.items()}
    words = {name: {v for v in map(str, values) if names_file(v)} for name, values in begun.items()}
    now = documents.given(settings, words).values
    if now != begun:
        shown = " ".join(named_settings(begun)) or "no settings"
        changed = next(name for name in (*now, *begun) if now.get(name) != begun.get(name))
        raise UsageError(
            f"run {old.id} was started with {shown}; a resumed run cannot change {changed}: start a new run"
        )


def _is_number(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False


def known(wanted: dict[Program, str], workloads: dict[str, Workload]) -> None:
    for program in wanted:
        if program.workload not in workloads:
            raise _refuse(f"workload {program.workload!r} no longer exists")
        if not any(v.makes(program.variant) for v in workloads[program.workload].variants):
            raise _refuse(f"variant {program.target!r} no longer exists")


def listed(old: Run, wanted: dict[Program, str], toolbox: Toolbox) -> None:
    """Raise UsageError if a program uses a tool that is absent, or that run.json does not list: no check covered it."""
    listed, here = _versions(old.toolbox), _versions(toolbox)
    for program in dict.fromkeys([*wanted, *(cell.program for cell in old.cells)]):
        for tool in (program.toolchain, program.mpi):
            if tool not in (None, AS_IT_IS) and (tool not in listed or (program in wanted and tool not in here)):
                raise _refuse(f"{program.key} requires {tool!r}, which is missing here or in run {old.id}")


def same_executables(wanted: dict[Program, str], made: Made) -> None:
    now = {b.program: b.sha256 for b in made.builds}
    changed = [program.key for program, sha256 in wanted.items() if now.get(program) != sha256]
    if changed:
        raise _refuse(f"{len(changed)} of {len(wanted)} programs have changed since then, the first is {changed[0]}")
