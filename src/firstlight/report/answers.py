"""Answers: the rows that workloads declare, each with the best verified figure and what to choose."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence, Set
from functools import partial
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from firstlight.analysis import Judgement, formatting, libraries, ranking
from firstlight.analysis.ceilings import bounds, cores
from firstlight.analysis.evidence import lacks_device, unfit
from firstlight.analysis.verdict import Failed, Figure, Identity, Verified
from firstlight.model.catalogue import Row, Workload
from firstlight.model.plan.selectors import in_row, serves
from firstlight.report import chapters, wording
from firstlight.results.record import Run
from firstlight.results.store import documents
from firstlight.system.machine import UNTIMED

_TOGETHER = "\0"  # between the names of several kinds of choices: no name has it
MOST = 18  # rows of the front page
MOST_MISSING = 4  # name at most this many candidates of a row that were not measured
SUBJECTS = {"toolchain": "flags", "mpi": "MPI", "variant": "method", "placement": "ranks x threads"}
"""What a row lets choose, in words; a parameter has its own name."""
COMMANDS = SUBJECTS | {"variant": "command"}
"""The words of SUBJECTS for a run of a user's own commands."""


class Answer(msgspec.Struct, frozen=True):
    """One row. `best` is None if nothing was verified; `reason` is then the cause.

    `ordinary`: the answer of plain variants alone, if the workload has any; None where `best` stands for both.
    `missing`: candidates that the run did not measure, so the best one may be among them. `unbounded`: resources that
    bound `best` and were not measured with as many cores and as much data. `subject`: what there is to choose.
    `tuned`: the choice is one of flags for a tuned variant, and advice for it alone (see `analysis.ordinary`).
    `library`: the MPI library of `best`. `no_ordinary`: the workload is a program, not a figure of the hardware; it has
    plain variants, but the run did not measure them.
    """

    row: Row
    workload: str
    chapter: str
    best: Verified | None
    choose: str
    rivals: tuple[Verified, ...]
    failed: tuple[Failed, ...]
    reason: str
    missing: tuple[str, ...] = ()
    unbounded: tuple[str, ...] = ()
    subject: str = ""
    tuned: bool = False
    library: str = ""
    ordinary: Answer | None = None
    no_ordinary: bool = False

    @property
    def first(self) -> Answer:
        """Return the answer of ordinary code if the row has one, else this one."""
        return self if self.ordinary is None else self.ordinary

    @property
    def beyond_ordinary(self) -> bool:
        """Return whether the best figure is not ordinary code, although the workload has ordinary code."""
        return self.no_ordinary or (self.ordinary is not None and self.ordinary.best is not self.best)

    @property
    def advice(self) -> str:
        """Return what to choose with its subject, as `MPI: MPICH`; "" if there is nothing to choose."""
        program = f" for {self.program}" if self.tuned else ""
        return f"{self.subject}{program}: {self.choose}" if self.choose else ""

    @property
    def program(self) -> str:
        """Return the program whose figure the row shows, as `lu.blocked`."""
        return f"{self.workload}.{self.best.identity.variant}" if self.best is not None else ""

    @property
    def program_and_library(self) -> str:
        """Return the program with its MPI library: `halo.mpi_shared, MPICH`."""
        return f"{self.program}, {self.library}" if self.library else self.program

    @property
    def not_measured(self) -> str:
        """Return `not measured: lu.blocked, lu.calu and 3 more`; "" if every candidate was measured."""
        if not self.missing:
            return ""
        more = f" and {len(self.missing) - MOST_MISSING} more" if len(self.missing) > MOST_MISSING else ""
        return f"not measured: {', '.join(self.missing[:MOST_MISSING])}{more}"

    @property
    def untimed(self) -> bool:
        """Return whether it has no number because nothing was timed: all results were right."""
        return self.best is None and not self.failed and self.reason == UNTIMED


def answers(judgement: Judgement, workloads: Mapping[str, Workload]) -> list[Answer]:
    """Return all declared rows for which the run has figures, by chapter and order.

    None recommends anything if the machine was not fit for measuring.
    """
    cases = {(case.workload, case.row.title): case for case in libraries.table(judgement, workloads)}
    made = [_answer(judgement, row, w, cases.get((w.name, row.title))) for w in workloads.values() for row in w.rows]
    found = sorted((a for a in made if a is not None), key=place)
    return [_without_choice(a) for a in found] if unfit(judgement.run, judgement.records) else found


