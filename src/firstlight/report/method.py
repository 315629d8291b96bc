"""Method: how the run was measured, in words generated from the run itself."""

from __future__ import annotations

import shlex
from pathlib import Path

from firstlight.analysis import Judgement
from firstlight.analysis.absence import compilers_for_devices
from firstlight.analysis.formatting import bare, listing
from firstlight.analysis.verdict import Verified
from firstlight.core import confidence
from firstlight.core.units import binary, count, duration, percent
from firstlight.execute.launch.environment import SEARCHED
from firstlight.report import wording
from firstlight.results.record import Run
from firstlight.results.store import documents
from firstlight.system.machine import Storage

_LIMITS = {"core": "core files", "memlock": "locked memory", "stack": "the stack"}


def paragraphs(judgement: Judgement) -> list[str]:
    """Return a few short paragraphs; every number in them is the run's own."""
    if imported := _imported(judgement.run):
        return [imported]
    return [
        p
        for p in (
            _launches(judgement),
            _answered(judgement.run),
            _figures(judgement),
            _verification(judgement),
            _ceilings(judgement),
        )
        if p
    ]


def _answered(run: Run) -> str:
    """Return the sentence on parameters that used the best value of an earlier run; "" if there are none."""
    if not run.answered:
        return ""
    defaults = "; ".join(wording.answered(run.answered, run.toolbox))
    return f"Parameters without a value used the best value of an earlier run on this machine: {defaults}."


def _imported(run: Run) -> str:
    """Return the sentences about results of other tools; "" if firstlight measured this run."""
    reporters = [str(one.reporter) for one in run.brought if one.reporter is not None]
    if not reporters:
        return ""
    files = sorted(map(documents.file_name, documents.named(run.settings)))
    return (
        f"The figures are from {listing(files)}, which the run contains, and were reported by "
        f"{listing(reporters)}. firstlight launched nothing and checked no result. Each execution or file counts as "
        f"one value. The figure is the median of all values."
    )


def _launches(judgement: Judgement) -> str:
    run = judgement.run
    cells = {r.start.cell for r in judgement.records}
    samples = sum(len(r.samples) for r in judgement.records)
    spent = sum(r.exit.seconds for r in judgement.records)
    budget = f" within a budget of {duration(run.budget)}" if run.budget > 0 else ""
    how = {
        "complete": "The run ended normally",
        "budget": "The budget ended the run",
        "interrupted": "The run was interrupted",
        "changed": "The run ended because a program was replaced during measurement",
        "running": "The run had not ended when this page was written",
    }.get(run.state, f"The state of the run is {run.state}")
    return (
        f"{count(len(cells), 'combination')} of program, placement and arguments were launched "
        f"{len(judgement.records)} times in total{budget}, with "
        f"{samples:,} timed samples in {duration(spent)}. A launch starts a program once and counts as one value, the "
        f"median of its samples. Each combination was launched at least {run.launches} times, then until its "
        f"{confidence.INTERVAL} was within ±{percent(run.precision)} or the budget ended. "
        f"Launches of compared programs were interleaved in balanced random order (seed {run.seed}), so that machine "
        f"drift favours none of them. "
        f"{_preview(judgement)}{how}."
    )


def _preview(judgement: Judgement) -> str:
    """Return the sentence on launches for the first page; "" if there were none."""
    early = sum(r.start.preview for r in judgement.records)
    return (
        f"{count(early, 'launch', 'launches')} were for the first page, before all programs were built. Once a "
        f"program has the same number of later launches, its early launches no longer count. "
        if early
        else ""
    )


def _figures(judgement: Judgement) -> str:
    good = [f for f in judgement.figures if isinstance(f, Verified)]
    if not good:
        return ""
    few = sum(f.estimate.low is None for f in good)
    marked = sum(f.diverged > 0 for f in good)
    over = sum(f.oversubscribed for f in good)
    text = (
        "Each launch contributes the median of its samples, without warm-up. A figure is the median over launches. "
        "Its interval is the "
        f"exact nonparametric {confidence.INTERVAL} of a median, which requires {confidence.LAUNCHES} launches. "
        "Rates are work divided by time; the time of a sample is the maximum over ranks."
    )
    text += f" {count(few, 'figure')} had too few launches for an interval." if few else ""
    text += f" In {count(marked, 'figure')} wall and CPU time diverged in some samples." if marked else ""
    text += f" Figures with more ranks and threads than CPUs are never ranked ({over} in this run)." if over else ""
    text += " Two figures differ if the interval of their ratio does not touch 1 and they are 3 % or more apart."
    return text


