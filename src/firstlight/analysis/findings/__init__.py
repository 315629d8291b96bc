"""Findings: what is unusual in the results of a run, one rule per file.

A file in this folder is registered by its presence.

A rule is a function `find(judgement, workloads) -> list[Finding]` whose sentences compute every number from the data.
A rule on results and on how launches ended sets `OF_RESULTS = True`: it also runs if nothing was timed. A rule on the
machine sets `OF_MACHINE = True`: it also runs if the machine was not fit for measuring, as that on results does.
"""

from __future__ import annotations

import pkgutil
import shlex
from collections.abc import Iterator
from importlib import import_module

from msgspec.structs import replace

from firstlight.analysis import Finding, Judgement
from firstlight.analysis.evidence import unfit
from firstlight.core.shell import command, line
from firstlight.model.catalogue import Workload
from firstlight.results.record import Run
from firstlight.results.store import documents


def rules() -> Iterator[str]:
    """Return the names of the rules in this folder."""
    return (m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def discover(judgement: Judgement, workloads: dict[str, Workload]) -> list[Finding]:
    """Return the findings of all rules, the weightiest first."""
    found: list[Finding] = []
    untimed, disturbed = judgement.run.machine.emulated, unfit(judgement.run, judgement.records)
    for rule in rules():
        module = import_module(f"{__name__}.{rule}")
        holds = not (untimed or disturbed) or (disturbed and getattr(module, "OF_MACHINE", False))
        if holds or getattr(module, "OF_RESULTS", False):
            found += module.find(judgement, workloads)
    found = [_with_settings(finding, judgement.run) for finding in found]
    if judgement.run.brought:  # no command measures it by its name
        see = command("figures", judgement.run.id, "--launches")
        found = [replace(f, command=see) if f.command.startswith(command("run")) else f for f in found]
    return without_repetitions(sorted(found, key=lambda f: (-f.weight, f.rule, f.sentence)))


def without_repetitions(found: list[Finding]) -> list[Finding]:
    """Return the findings without those that compare only some of the figures that a weightier one compares."""
    kept: list[Finding] = []
    for finding in found:
        about = set(finding.about)
        if not any(len(about) > 1 and about < set(weightier.about) for weightier in kept):
            kept.append(finding)
    return kept


def _with_settings(finding: Finding, run: Run) -> Finding:
    """Return the finding with the user's settings and directories of the workloads in its command added to it."""
    if not finding.command.startswith("./fl run "):
        return finding
    of = (word.partition(".")[0] for word in shlex.split(finding.command))
    given = {name: some for workload in of for name, some in run.settings.get(workload, {}).items()}
    values = {value for identity in finding.about for _, value in identity.parameters}
    words = (*documents.typed(given, run.id), *run.storage(values.union(*given.values())))
    return replace(finding, command=f"{finding.command} {line(words)}") if words else finding