def _without_choice(a: Answer) -> Answer:
    return replace(a, choose="", ordinary=None if a.ordinary is None else replace(a.ordinary, choose=""))


def place(answer: Answer) -> tuple[object, ...]:
    return chapters.place(answer.chapter), answer.row.order, answer.row.title


class Front(NamedTuple):
    """`rows` of the front page, by ordinary code where a row has any; `possible`: what other variants reach in them.

    `others`: rows in the sections of their chapters, both kinds; `cut`: headlines without room.
    """

    rows: list[Answer]
    possible: list[Answer]
    others: list[Answer]
    cut: int


def front(run: Run, found: Sequence[Answer]) -> Front:
    """Choose the front page: at most MOST headlines; any rows if the user named workloads or no headline exists."""
    headlines = [a for a in found if a.row.headline]
    every = bool(run.names) or not headlines
    wanted = sorted(found, key=lambda a: not a.row.headline) if every else headlines
    chosen = sorted(wanted[:MOST], key=place)
    others = [a for a in found if not any(a is one for one in chosen)]
    both = [one for a in others for one in [a.first] * (not a.no_ordinary) + [a] * a.beyond_ordinary]
    rows, possible = [a.first for a in chosen if not a.no_ordinary], [a for a in chosen if a.beyond_ordinary]
    return Front(rows, possible, both, sum(a.row.headline for a in others))


def _without_work(judgement: Judgement, row: Row, workload: Workload, known: Set[Identity]) -> bool:
    """Return whether programs of the row are verified by other metrics only: the work of the case is 0.

    A matrix without entries has no rate, whatever one of the formats refuses.
    """
    others = (replace(f.identity, metric=row.metric) for f in judgement.figures if isinstance(f, Verified))
    return any(i not in known and in_row(i, row, workload, judgement.run.machine) for i in others)


def _answer(judgement: Judgement, row: Row, workload: Workload, case: libraries.Case | None) -> Answer | None:
    run = judgement.run
    found = [f for f in judgement.figures if in_row(f.identity, row, workload, run.machine)]
    if not found:
        return None
    failed = tuple(f for f in found if isinstance(f, Failed))
    good = ranking.presentable(run, found)
    if not good and verified(found):
        return None  # `unmeasured.unanswered` names it
    best = ranking.best(good)
    if best is None and row.device and not run.machine.gpus and not failed:
        return None  # the list of what is not available names the reason, once
    if best is None:
        reason = next(
            (f.reason for f in found if not isinstance(f, Verified)),
            "measured only with more ranks and threads than CPUs",
        )
        if not failed and _without_work(judgement, row, workload, {f.identity for f in found}):
            reason = f"{row.metric} is not defined: there is nothing to compute"
        return Answer(row, workload.name, workload.chapter, None, "", (), failed, reason)
    shown = [*good, *(f for f in found if not isinstance(f, Verified))]
    missing = _missing(judgement, row, workload, shown)
    of_all = _of(judgement, row, workload, best, good, failed, missing)
    plain = [f for f in good if f.identity.variant in workload.plain]
    first = ranking.best(plain) if case is None else case.best
    if first is None:  # what provides ceilings is a figure of the hardware, however it was programmed
        return replace(of_all, no_ordinary=bool(workload.plain) and not workload.provides)
    missing_plain = _missing(judgement, row, workload, shown, workload.plain)
    ordinary = of_all if first is best else _of(judgement, row, workload, first, plain, failed, missing_plain)
    if case is not None:
        subject = SUBJECTS["mpi"]
        ordinary = replace(ordinary, choose=case.choice, rivals=case.rivals, subject=subject, tuned=False)
    return replace(of_all, ordinary=ordinary)


def _of(
    judgement: Judgement,
    row: Row,
    workload: Workload,
    best: Verified,
    good: Sequence[Verified],
    failed: tuple[Failed, ...],
    missing: tuple[str, ...],
) -> Answer:
    """Return the answer with this best figure, which is one of `good`."""
    run, variant, key = judgement.run, best.identity.variant, chooser(row.choose)
    own = any(one.name == workload.name for one in run.brought)
    flags = row.choose == "toolchain" and not own
    tuned = flags and variant not in workload.plain
    # Flags are chosen for one variant: what suits a tuned one may be the worst for a plain loop, and the row names one.
    rivals = best_of_each([f for f in good if f.identity.variant == variant] if flags else good, key)
    choose = ""
    if row.choose != "toolchain" or workload.toolchain_sensitive:
        choose = ranking.recommended(rivals, lambda f: label(run, row.choose, key(f.identity)))
    return Answer(
        row,
        workload.name,
        workload.chapter,
        best,
        choose,
        tuple(rivals),
        failed,
        "",
        missing,
        _unbounded(judgement, best, workload),
        _subject(row, own),
        tuned,
        wording.mpi_name(run, best.identity.mpi) if best.identity.mpi else "",
    )