def _verification(judgement: Judgement) -> str:
    checks = [c for r in judgement.records for c in r.checks]
    failed = sum(not c.ok for c in checks)
    own = {one.name for one in judgement.run.brought}
    kinds = sorted({f"{d.variant} by {d.verified}" for d in judgement.run.descriptions.values() if d.workload in own})
    if own:
        return (
            f"Your programs are verified with your checks: {listing(kinds)} ({len(checks):,} checks, {failed:,} "
            f"failed). A failed figure has no number on this page and is never ranked."
        )
    return (
        f"Every program checks its results before and after timing: {len(checks):,} checks, {failed:,} failed. "
        f"Outputs are first filled with NaN. A failed figure has no number on this page and is never ranked. A figure "
        f"above its measured ceiling also fails."
    )


def _ceilings(judgement: Judgement) -> str:
    names: dict[str, dict[str, None]] = {}
    for limit in judgement.limits:
        names.setdefault(limit.source.workload, {})[wording.resource_name(limit.name)] = None
    if not names:
        return ""
    sources = "; ".join(f"{listing(list(some))} (workload {workload})" for workload, some in names.items())
    return (
        f"Ceilings are measured in this run, not taken from data sheets: {sources}. There are {len(judgement.limits)} "
        f"values for different numbers of cores and working sets."
    )


def built_with(run: Run) -> list[tuple[str, str]]:
    """Return the toolchains and MPI libraries of the user's commands that were built, each with its command line."""
    own = {one.name for one in run.brought}
    programs = [b.program for b in run.builds if b.program.workload in own]
    chains, mpis = {p.toolchain for p in programs}, {p.mpi for p in programs}
    tools = run.toolbox
    return [
        *(
            (t.name, f"{t.version}: {shlex.join((Path(t.cxx).name, *t.flags))}")
            for t in tools.toolchains
            if t.name in chains
        ),
        *((m.name, m.label) for m in tools.mpis if m.name in mpis),
    ]


def environment(run: Run) -> list[tuple[str, str]]:
    """Return what may explain a difference, as pairs."""
    m = run.machine
    revision = f", revision {run.revision}" if run.revision not in ("", run.firstlight) else ""
    own = ("firstlight", f"{run.firstlight}{revision}, records of schema {run.schema}")
    if run.imported:
        return [own]
    rows = [
        ("processor", f"{m.processor} ({m.architecture}, instruction set {m.microarchitecture})"),
        ("system", f"{m.system}, kernel {m.kernel}" + (f", virtual ({m.virtual})" if m.virtual else "")),
        ("frequency policy", f"{m.governor or 'not visible'}, turbo {_yes(m.turbo)}"),
        ("huge pages", m.huge_pages or "not visible"),
        ("inherited settings", ", ".join(m.inherited)),
        ("load at the start", f"{m.load:.2f}"),
        ("hardware counters", m.counters),
        *((f"limit of {_LIMITS.get(k, k)}", binary(int(v)) if v.isdigit() else v) for k, v in sorted(m.limits.items())),
        *((f"target {t.name}", _target(t)) for t in m.storage),
        ("cold reads", "the host of a virtual machine may also cache files" if m.virtual and m.storage else ""),
        *((f"{t.name}", f"{t.version}: {shlex.join((Path(t.cxx).name, *t.flags))}") for t in run.toolbox.toolchains),
        *((f"Fortran of {t.name}", f"{t.fortran_version}") for t in run.toolbox.toolchains if t.fortran),
        *((x.name, f"{x.label} ({x.origin})") for x in run.toolbox.mpis),
        *((x.name, x.label) for x in run.toolbox.libraries),
        ("for GPUs", listing(compilers_for_devices(run))),
        *((k, v if k in SEARCHED else bare(v)) for k, v in sorted(run.environment.items())),
        own,
    ]
    return [(k, v) for k, v in rows if v]


def _target(target: Storage) -> str:
    """Return file system, device, stripes and free space of a target of storage."""
    rotates = "" if target.rotates is None else ", rotates" if target.rotates else ", does not rotate"
    device = f" on {target.device}{rotates}" if target.device else ""
    stripe = f", stripes {target.stripe}" if target.stripe else ""
    free = "" if target.free is None else f", {binary(target.free)} free"
    return f"{target.type or 'unknown file system'}{device}{stripe}{free} ({target.options})"


def _yes(value: bool | None) -> str:
    return "not visible" if value is None else "on" if value else "off"
