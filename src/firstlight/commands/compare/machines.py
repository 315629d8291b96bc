"""Compare any number of machines by the rows of their reports, with machines of those reports as further columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from firstlight.analysis import Judgement, disturbance, formatting
from firstlight.analysis.compare import DRIFT, EQUIVALENCE, moments, outcome_of
from firstlight.analysis.formatting import listing
from firstlight.analysis.interval import quotient, ratio
from firstlight.analysis.provenance import bare, number, settle, states_of
from firstlight.analysis.states import describe_states, spanning
from firstlight.analysis.verdict import Estimate, Reported, States, Verified
from firstlight.core.confidence import LEVEL
from firstlight.core.errors import INCONCLUSIVE, OK
from firstlight.core.heritage import Entry, Heritage
from firstlight.core.units import convert, count, declared, quantity, significant
from firstlight.model.catalogue import Row, Workload
from firstlight.model.catalogue.brought import IMPORTED
from firstlight.model.plan.selectors import resolved, same_value
from firstlight.report import answers, chapters, html
from firstlight.report.export.comparison import Which, which
from firstlight.report.ink import Ink, wrap
from firstlight.report.terminal import machine_line
from firstlight.report.wording import NO_DIFFERENCE
from firstlight.results.description import Better
from firstlight.results.store.durable import replace
from firstlight.system.machine import Machine, cores

Standing = Literal["best", "alike", "behind", "reported", "none"]
_NUMBERS = 22  # columns of a median and its share


class Cell(msgspec.Struct, frozen=True):
    """The figure of one run in a row. `share`: relative to the row's best median (1: the best; null: no figure).

    `standing`: best; alike: no significant difference from the best, or none that matters; behind; reported: from
    another tool, not verified and without a share; none, with `reason`.
    """

    standing: Standing
    identity: Which | None = None
    estimate: Estimate | None = None
    states: States | None = None
    share: float | None = None
    reason: str = ""


class Published(msgspec.Struct, frozen=True):
    """A published figure of an earlier machine, in the unit of the row, and its place in the source."""

    machine: str
    year: int
    value: float
    share: float | None
    source: str
    note: str


class Line(msgspec.Struct, frozen=True):
    """A row with a figure in at least one run: one cell per run, in the order of the runs."""

    chapter: str
    title: str
    metric: str
    unit: str
    better: Better
    cells: tuple[Cell, ...]
    published: tuple[Published, ...] = ()


class Column(msgspec.Struct, frozen=True):
    """A run. `disturbed`: a sentence if other processes used its processors, otherwise ""."""

    run: str
    machine: str
    described: str
    disturbed: str


class Beside(msgspec.Struct, frozen=True):
    """Runs side by side. `code`: 4 if a run was disturbed, or if no row has figures in two runs, otherwise 0."""

    runs: tuple[Column, ...]
    lines: tuple[Line, ...]
    threshold: float
    drift: float
    code: int

    @property
    def disturbed(self) -> list[str]:
        return [column.disturbed for column in self.runs if column.disturbed]


Judged = tuple[Judgement, Mapping[str, Workload]]


def beside(runs: Sequence[Judged], heritage: Heritage, threshold: float) -> Beside:
    """Return the comparison of two runs or more. Each run has the workloads with its own settings."""
    columns = tuple(_column(k, judgement) for k, (judgement, _) in enumerate(runs))
    found = [{(a.workload, a.row.title): a for a in answers.answers(*run)} for run in runs]
    keys: dict[tuple[str, str], answers.Answer] = {}
    for some in found:
        for key, answer in some.items():
            if key not in keys or keys[key].best is None:
                keys[key] = answer
    lines = []
    for key, answer in sorted(keys.items(), key=lambda item: answers.place(item[1])):
        machine = next(j.run.machine for (j, _), some in zip(runs, found, strict=True) if key in some)
        workload = next(w[answer.workload] for (_, w), some in zip(runs, found, strict=True) if key in some)
        line = _line(answer, [some.get(key) for some in found], heritage, workload, machine, threshold)
        if line is not None:
            lines.append(line)
    lines += _reported([judgement for judgement, _ in runs])
    shared = any(sum(cell.estimate is not None for cell in line.cells) > 1 for line in lines)
    code = OK if shared and not any(column.disturbed for column in columns) else INCONCLUSIVE
    return Beside(columns, tuple(lines), threshold, DRIFT, code)


def _reported(runs: Sequence[Judgement]) -> Iterable[Line]:
    """Yield a line for each figure that another tool reported in any of the runs."""
    found = [{f.identity: f for f in judgement.figures if isinstance(f, Reported)} for judgement in runs]
    for figure in {identity: f for some in reversed(found) for identity, f in some.items()}.values():
        same = [some.get(figure.identity) for some in found]
        cells = (Cell("none", reason="not reported") if f is None else _as_reported(f) for f in same)
        title = formatting.name(figure.identity)
        yield Line(IMPORTED, title, figure.identity.metric, figure.unit, figure.better, tuple(cells))


def _as_reported(figure: Reported) -> Cell:
    return Cell("reported", which(figure.identity), figure.estimate, figure.states, reason=figure.reason)


def letter(number: int) -> str:
    """Return the letter of a run: A, B, ... Z, AA, AB, ..."""
    return (letter(number // 26 - 1) if number >= 26 else "") + chr(ord("A") + number % 26)


def _column(number: int, judgement: Judgement) -> Column:
    warning = disturbance.warning(letter(number), judgement)
    return Column(judgement.run.id, judgement.run.machine.title, machine_line(judgement), warning)


def _line(
    answer: answers.Answer,
    given: Sequence[answers.Answer | None],
    heritage: Heritage,
    workload: Workload,
    machine: Machine,
    threshold: float,
) -> Line | None:
    """Return the line of a row, None if no run has a number for it."""
    figures = [a.best if a is not None else None for a in given]
    good = [f for f in figures if f is not None]
    if not good:
        return None
    like = good[0]
    good = [f for f in good if (f.unit, f.better) == (like.unit, like.better)]
    best = (max if like.better == "higher" else min)(good, key=lambda f: f.estimate.median)
    cells = tuple(_cell(a, f, best, threshold) for a, f in zip(given, figures, strict=True))
    published = tuple(_published(answer.row, workload, heritage, like, best.estimate.median, machine))
    return Line(answer.chapter, answer.row.title, answer.row.metric, like.unit, like.better, cells, published)


def _cell(answer: answers.Answer | None, figure: Verified | None, best: Verified, threshold: float) -> Cell:
    if answer is None:
        return Cell("none", reason="not measured")
    if figure is None:
        return Cell("none", reason=("failed: " if answer.failed else "") + answer.reason)
    if (figure.unit, figure.better) != (best.unit, best.better):
        return Cell("none", reason=f"measured in {figure.unit}")
    standing: Standing = "best" if figure is best else "behind" if behind(figure, best, threshold) else "alike"
    share = _share(figure.estimate.median, best.estimate.median, best.better)
    return Cell(standing, which(figure.identity), figure.estimate, figure.states, share)


def _share(value: float, best: float, better: Better) -> float:
    """Return the share of the best, by the medians that are shown."""
    return quotient(value, best) if better == "higher" else quotient(best, value)


def behind(figure: Verified, best: Verified, threshold: float) -> bool:
    """Return whether `figure` is worse than `best` of another run, by the rules for comparing two runs."""
    mine, other = moments(best.estimate), moments(figure.estimate)
    found, narrow = (
        spanning(ratio(mine, other, confidence), best, figure) for confidence in (max(0.99, LEVEL), EQUIVALENCE)
    )
    shown = quotient(figure.estimate.median, best.estimate.median)
    return outcome_of(found, shown, narrow, best.better, threshold) == "worse"


def _published(
    row: Row, workload: Workload, heritage: Heritage, like: Verified, best: float, machine: Machine
) -> Iterable[Published]:
    """Return the best published figure of each earlier machine for the row."""
    ranks = cores.ranks(row.ranks, machine) * cores.amount(row.threads, machine)
    where = {k: resolved(k, v, workload, machine) for k, v in row.where.items()}
    found: dict[str, Published] = {}
    for entry in heritage.matching(workload.name, row.metric):
        value = convert(entry.value, entry.unit, like.unit)
        if value is None or entry.ranks != ranks or not _matches(entry, where):
            continue
        note = ", ".join(x for x in (entry.mpi or entry.variant, entry.note) if x)
        one = Published(entry.machine, entry.year, value, _share(value, best, like.better), entry.source.citation, note)
        known = found.get(entry.machine)
        if known is None or (one.value > known.value) == (like.better == "higher"):
            found[entry.machine] = one
    return sorted(found.values(), key=lambda p: (p.year, p.machine))


def _matches(entry: Entry, where: Mapping[str, int | float | str | None]) -> bool:
    """Return whether the known parameters of a published figure match the values of the row."""
    return all(k not in entry.parameters or same_value(entry.parameters[k], v) for k, v in where.items())


def earlier(found: Beside) -> list[tuple[str, int]]:
    """Return the earlier machines that have a figure in any line, with their years, by year."""
    return sorted({(p.machine, p.year) for line in found.lines for p in line.published}, key=lambda x: (x[1], x[0]))


def cell_text(cell: Cell, unit: str) -> str:
    """Return `14.2 GB/s 0.71`, or `≈0.98` for a share like the best; `✗` for a failed figure, `-` if there is none."""
    if cell.estimate is not None and cell.standing == "reported":
        return quantity(cell.estimate.median, unit)
    if cell.estimate is None or cell.share is None:
        return "✗" if cell.reason.startswith("failed") else "-"
    mark = "≈" if cell.standing == "alike" else ""
    return f"{quantity(cell.estimate.median, unit)} {mark}{significant(cell.share)}"


def median(found: Beside, row: int, column: int) -> str:
    """Return `14.2 GB/s` with its formula over the document of `./fl compare --json`, "" if there is none."""
    estimate, unit = found.lines[row].cells[column].estimate, found.lines[row].unit
    return number(quantity(estimate.median, unit), f"{_place(row, column)}.estimate.median", unit) if estimate else ""


def span(found: Beside, row: int, column: int) -> str:
    """Return the interval `14.0 – 14.3` in the unit of the median, "too few" if there is none."""
    e, unit = found.lines[row].cells[column].estimate, found.lines[row].unit
    if e is None or e.low is None or e.high is None:
        return "too few"
    where = f"{_place(row, column)}.estimate"
    return f"{bare(e.low, unit, f'{where}.low', e.median)} – {bare(e.high, unit, f'{where}.high', e.median)}"


def states(found: Beside, row: int, column: int) -> str:
    """Return `154 or 471 ns, 8 of 13 in the lower`, "" if the launches have one state."""
    return states_of(found.lines[row].cells[column].states, found.lines[row].unit, f"{_place(row, column)}.states")


def share(found: Beside, row: int, column: int) -> str:
    """Return the share of the best in the row, such as `≈ 0.98`, "" if there is none."""
    cell = found.lines[row].cells[column]
    if cell.share is None:
        return ""
    mark = "≈ " if cell.standing == "alike" else ""
    return mark + number(significant(cell.share), f"{_place(row, column)}.share")


def published(found: Beside, row: int, k: int) -> tuple[str, str]:
    """Return the published figure and its share of the best, which is "" if there is none."""
    line, where = found.lines[row], f"lines[{row}].published[{k}]"
    p = line.published[k]
    part = "" if p.share is None else number(significant(p.share), f"{where}.share")
    return number(quantity(p.value, line.unit), f"{where}.value", line.unit), part


def _place(row: int, column: int) -> str:
    return f"lines[{row}].cells[{column}]"


def results(found: Beside) -> list[str]:
    """Return a sentence per run: in how many rows no other is better, and its lowest share of the best.

    There is none if a run was disturbed, or without a row that two runs have.
    """
    if found.code != OK:
        return []
    lines = [(row, line) for row, line in enumerate(found.lines) if sum(c.share is not None for c in line.cells) > 1]
    return [_result(lines, k, found.threshold) for k in range(len(found.runs))] if lines else []


def undecided(found: Beside) -> str:
    """Return why no run is called better; "" if the runs are compared."""
    if not found.disturbed:
        return "" if found.code == OK else "no row was measured in two or more of the runs, so nothing can be compared"
    names = [letter(k) for k, column in enumerate(found.runs) if column.disturbed]
    why = f"because {listing(names)} {'was' if len(names) == 1 else 'were'} disturbed"
    return f"firstlight ranks no run, {why}: measure {listing(names)} again on a quiet machine"


def _result(lines: Sequence[tuple[int, Line]], column: int, threshold: float) -> str:
    cells = [(row, line, line.cells[column]) for row, line in lines if line.cells[column].share is not None]
    good = sum(cell.standing in ("best", "alike") for _, _, cell in cells)
    shared = f"[line.cells[{column}] for line in lines if sum(c.share is not None for c in line.cells) > 1]"
    many = number(str(good), f"sum(c.standing in ('best', 'alike') for c in {shared})")
    text = f"the best, or {NO_DIFFERENCE}, in {many} of "
    text += number(count(len(cells), "row"), f"sum(c.share is not None for c in {shared})")
    shares = [(cell.share, row, line) for row, line, cell in cells if cell.share is not None]
    least, row, line = min(shares, key=lambda x: x[0], default=(1.0, 0, None))
    if line is None or least > 1 - threshold:
        return text
    share = number(significant(least), f"{_place(row, column)}.share")
    return f"{text}; the lowest median is {share} of the best ({line.title})"


def summary(found: Beside, width: int = 80, colour: bool = False, place: Path | None = None) -> str:
    """Return the terminal page, without a final newline."""
    ink = Ink(colour)
    names = [letter(k) for k in range(len(found.runs))]
    lines = [ink("strong", "firstlight") + f" · {count(len(names), 'run')} side by side"]
    for name, column in zip(names, found.runs, strict=True):
        lines += wrap(f"{name}  {column.run}, {column.machine}: {column.described}", width, "  ", "     ")
    lines += [ink("warn", x) for warning in found.disturbed for x in wrap(warning, width, "  ! ", "    ")]
    shown = zip(names, results(found), strict=False)
    lines += ["", *(x for name, text in shown for x in wrap(f"{name}  {settle(text)}", width, "  ", "     "))]
    lines += wrap(undecided(found), width, "  ", "  ") if undecided(found) else []
    wide = width - 30 >= _NUMBERS * len(names)
    chapter = ""
    for line in found.lines:
        if line.chapter != chapter:
            chapter = line.chapter
            heads = "".join(f"{name:>{_NUMBERS}}" for name in names) if wide else ""
            title, room = chapters.title(chapter), width - 2 - len(heads)
            above, left = ([f"  {title}"], "") if len(title) > room else ([], title)
            lines += ["", *(ink("dim", x.rstrip()) for x in (*above, f"  {left:<{max(0, room)}}{heads}"))]
        lines += _row(line, names, width, wide, ink)
    if not found.lines:
        lines += ["", "  no row has a figure in any of these runs"]
    meaning = (
        f"Median, and its share of the best in the row (1: the best). ≈: no significant difference from the best, or "
        f"a difference of less than {declared(found.threshold)}. The comparison allows {declared(found.drift)} for "
        "drift between runs."
    )
    lines += ["", *(ink("dim", x) for x in wrap(meaning, width, "  ", "  "))]
    return ink.page([*lines, *([f"  page: {place}"] if place else [])])


def _row(line: Line, names: Sequence[str], width: int, wide: bool, ink: Ink) -> list[str]:
    texts = [cell_text(cell, line.unit) for cell in line.cells]
    lines = []
    if wide:
        room = width - 2 - _NUMBERS * len(names)
        first, *rest = wrap(line.title, room, "", "  ")
        lines += [f"  {first:<{room}}" + "".join(f"{text:>{_NUMBERS}}" for text in texts)]
        lines += [f"  {x}" for x in rest]
    else:
        lines += wrap(line.title, width, "  ", "    ")
        lines += [f"    {name}  {text}" for name, text in zip(names, texts, strict=True)]
    for name, cell in zip(names, line.cells, strict=True):
        if cell.states is not None:
            lines += wrap(f"{name}: bimodal: {describe_states(cell.states, line.unit)}", width, "      ", "        ")
        if cell.reason.startswith("failed"):
            lines += [ink("bad", x) for x in wrap(f"{name}: {cell.reason}", width, "      ", "        ")]
    for p in line.published:
        share = "" if p.share is None else f" {significant(p.share)}"
        lines += [
            ink("dim", x)
            for x in wrap(f"{p.machine} ({p.year}): {quantity(p.value, line.unit)}{share}", width, "      ", "        ")
        ]
    return lines


def write(found: Beside, firstlight: str, path: Path) -> None:
    """Write the page, whole or not at all. Raises OSError."""
    replace(path, render(found, firstlight).encode())


def render(found: Beside, firstlight: str) -> str:
    """Return the HTML page as text."""
    sections: dict[str, list[tuple[int, Line]]] = {}
    for row, line in enumerate(found.lines):
        sections.setdefault(chapters.title(line.chapter), []).append((row, line))
    page = {
        "found": found,
        "firstlight": firstlight,
        "results": results(found),
        "letters": [letter(k) for k in range(len(found.runs))],
        "earlier": earlier(found),
        "sections": sections,
        "runs": number(count(len(found.runs), "run"), "len(runs)"),
        "undecided": undecided(found),
        "threshold": number(declared(found.threshold), "threshold"),
        "drift": number(declared(found.drift), "drift"),
        "median": partial(median, found),
        "span": partial(span, found),
        "share": partial(share, found),
        "published": partial(published, found),
        "states": partial(states, found),
    }
    return html.page_of(Path(__file__).with_suffix(".html.j2"), page, ())
