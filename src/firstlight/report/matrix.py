"""The matrix: the loss from a wrong choice of toolchain, MPI and placement, by variant, as the ratio to the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from firstlight.analysis import Judgement, libraries, provenance, ranking, states
from firstlight.analysis.evidence import unfit
from firstlight.analysis.formatting import listing, where
from firstlight.analysis.ordinary import Ordinary
from firstlight.analysis.verdict import Figure, Identity, Verified
from firstlight.core.units import count, interval, quantity, significant
from firstlight.model.catalogue import Row, Workload
from firstlight.model.plan.selectors import selects
from firstlight.report import answers, sentence, wording
from firstlight.results.record import Run
from firstlight.system.machine import cores

MOST_COLUMNS = 6
BEST = "best"  # the text of a cell that is better than all others
NOTHING = "–"  # the text of a cell without a figure
_STEPS = (1.03, 1.15, 1.5, 2.5, 5.0)  # upper ends of the shades 0 to 4; 5 beyond


class MatrixCell(msgspec.Struct, frozen=True):
    """`shade` 0 (the best or a tie) to 5; None where nothing can be said: `why` then contains the reason."""

    text: str
    shade: int | None
    why: str
    failed: bool = False

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "text", provenance.settle(self.text))


class Matrix(msgspec.Struct, frozen=True):
    id: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[MatrixCell, ...]], ...]

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "title", provenance.settle(self.title))

    @property
    def head(self) -> tuple[str, ...]:
        return ("choice", "relative to the best", "figure and command, or the reason for an empty cell")

    @property
    def table(self) -> list[tuple[str, ...]]:
        """Return every non-empty cell with its source."""
        return [
            (f"{line} · {column}", cell.text, cell.why)
            for line, cells in self.rows
            for column, cell in zip(self.columns, cells, strict=True)
            if cell.text != NOTHING
        ]

    @property
    def reasons(self) -> list[str]:
        """Return why cells failed, each reason once with the cells that it concerns."""
        reasons: dict[str, list[str]] = {}
        for line, cells in self.rows:
            for column, cell in zip(self.columns, cells, strict=True):
                if cell.failed:
                    reasons.setdefault(cell.why, []).append(f"{column} with {line}")
        return [f"{listing(what)}: {why}" for why, what in reasons.items()]


def matrices(judgement: Judgement, workloads: Mapping[str, Workload]) -> list[Matrix]:
    """Return matrices for each row of the summary with a choice, in order: one for its ranks, one per other number.

    Rows that choose an MPI library are lines of `of_libraries` instead.
    Variants that do other work (`[[classes]]`) have a matrix of their own.

    Placements of as many ranks (over more or fewer nodes, with more or fewer threads) are lines of one matrix.
    There is none if the machine was not fit for measuring.
    """
    rows = sorted(((r, w) for w in workloads.values() for r in w.rows), key=lambda x: (x[0].order, x[0].title))
    by_purpose = {(c.workload, c.row.title) for c in libraries.table(judgement, workloads) if c.row.choose == "mpi"}
    made = []
    for k, (row, workload) in enumerate([] if unfit(judgement.run, judgement.records) else rows):
        mine = cores.ranks(row.ranks, judgement.run.machine)
        for ranks, figures in sorted(_by_ranks(judgement, row, workload).items(), key=lambda x: x[0] != mine):
            own = ranks == mine
            if own and (workload.name, row.title) in by_purpose:
                continue
            title = provenance.name(sentence.capital(row.title))
            title += "" if own else f", with {count(ranks, 'rank')} instead"
            name = f"choose-{k}" + ("" if own else f"-{ranks}")
            for n, (work, alike) in enumerate(_by_work(figures, workload).items()):
                full_title = f"{title}, {work}" if work else title
                made.append(_matrix(judgement, row, alike, full_title, f"{name}-{chr(97 + n)}" if n else name))
    return [m for m in made if m is not None]


def of_libraries(judgement: Judgement, workloads: Mapping[str, Workload]) -> Matrix | None:
    """Return the table of MPI libraries by purpose: plain calls, compared with the best library of each case."""
    cases = libraries.table(judgement, workloads)
    columns = tuple(dict.fromkeys(name for case in cases for name in sorted(case.figures)))
    rows = []
    for case in cases:
        figures = [list(case.figures.get(name, ())) for name in columns]
        line = provenance.settle(f"{libraries.named(case.row.purpose)}: {provenance.name(case.row.title)}")
        rows.append((line, _cells(judgement.run, figures, case.best)))
    title = "MPI libraries by purpose: plain calls, compared with the best library of each case"
    return Matrix("choose-mpi", title, columns, tuple(rows)) if cases else None


def of_ordinary(judgement: Judgement, found: Ordinary | None) -> Matrix | None:
    """Return the plain kernels by compiler and flags, compared with the best of each kernel."""
    if found is None:
        return None
    columns = tuple(f.toolchain for f in found.flags)
    rows = []
    for kernel in found.kernels:
        best = kernel.best
        if best is not None:
            figures = [[kernel.figures[c]] if c in kernel.figures else [] for c in columns]
            rows.append((provenance.settle(provenance.name(kernel.name)), _cells(judgement.run, figures, best)))
    return Matrix("choose-ordinary", "Ordinary code, compared with the best flags of each kernel", columns, tuple(rows))


def _by_ranks(judgement: Judgement, row: Row, workload: Workload) -> dict[int, list[Figure]]:
    """Return a row's figures by number of ranks, without numbers of other rows; one group if any placement fits."""
    run = judgement.run
    threads, ranks = cores.amount(row.threads, run.machine), cores.ranks(row.ranks, run.machine)
    alike = (row.metric, row.where, row.variants, row.device)
    other_ranks = {
        cores.ranks(r.ranks, run.machine)
        for r in workload.rows
        if r is not row and r.placed and (r.metric, r.where, r.variants, r.device) == alike
    }
    found: dict[int, list[Figure]] = {}
    for f in judgement.figures:
        i = f.identity
        fits = (
            i.placement.ranks not in other_ranks
            if i.mpi
            else (i.placement.threads, i.placement.ranks) == (threads, ranks)
        )
        fits |= not row.placed
        if i.metric == row.metric and fits and selects(i, row, workload, run.machine):
            found.setdefault(i.placement.ranks if row.placed else ranks, []).append(f)
    return dict(sorted(found.items()))


