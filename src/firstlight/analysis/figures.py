"""Figures: from the launches of a run to numbers with verdicts, in three passes.

First every case becomes a figure by its own evidence (checks, launches); then the verified ones that provide ceilings
become limits; then each figure is compared with its ceiling, and one above it fails.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from msgspec.structs import replace

from firstlight.analysis import Judgement, levels
from firstlight.analysis.ceilings import Allowed, measured_limits, more_than_processors
from firstlight.analysis.energy import FORMS, OF_POWER, with_energy
from firstlight.analysis.evidence import (
    REPORTED,
    VALUE,
    Evidence,
    Subject,
    cost_of,
    gather,
    lacks_device,
    launch_value,
    may_be_missing,
    refused,
)
from firstlight.analysis.findings import discover
from firstlight.analysis.interval import estimate
from firstlight.analysis.states import states
from firstlight.analysis.steadiness import steadiness
from firstlight.analysis.verdict import (
    ELSEWHERE,
    Cause,
    Failed,
    Figure,
    Identity,
    Reported,
    Untimed,
    Unverified,
    Verified,
)
from firstlight.model.catalogue import Value, Workload, needs
from firstlight.model.plan import Cell, Placement, Program
from firstlight.model.plan.arguments import matching, number
from firstlight.results.description import Better, Description, Metric
from firstlight.results.record import LaunchRecord, Run
from firstlight.results.store import documents
from firstlight.system.machine import UNTIMED
from firstlight.toolchain import OFFLOADING

KERNEL = "kernel"
"""The parameter that chooses one of the kernels of a program."""

_SHARED = ("flops", "bytes", "messages", "message_bytes", "accesses")  # what phases divide among them
UnitAndDirection = tuple[str, Better]
Suspect = tuple[Program, int | float | str | None]
_WITHOUT = FORMS | {REPORTED}  # forms of a metric without a ceiling
_MANY = 256  # a cell that left no record is listed case by case up to this many


def judge(run: Run, records: Iterable[LaunchRecord], workloads: dict[str, Workload]) -> Judgement:
    """Return the figures of a run with verdicts, the measured limits and the findings. Never raises for odd values."""
    run, records = with_energy(run), tuple(records)
    evidence, lost = gather(run, records)
    tainted, agreed = _tainted(run, evidence.values()), _agreed(run)
    drafts = [
        _unbounded_figure(run, e, metric, tainted, agreed)
        for e in evidence.values()
        for metric in _metrics(run, e.subject.program)
        if e.applies(metric)
    ]
    metrics = {name: d.metrics for name, d in run.descriptions.items()}
    limits = measured_limits((d for d in drafts if isinstance(d, Verified)), metrics, workloads, run.machine)
    hierarchy = levels.observed(drafts, workloads, run.machine)
    figures = _apply_ceilings(drafts, run, workloads, Allowed(limits, run.machine, hierarchy))
    figures += _unbuilt(run)
    figures += _missing_figures(run, records, evidence)
    figures = [_expected(f, run, workloads) for f in figures]
    steady = steadiness(figures, workloads, run.machine)
    judgement = Judgement(run, tuple(figures), (), records, tuple(lost), limits, steady, hierarchy)
    if run.imported:  # figures that firstlight did not verify show nothing about this machine
        return judgement
    return replace(judgement, findings=tuple(discover(judgement, workloads)))


def _expected(figure: Figure, run: Run, workloads: Mapping[str, Workload]) -> Figure:
    """Return the figure, with the reason if its workload declares that the check fails with these flags."""
    if not isinstance(figure, Failed) or figure.cause != "check" or figure.identity.workload not in workloads:
        return figure
    i = figure.identity
    flag_set = next((t.flag_set for t in run.toolbox.toolchains if t.name == i.toolchain), "")
    return replace(figure, expected=workloads[i.workload].expected(i.variant, flag_set))


def _metrics(run: Run, program: Program) -> tuple[Metric, ...]:
    description = run.descriptions.get(program.target)
    return description.metrics if description else ()


def _suspect(run: Run, subject: Subject) -> Suspect:
    """Return what a wrong result discredits: the whole program, or one kernel if kernels are functions of their own."""
    description = run.descriptions.get(subject.program.target)
    kernel = dict(subject.parameters).get(KERNEL) if description is not None and description.kernels else None
    return subject.program, kernel


def _tainted(run: Run, evidence: Iterable[Evidence]) -> dict[Suspect, str]:
    """Return the programs or kernels with a wrong case and the reason. None of their figures can be trusted."""
    found: dict[Suspect, str] = {}
    for e in evidence:
        suspect = _suspect(run, e.subject)
        if e.wrong and suspect not in found:
            case = ", ".join(f"{name} = {value}" for name, value in e.subject.parameters)
            found[suspect] = f"{ELSEWHERE} ({case}): {e.wrong[-1]}"
    return found


def _agreed(run: Run) -> dict[tuple[str, str], UnitAndDirection]:
    """Return the unit and direction of each metric of a workload, as most of its variants report them.

    Figures of the other variants cannot be compared.
    """
    counts: dict[tuple[str, str], Counter[UnitAndDirection]] = {}
    for described in run.descriptions.values():
        for metric in described.metrics:
            counts.setdefault((described.workload, metric.name), Counter())[metric.unit, metric.better] += 1
    return {name: some.most_common(1)[0][0] for name, some in counts.items()}


def _unbounded_figure(
    run: Run,
    evidence: Evidence,
    metric: Metric,
    tainted: dict[Suspect, str],
    agreed: dict[tuple[str, str], UnitAndDirection],
) -> Figure:
    """Return the figure by its program's checks and its own launches, without a ceiling."""
    identity = evidence.subject.identity(metric.name)
    if evidence.refused and not evidence.samples and not evidence.wrong:
        return Unverified(identity, metric.unit, metric.better, evidence.refused)
    cause, reason = _wrong(evidence)
    unit, better = agreed[run.descriptions[evidence.subject.program.target].workload, metric.name]
    if not reason and (unit, better) != (metric.unit, metric.better):
        own, others = (f"{u}, {b} is better" for u, b in ((metric.unit, metric.better), (unit, better)))
        cause, reason = "record", f"reports {metric.name} in {own}, and other variants of its workload in {others}"
    if not reason:
        cause, reason = "check", tainted.get(_suspect(run, evidence.subject), "")
    if reason:
        return Failed(identity, metric.unit, metric.better, reason, cause)
    reporter = next((one.reporter for one in run.brought if one.name == identity.workload), None)
    reason = _doubtful(run, evidence) if reporter is None else ""
    if reason:
        return Unverified(identity, metric.unit, metric.better, reason)
    timings = evidence.timings
    if may_be_missing(run, identity.workload, metric):
        needed = OF_POWER if metric.form in FORMS else metric.quantity
        timings = [t for t in timings if needed in t.values] or timings
    try:
        values = [launch_value(metric, t) for t in timings]
    except ValueError as error:
        return Failed(identity, metric.unit, metric.better, str(error), "record")
    found = replace(estimate(values), times=tuple(t.time for t in timings) if evidence.dated else ())
    if reporter is not None:
        return Reported(identity, metric.unit, metric.better, found, str(reporter), states(values))
    if run.machine.emulated:
        return Untimed(identity, metric.unit, metric.better, UNTIMED)
    return Verified(
        identity=identity,
        unit=metric.unit,
        better=metric.better,
        states=states(values),
        estimate=found,
        working_set=evidence.working_set,
        cost=cost_of(metric.phase, evidence.quantities),
        ceiling=None,
        diverged=evidence.diverged,
        observed=metric.form == VALUE or metric.form in FORMS,
        oversubscribed=evidence.crowded or more_than_processors(identity, run.machine),
    )


