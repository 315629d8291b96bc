"""Absence: what this machine lacks and what was not planned for it. All pages and exports use this list."""

from __future__ import annotations

from firstlight.analysis import Judgement
from firstlight.analysis.evidence import lacks_device, may_be_missing
from firstlight.analysis.formatting import bare, listing
from firstlight.analysis.verdict import Verified
from firstlight.model.plan import AS_IT_IS
from firstlight.results.record import Run
from firstlight.toolchain import OFFLOADING, Absent

_WITH = " with "


def absences(judgement: Judgement) -> list[Absent]:
    """Return what is absent, with one entry per program and reason: `dot.x with gcc-base / gcc-fast`.

    Entries contain no paths of the machine.
    """
    run = judgement.run
    found: dict[tuple[str, str, str], list[str]] = {}
    lacking = dict.fromkeys((*run.not_available, *run.toolbox.absent, *_devices(judgement)))
    if _only_external(run):
        lacking = dict.fromkeys(a for a in run.not_available if a not in run.toolbox.absent)
    for a in dict.fromkeys((*lacking, *_unreported(judgement))):
        program, _, toolchain = a.what.partition(_WITH)
        found.setdefault((program, bare(a.why), bare(a.fix)), []).append(toolchain)
    return [
        Absent(_WITH.join(x for x in (program, " / ".join(filter(None, toolchains))) if x), why, fix)
        for (program, why, fix), toolchains in found.items()
    ]


def _only_external(run: Run) -> bool:
    """Return whether the run consists of commands that a user built: what the machine lacks does not concern them."""
    return bool(run.cells) and all(c.external is not None and c.program.toolchain == AS_IT_IS for c in run.cells)


def _unreported(judgement: Judgement) -> list[Absent]:
    """Return the optional metrics of an external command that none of its verified launches reported."""
    some = {f.identity for f in judgement.figures if isinstance(f, Verified)}
    reported = {(i.workload, i.variant, i.metric) for i in some}
    return [
        Absent(
            f"{m.name} of {d.workload}.{d.variant}",
            "no launch reported this metric",
            "see docs/method.md, Programs that are not ours",
        )
        for d in judgement.run.descriptions.values()
        for m in d.metrics
        if may_be_missing(judgement.run, d.workload, m)
        and any((i.workload, i.variant) == (d.workload, d.variant) for i in some)
        and (d.workload, d.variant, m.name) not in reported
    ]


def _devices(judgement: Judgement) -> list[Absent]:
    """Return an entry for the missing GPU, if compilers for one are present, with the variants not measured."""
    run = judgement.run
    some = compilers_for_devices(run)
    if run.machine.gpus or not some:
        return []
    why = f"programs can use no GPU, although {listing(some)} {'generates' if len(some) == 1 else 'generate'} GPU code"
    if waiting := _waiting(judgement):
        why += f"; not measured: {listing(waiting)}"
    return [Absent("GPU", why, "run on a node with a GPU")]


def _waiting(judgement: Judgement) -> list[str]:
    """Return the variants of this run that found no device, by workload: `stream (acc, cuda)`."""
    found: dict[str, dict[str, None]] = {}
    measured = {r.start.cell for r in judgement.records if r.cases}
    for cell in judgement.run.cells:
        if lacks_device(judgement.run, cell) and cell.id not in measured:
            found.setdefault(cell.program.workload, {})[cell.program.variant] = None
    return [f"{workload} ({', '.join(variants)})" for workload, variants in found.items()]


def compilers_for_devices(run: Run) -> list[str]:
    """Return the available compilers for GPU code: `nvcc 13.0.88`, `gcc (OpenACC, OpenMP on devices)`."""
    cuda = run.toolbox.cuda
    by: dict[str, list[str]] = {}
    for offload in run.toolbox.offloads:
        if offload.device:
            by.setdefault(offload.compiler, []).append(OFFLOADING.get(offload.capability, offload.capability))
    return ([cuda.label] if cuda else []) + [f"{name} ({', '.join(sorted(what))})" for name, what in by.items()]