def _by_work(figures: list[Figure], workload: Workload) -> dict[str, list[Figure]]:
    """Group figures by the class of their variants' work; figures without a class come first."""
    found: dict[str, list[Figure]] = {}
    for f in figures:
        found.setdefault(workload.work(f.identity.variant), []).append(f)
    return dict(sorted(found.items()))


def _matrix(judgement: Judgement, row: Row, figures: list[Figure], title: str, name: str) -> Matrix | None:
    several = len({f.identity.placement for f in figures}) > 1
    cells: dict[tuple[str, str], list[Figure]] = {}
    for f in figures:
        cells.setdefault((_line(judgement, f.identity, several), _column(row, f.identity)), []).append(f)
    best = ranking.best(f for some in cells.values() for f in some if isinstance(f, Verified))
    lines, columns = sorted({k[0] for k in cells}), sorted({k[1] for k in cells})
    if best is None or len(cells) < 2:
        return None
    if len(columns) > MOST_COLUMNS and len(columns) > len(lines):  # many strategies stand below each other
        cells = {(variant, line): some for (line, variant), some in cells.items()}
        lines, columns = columns, lines
    every = iter(_cells(judgement.run, [cells.get((line, c), []) for line in lines for c in columns], best))
    rows = tuple((line, tuple(next(every) for _ in columns)) for line in lines)
    ranked = [first for some in cells.values() if (first := ranking.best(answers.verified(some))) is not None]
    failed = sum(c.failed for _, line in rows for c in line)
    wrong = f", {failed} failed" if failed else ""
    unsure = " (too few launches for certainty)" if any(f.estimate.low is None for f in ranked) else ""
    message = f"{title}: {_cost(best, ranked)}{wrong}{unsure}"
    return Matrix(name, message, tuple(columns), rows)