def _wrong(evidence: Evidence) -> tuple[Cause, str]:
    """Return cause and reason of a failure (reason "" if none): a failed check, no good launch, or a bad record."""
    if evidence.wrong:
        return "check", evidence.wrong[-1]
    if not evidence.timings and evidence.incomplete < len(evidence.lost):
        n = len(evidence.lost)
        (reason, _), *_rest = Counter(evidence.lost).most_common(1)
        return "lost", reason if n == 1 else f"all {n} launches were lost: {reason}"
    first = evidence.quantities
    usable = all(map(math.isfinite, first.values()))
    for timing in evidence.timings:
        if (timing.cost != first or not usable) and (
            first.keys() != timing.cost.keys()
            or any(not abs(first[k] - v) <= 1e-6 * abs(first[k]) for k, v in timing.cost.items())
        ):
            return "record", "the launches report different amounts of work per step"
    for quantity in _SHARED if any("." in name for name in first) else ():
        of_phases = sum(amount for name, amount in first.items() if name.endswith(f".{quantity}"))
        if of_phases > (1 + 1e-6) * first.get(quantity, 0.0):
            return "record", f"the phases together declare more {quantity.replace('_', ' ')} than the step"
    return "check", ""


def _doubtful(run: Run, evidence: Evidence) -> str:
    """Return why no verdict is possible, or ""."""
    if not evidence.timings:
        return evidence.lost[-1]
    n = len(evidence.timings)
    program = evidence.subject.program
    described = run.descriptions[program.target]
    if not described.device and not OFFLOADING.keys().isdisjoint(needs(program.variant)):
        return "the program does not check where its steps run, and device directives silently fall back to the host"
    if by_design := described.unverified:
        return f"by design: {by_design}"
    if evidence.unchecked == n:
        return "no result was checked"
    if evidence.unchecked:
        return f"{evidence.unchecked} of {n} launches did not check the result"
    if not described.verified:
        return "the program does not describe its check"
    return ""


