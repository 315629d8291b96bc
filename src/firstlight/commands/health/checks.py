"""Checks: compare the rows of a run with the site's limits, the accepted run of this machine, and similar machines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Final, Literal

import msgspec

from firstlight.analysis import Judgement, compare, nodes
from firstlight.analysis.changes import Value
from firstlight.analysis.interval import quotient
from firstlight.analysis.verdict import Failed, Identity, Verified
from firstlight.core.errors import UsageError
from firstlight.core.units import convert, parse_quantity, percent, quantity, ratio
from firstlight.model.catalogue import Workload
from firstlight.report import answers
from firstlight.report.answers import Answer
from firstlight.results.description import Better

Grade = Literal["ok", "bad", "unclear"]
OK: Final = "ok"
BAD: Final = "bad"
UNCLEAR: Final = "unclear"
DOUBTFUL = 0.15
"""A loss that is reported as unclear if the launches cannot show it."""


class Check(msgspec.Struct, frozen=True):
    """One row of the run, and the result of each comparison. `problems`: one sentence each.

    `better` and `value` are None if the row was not measured or has no verified figure.
    """

    title: str
    unit: str
    better: Better | None
    value: float | None
    low: float | None
    high: float | None
    grade: Grade
    problems: tuple[str, ...]
    limit: float | None = None
    """The limit of the site file, in `unit`."""
    of_accepted: float | None = None
    """The median as a ratio to that of the accepted run."""
    of_similar: float | None = None
    """The median as a ratio to the median of similar machines."""


class Limit(msgspec.Struct, frozen=True):
    """A contract value from the site file: a number and its unit."""

    value: float
    unit: str


Similar = Mapping[Identity, Sequence[Value]]
"""The newest values of each figure on similar machines."""


def limits(entries: Mapping[str, str], workloads: Iterable[Workload]) -> dict[str, Limit]:
    """Return the limits of the site file by row. Raises UsageError if a title is not that of a row."""
    titles = {row.title for workload in workloads for row in workload.rows}
    for title in entries:
        if title not in titles:
            near = get_close_matches(title, titles, n=1, cutoff=0.4)
            hint = f"did you mean {near[0]!r}?" if near else "./fl report shows the titles of all rows"
            raise UsageError(f"[limits]: no row has the title {title!r}; {hint}")
    return {title: Limit(*parse_quantity(text)) for title, text in entries.items()}


def checks(
    judgement: Judgement,
    workloads: Mapping[str, Workload],
    wanted: Mapping[str, Limit],
    accepted: Judgement | None,
    similar: Similar,
    threshold: float,
) -> list[Check]:
    """Return a check of each row of the run, then of each limit whose row the run did not measure."""
    found = answers.answers(judgement, workloads)
    before = {} if accepted is None else {f.identity: f for f in accepted.figures if isinstance(f, Verified)}
    asked = sum(a.best is not None for a in found)
    made = [_check(a, wanted.get(a.row.title), before, similar, threshold, asked) for a in found]
    measured = {a.row.title for a in found}
    for title, limit in wanted.items():
        if title not in measured:
            problem = f"not measured; the limit is {quantity(limit.value, limit.unit)}"
            made.append(Check(title, limit.unit, None, None, None, None, UNCLEAR, (problem,), limit.value))
    return made


def _check(
    answer: Answer,
    limit: Limit | None,
    before: Mapping[Identity, Verified],
    similar: Similar,
    threshold: float,
    asked: int,
) -> Check:
    best, title = answer.best, answer.row.title
    wrong = [f for f in answer.failed if not f.expected]
    if best is None:
        grade: Grade = BAD if wrong else UNCLEAR
        return Check(title, "", None, None, None, None, grade, (_first(wrong) or answer.reason,))
    grades: list[tuple[Grade, str]] = []
    least = None
    if limit is not None:
        least = convert(limit.value, limit.unit, best.unit)
        if least is None:
            raise UsageError(f"[limits]: {title!r} is measured in {best.unit}, not in {limit.unit}")
        grades.append(_of_limit(best, least))
    of_accepted = of_similar = None
    if (earlier := before.get(best.identity)) is not None:
        of_accepted = compare.of_medians(earlier, best)
        if not best.observed:  # as in `compare`: it often speaks of the state of the machine
            grades.append(_of_accepted(earlier, best, threshold))
    others = [value for value in similar.get(best.identity, ()) if value.median > 0]
    if len(others) + 1 >= nodes.FEWEST and best.estimate.median > 0:  # an observed value may be 0, which has no ratio
        grade, text, of_similar = _of_similar(best, others, asked, threshold)
        grades.append((grade, text))
    problems = tuple(text for grade, text in grades if grade != OK)
    found = {grade for grade, _ in grades}
    worst: Grade = BAD if BAD in found else UNCLEAR if UNCLEAR in found else OK
    e = best.estimate
    return Check(
        title, best.unit, best.better, e.median, e.low, e.high, worst, problems, least, of_accepted, of_similar
    )


def _first(failed: Sequence[Failed]) -> str:
    return f"failed verification: {failed[0].reason}" if failed else ""


def _of_limit(figure: Verified, limit: float) -> tuple[Grade, str]:
    """Compare with a contract value: bad if the whole interval misses it, unclear if the median does."""
    e, higher = figure.estimate, figure.better == "higher"
    missed = e.median < limit if higher else e.median > limit
    if not missed:
        return OK, ""
    end = e.high if higher else e.low
    whole = end is not None and (end < limit if higher else end > limit)
    text = f"{quantity(e.median, figure.unit)}, limit {quantity(limit, figure.unit)}"
    return (BAD, text) if whole else (UNCLEAR, f"{text}: within the interval, or too few launches to decide")


def _of_accepted(before: Verified, now: Verified, threshold: float) -> tuple[Grade, str]:
    found = compare.compare_figures(before, now, threshold)
    text = f"{quantity(now.estimate.median, now.unit)}, {ratio(found.ratio)} the accepted run's "
    text += quantity(before.estimate.median, before.unit)
    if found.outcome == compare.WORSE:
        return BAD, text
    lost = 1 - (quotient(1, found.ratio) if now.better == "lower" else found.ratio)
    if found.outcome == compare.UNCLEAR and lost > DOUBTFUL:
        return UNCLEAR, f"{text}, but {found.reason}"
    return OK, ""


def _of_similar(figure: Verified, others: Sequence[Value], asked: int, threshold: float) -> tuple[Grade, str, float]:
    """Compare with machines that should be alike, by the method of `./fl nodes`."""
    e = figure.estimate
    every = [Value(e.median, e.low, e.high), *others]
    found = nodes.spread([v.median for v in every], every, asked, threshold)
    share = quotient(e.median, found.centre)
    if 0 not in found.named or (share > 1) == (figure.better == "higher"):
        return OK, "", share
    text = f"{quantity(e.median, figure.unit)}, {percent(share)} of the median of {len(every)} similar machines"
    return BAD, text, share