def _subject(row: Row, own: bool) -> str:
    """Return what a row lets choose: flags, MPI, method, ... `own`: among a user's commands."""
    known = COMMANDS if own else SUBJECTS
    return " and ".join(known.get(kind, kind.replace("_", " ")) for kind in row.choose.split("+"))


def _missing(
    judgement: Judgement, row: Row, workload: Workload, found: Sequence[Figure], variants: Container[str] | None = None
) -> tuple[str, ...]:
    """Return the row's candidates that were planned and have no figure: variants, else programs of known variants.

    `variants`: those that count; None: all.
    """
    run = judgement.run
    if run.state == "complete":
        return ()
    failed = {b.program for b in run.builds if not b.ok}
    measured = {_program(f.identity) for f in found}
    planned = {
        c.program: None
        for c in run.cells
        if c.program.workload == workload.name
        and (variants is None or c.program.variant in variants)
        and c.program not in failed
        and not lacks_device(run, c)
        and serves(c, row, workload, run.machine)
    }
    left = [p for p in planned if (p.variant, p.toolchain, p.mpi) not in measured]
    known = {variant for variant, _, _ in measured}
    targets = dict.fromkeys(p.target for p in left if p.variant not in known)
    programs = (" with ".join(filter(None, (p.target, p.toolchain, p.mpi))) for p in left if p.variant in known)
    return (*targets, *programs)


def _program(identity: Identity) -> tuple[str, str, str | None]:
    return identity.variant, identity.toolchain, identity.mpi


def _unbounded(judgement: Judgement, figure: Verified, workload: Workload) -> tuple[str, ...]:
    if figure.ceiling is not None or figure.identity.placement.nodes > 1:
        return ()
    wanted = dict.fromkeys(b.ceiling for b in bounds(figure, workload, judgement.run.machine))
    measured = {limit.name for limit in judgement.limits if limit.cores == cores(figure.identity)}
    return tuple(name for name in wanted if name not in measured) or tuple(wanted)


def chooser(kind: str) -> Callable[[Identity], str]:
    """Return the function that names a choice: the toolchain, MPI, variant, placement, parameter, or several."""
    if "+" in kind:
        some = [chooser(one) for one in kind.split("+")]
        return lambda i: _TOGETHER.join(key(i) for key in some)
    if kind in ("toolchain", "variant"):
        return lambda i: str(getattr(i, kind))
    if kind == "mpi":
        return lambda i: i.mpi or "none"
    if kind == "placement":
        return lambda i: formatting.where(i.placement) or "1 core"
    return lambda i: documents.shown(dict(i.parameters).get(kind, "none"))


def label(run: Run, kind: str, name: str) -> str:
    if "+" in kind:
        return " / ".join(map(partial(label, run), kind.split("+"), name.split(_TOGETHER)))
    if kind == "mpi":
        return "threads, no MPI" if name == "none" else wording.mpi_name(run, name)
    return name if kind in ("toolchain", "variant") else name.replace("_", " ")


def choice(run: Run, kind: str, identity: Identity, x: str = "") -> tuple[str, str]:
    """Return the label of a figure's choice, and its case: the parameters that are neither a choice nor `x`."""
    others = formatting.values((k, v) for k, v in identity.parameters if k not in {x, *kind.split("+")})
    return label(run, kind, chooser(kind)(identity)), others


def best_of_each(figures: Iterable[Verified], key: Callable[[Identity], str]) -> list[Verified]:
    """Return the best figure of each choice, best first; oversubscribed figures are left out."""
    of: dict[str, list[Verified]] = {}
    for figure in figures:
        of.setdefault(key(figure.identity), []).append(figure)
    found = [best for some in of.values() if (best := ranking.best(some)) is not None]
    return sorted(found, key=lambda f: f.estimate.median, reverse=bool(found) and found[0].better == "higher")


def verified(figures: Iterable[Figure]) -> list[Verified]:
    return [f for f in figures if isinstance(f, Verified)]