def _apply_ceilings(
    drafts: Sequence[Figure], run: Run, workloads: dict[str, Workload], allowed: Allowed
) -> list[Figure]:
    """Compare the drafts with their ceilings: an impossible figure fails; what other figures reached is possible."""
    judged: list[Figure] = []
    for draft in drafts:
        workload = workloads.get(draft.identity.workload)
        metric = _metric(run, draft.identity) if isinstance(draft, Verified) else None
        if not isinstance(draft, Verified) or metric is None or workload is None or metric.form in _WITHOUT:
            judged.append(draft)
            continue
        figure = replace(draft, ceiling=allowed.ceiling(draft, metric, workload))
        impossible = allowed.impossible(figure, metric, workload)
        if impossible is None:
            judged.append(figure)
        else:
            kind = Failed if impossible.sure else Unverified
            judged.append(kind(draft.identity, draft.unit, draft.better, impossible.reason, "ceiling"))
    bounded = [f for f in judged if isinstance(f, Verified) and f.ceiling is not None]
    for figure in bounded:
        allowed.raise_ceiling(figure, _metric(run, figure.identity), workloads[figure.identity.workload])
    return [
        replace(f, ceiling=allowed.ceiling(f, _metric(run, f.identity), workloads[f.identity.workload]))
        if isinstance(f, Verified) and f.ceiling is not None
        else f
        for f in judged
    ]


def _metric(run: Run, identity: Identity) -> Metric:
    described = run.descriptions[f"{identity.workload}.{identity.variant}"]
    return next(m for m in described.metrics if m.name == identity.metric)


def _unbuilt(run: Run) -> Iterator[Figure]:
    """Yield one failed figure for each metric of a program that could not be built."""
    for build in run.builds:
        if build.ok:
            continue
        p = build.program
        first = next((line.strip() for line in build.error.splitlines() if "error" in line.lower()), "")
        reason = f"does not build: {first[:200]}" if first else "does not build"
        placements = {c.placement: None for c in run.cells if c.program == p} or {Placement(): None}
        for placement in placements:
            for metric in _any_metrics(run, p):
                identity = Subject(p, placement, ()).identity(metric.name)
                yield Failed(identity, metric.unit, metric.better, reason, "build")