def _cost(best: Verified, ranked: list[Verified]) -> str:
    """Return the loss of the worst choice among those known to be worse, or among all if launches are too few."""
    few = any(f.estimate.low is None for f in ranked)
    known = [f for f in ranked if few or f is best or not ranking.standing(best, f)]
    worst = max(known, key=lambda f: ranking.advantage(best, f))
    if (by := ranking.advantage(best, worst)) >= 1 + ranking.PRACTICAL:
        cost = provenance.advantage(f"{significant(by)} ×", best, worst)
        return f"the worst choice is {provenance.at_least(best, worst)}{cost} worse"
    word = ranking.UNCLEAR if any(ranking.standing(best, f) == ranking.UNCLEAR for f in ranked) else ranking.ANY
    return f"{word}, {wording.MEANINGS[word]}"


def _column(row: Row, i: Identity) -> str:
    """Return the variant and the values of the parameters that the row lets choose; the rest is in the line."""
    parameters = [kind for kind in row.choose.split("+") if kind not in ("toolchain", "mpi", "variant", "placement")]
    return ", ".join([i.variant, *(answers.chooser(kind)(i) for kind in parameters)])


def _line(judgement: Judgement, i: Identity, several: bool) -> str:
    tools = f"{wording.mpi_name(judgement.run, i.mpi)} · {i.toolchain}" if i.mpi else i.toolchain
    return f"{tools} · {where(i.placement) or '1 core'}" if several else tools


def _cells(run: Run, each: Sequence[list[Figure]], best: Verified) -> tuple[MatrixCell, ...]:
    """Return a cell for each list of figures. The best one is BEST if all others are worse, else it is one of those
    that are ranking.ANY or UNCLEAR, as on its card.
    """
    others = [f for figures in each if (f := ranking.best(answers.verified(figures))) is not None and f is not best]
    words = {ranking.standing(best, f) for f in others}
    word = next((word for word in (ranking.UNCLEAR, ranking.ANY) if word in words), BEST)
    return tuple(_cell(run, figures, best, word) for figures in each)


def _cell(run: Run, figures: list[Figure], best: Verified, word: str) -> MatrixCell:
    """Return the cell of these figures: how many times worse they are than the best, or a word.

    `word`: that of the best one.
    """
    here = ranking.best(answers.verified(figures))
    if here is None:
        reason = next((f.reason for f in figures if not isinstance(f, Verified)), "")
        if figures and not reason:
            reason = "more ranks and threads than processors, so never ranked"
        failed = bool(figures) and any(type(f).__name__ == "Failed" for f in figures)
        return MatrixCell("failed" if failed else NOTHING, None, reason or "not measured in this run", failed)
    by = ranking.advantage(best, here)
    shade = next((k for k, most in enumerate(_STEPS) if by <= most), len(_STEPS))
    e = here.estimate
    span = interval(e.low, e.high, e.median, here.unit)
    two = f"; bimodal: {states.describe_states(here.states, here.unit)}" if here.states else ""
    why = f"{quantity(e.median, here.unit)} ({span}){two}; {wording.repeat(here.identity, run)}"
    if word := word if here is best else ranking.standing(best, here):
        meaning = f"; {wording.MEANINGS[word]}" if word in wording.MEANINGS else ""
        return MatrixCell(word, None if word == ranking.UNCLEAR else 0, why + meaning)
    bound = "≥ " if provenance.at_least(best, here) else ""
    return MatrixCell(bound + provenance.advantage(f"{significant(by)} ×", best, here), shade, why)