def _any_metrics(run: Run, program: Program) -> tuple[Metric, ...]:
    """Return the metrics of a program, or of another variant of its workload if this one was never built."""
    every = _metrics(run, program) or next(
        (d.metrics for d in run.descriptions.values() if d.workload == program.workload), ()
    )
    known = tuple(metric for metric in every if metric.form not in FORMS)
    return known or (Metric("", "", "", "rate", 1.0, "higher"),)


def _missing_figures(run: Run, records: Sequence[LaunchRecord], evidence: dict[Subject, Evidence]) -> Iterator[Figure]:
    """Yield the figures of cells that left no case at all.

    Failed if every launch died first; unverified if the program refused its arguments or was never started.
    A program that refused because there is no GPU has no figures: the GPU is listed as not available.
    """
    spoke = {r.start.cell for r in records if r.cases or r.refused}
    broken = {b.program for b in run.builds if not b.ok}
    ended: dict[str, list[str]] = {}
    refusals = {r.start.cell: refusal for r in records if (refusal := refused(r))}
    for r in records:
        ended.setdefault(r.start.cell, []).append(r.exit.reason or f"ended with status {r.exit.status}")
    for cell in run.cells:
        if cell.id in spoke or cell.program in broken:
            continue
        if cell.id in refusals and lacks_device(run, cell):
            continue
        reasons = ended.get(cell.id, [])
        if not reasons and run.state != "complete":
            continue  # not begun: the report names how many, by workload
        subjects = [s for s in expected(cell, run.descriptions.get(cell.program.target)) if s not in evidence]
        for subject, metric in product(subjects, _any_metrics(run, cell.program)):
            identity = subject.identity(metric.name)
            if cell.id in refusals:
                yield Unverified(identity, metric.unit, metric.better, refusals[cell.id])
            elif reasons:
                reason = reasons[-1] if len(reasons) == 1 else f"all {len(reasons)} launches were lost: {reasons[-1]}"
                yield Failed(identity, metric.unit, metric.better, reason, "lost")
            else:
                yield Unverified(identity, metric.unit, metric.better, "never launched")


def expected(cell: Cell, description: Description | None) -> list[Subject]:
    """Return the cases that a cell's arguments request (n=100,1000 dt=0.5 kernel=* --threads 1,2).

    For more than a few hundred cases, one subject without parameters represents all. If a parameter names a file, the
    parameters that the file replaces do not multiply the cases.
    """
    replaced = {p.name: p.replaced_by for p in description.parameters if p.replaced_by} if description else {}
    options = description.options if description is not None else {}
    threads = [t for t in cell.options.get("threads", ()) if isinstance(t, int)] or [cell.placement.threads]
    axes = cell.values
    if cell.external is None:
        axes = {name: [v for one in some for v in _recorded(one, options.get(name, ()))] for name, some in axes.items()}
    if len(threads) * math.prod(map(len, axes.values())) > _MANY:
        return [Subject(cell.program, cell.placement, ())]
    subjects = (
        Subject(cell.program, replace(cell.placement, threads=t), tuple(sorted(_meant(case, replaced).items())))
        for t in threads
        for choice in product(*axes.values())
        for case in [dict(zip(axes, choice, strict=True))]
    )
    return list(dict.fromkeys(subjects))


def _meant(case: dict[str, Value], replaced: Mapping[str, str]) -> dict[str, Value]:
    """Return the parameters of a case that have a meaning in it."""
    return {name: v for name, v in case.items() if not documents.is_document(case.get(replaced.get(name, "")))}


def _recorded(given: Value, options: Sequence[str]) -> list[Value]:
    """Convert a value to what the program records: an option, the options that match a pattern, or a number."""
    if (text := str(given)) in options:
        return [text]
    if some := matching(text, options):
        return [*some]
    if not isinstance(given, str):
        return [given]
    found = int(given) if given.isdecimal() and len(given) < 19 else number(given)
    return [given if found is None or not math.isfinite(found) else found]
