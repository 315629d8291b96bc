"""The comparison as a terminal page: each figure of both runs, the ratio with its interval, and what it means."""

from __future__ import annotations

from typing import NamedTuple

from firstlight.analysis import formatting
from firstlight.analysis.compare import BETTER, SAME, UNCLEAR, WORSE, Changed, Compared, Comparison
from firstlight.analysis.formatting import listing
from firstlight.analysis.provenance import number, states_of
from firstlight.analysis.verdict import Identity
from firstlight.core.units import count, declared, quantity, ratio, significant
from firstlight.report.ink import Ink, wrap

_MOST = 40
_FEW = 8  # inconclusive figures
_NUMBERS = 52  # columns of two medians, their ratio and its interval
_STYLE = {WORSE: "bad", BETTER: "good", UNCLEAR: "warn", SAME: "dim"}


def comparison(
    compared: Comparison, width: int = 80, colour: bool = False, most: int = _MOST, everything: bool = False
) -> str:
    """Return the terminal page: the counts first, then differences; equal figures are listed if `everything` is set.

    Of the inconclusive figures only a few are listed otherwise.
    """
    ink = Ink(colour)
    title, runs = "firstlight", f" · run {compared.b} against run {compared.a}"
    lines = wrap(title + runs, width, "", "  ")
    lines[0] = ink("strong", title) + lines[0][len(title) :]
    lines += [ink("warn", x) for warning in warnings(compared) for x in wrap(warning, width, "  ! ", "    ")] + [""]
    if compared.same_run and not everything:
        return ink.page(lines).rstrip("\n")
    lines += [*_verdict(compared, width, ink), ""]
    for outcome in (WORSE, BETTER, UNCLEAR, *((SAME,) if everything else ())):
        some = [f for f in compared.figures if f.outcome == outcome]
        listed = _FEW if outcome == UNCLEAR and not everything else most
        lines += _group(outcome, sorted(some, key=_distance, reverse=True), width, ink, listed)
    lines += _changed(compared.changed, width, ink)
    for title, alone in (("only in A", compared.only_a), ("only in B", compared.only_b)):
        if alone:
            more = ", ..." if len(alone) > 1 else ""
            lines += [
                *wrap(
                    f"{title}: {count(len(alone), 'figure')}, {formatting.name(alone[0])}{more}", width, "  ", "    "
                ),
                "",
            ]
    lines += [ink("dim", "  environment differences")]
    differing = compared.environment or ("no recorded property",)
    lines += [x for e in differing for x in wrap(e, width, "  - ", "    ")]
    return ink.page([*lines, "", *_meaning(compared, width, ink)])


class Row(NamedTuple):
    """A figure in both runs, each text with its source in `./fl compare --json`; `span` may be "too few".

    `before_states`, `after_states`: `154 or 471 ns, 8 of 13 in the lower`, "" if a run has one state.
    """

    name: str
    before: str
    after: str
    ratio: str
    span: str
    outcome: str
    before_states: str
    after_states: str


class Group(NamedTuple):
    """All figures of one outcome: their number as text, and a row for each."""

    outcome: str
    size: str
    rows: list[Row]


def groups(compared: Comparison, document: str = "") -> list[Group]:
    """Group by outcome, worst first, the largest difference first in each.

    `document`: prefix in a larger document, as `accepted.`.
    """
    found = []
    for outcome in (WORSE, BETTER, UNCLEAR, SAME):
        some = sorted(enumerate(compared.figures), key=lambda x: _distance(x[1]), reverse=True)
        rows = [_row(f, f"{document}figures[{k}]") for k, f in some if f.outcome == outcome]
        if rows:
            counted = number(str(len(rows)), f"sum(f.outcome == '{outcome}' for f in {document}figures)")
            found.append(Group(outcome, counted, rows))
    return found


def _row(f: Compared[Identity], where: str) -> Row:
    before, after = (
        number(quantity(e.median, f.unit), f"{where}.{run}.median", f.unit) for run, e in (("a", f.a), ("b", f.b))
    )
    span = "too few"
    if f.low is not None and f.high is not None:
        span = f"{number(significant(f.low), f'{where}.low')} – {number(significant(f.high), f'{where}.high')}"
    shown = number(significant(f.ratio), f"{where}.ratio")
    outcome = f"{f.outcome}: {f.reason}" if f.reason and f.reason != f.two_states else f.outcome
    two = (states_of(s, f.unit, f"{where}.{run}_states") for run, s in (("a", f.a_states), ("b", f.b_states)))
    return Row(formatting.name(f.identity), before, after, shown, span, outcome, *two)


def summary_numbers(compared: Comparison) -> dict[str, str]:
    """Return the numbers of the sentences around the tables, by their names in the document."""
    numbers = {f"counts_{what}": number(str(n), f"counts.{what}") for what, n in compared.counts.items()}
    numbers |= {name: number(declared(getattr(compared, name)), name) for name in ("confidence", "drift", "threshold")}
    if compared.shift is not None:
        numbers["shift"] = number(ratio(compared.shift), "shift")
    return numbers | {"changed": number(str(len(compared.changed)), "len(changed)")}


def warnings(compared: Comparison) -> list[str]:
    """Return what a reader must know before any number of a comparison."""
    if compared.same_run:
        return ["A and B are the same run, so there is nothing to compare"]
    reporters = sorted({f.reporter for f in compared.figures if f.reporter})
    found = (
        [f"figures marked (imported) are reported by {listing(reporters)} and not verified by firstlight"]
        if reporters
        else []
    )
    advice = "; the differences below may have no other cause: measure again on a quiet machine"
    return [*(warning + advice for warning in compared.disturbed), *found]


def _distance(figure: Compared[Identity]) -> float:
    return max(figure.ratio, 1 / figure.ratio) if figure.ratio > 0 else 1.0


def _group(outcome: str, some: list[Compared[Identity]], width: int, ink: Ink, most: int) -> list[str]:
    if not some:
        return []
    at = max(4, width - _NUMBERS - 2)  # where the numbers begin; a longer name is above them
    fitting = [n + 4 for n in (len(formatting.name(f.identity)) for f in some[:most]) if n + 4 <= at]
    at = max(fitting, default=at) if len(fitting) == len(some[:most]) else at
    lines = [ink("dim", f"  {outcome:<{at - 2}}{'A':>12}  {'B':>12}  B / A".rstrip())]
    for f in some[:most]:
        span = "too few" if f.low is None or f.high is None else f"{significant(f.low)} - {significant(f.high)}"
        numbers = f"{quantity(f.a.median, f.unit):>12}  {quantity(f.b.median, f.unit):>12}  "
        numbers += f"{significant(f.ratio)} ({span})"
        name = formatting.name(f.identity)
        if len(name) + 4 <= at:
            lines.append(ink(_STYLE[outcome], f"  {name:<{at - 2}}") + numbers)
        else:
            lines += [ink(_STYLE[outcome], x) for x in wrap(name, width, "  ", "      ")] + [" " * at + numbers]
        lines += [
            x
            for reason in dict.fromkeys((f.reason, f.two_states))
            for x in wrap(reason, width, "      ", "      ")
            if reason
        ]
    if len(some) > most:
        lines.append(f"  and {len(some) - most} more")
    return [*lines, ""]


def _changed(changed: tuple[Changed[Identity], ...], width: int, ink: Ink) -> list[str]:
    if not changed:
        return []
    lines = [ink("dim", "  verdicts that changed")]
    for c in changed:
        line = f"{formatting.name(c.identity)}: {c.before} in A, {c.after} in B" + (f": {c.reason}" if c.reason else "")
        lines += [ink("bad" if c.regression else "warn", x) for x in wrap(line, width, "  ✗ ", "    ")]
    return [*lines, ""]


def _verdict(compared: Comparison, width: int, ink: Ink) -> list[str]:
    n = compared.counts
    counts = " · ".join(
        ink(_STYLE[k], f"{n[k]} {k}") if n[k] else f"{n[k]} {k}" for k in (WORSE, BETTER, UNCLEAR, SAME)
    )
    lines = ["  " + counts] if len(counts) < width or ink.colour else wrap(counts, width, "  ", "  ")
    observed = sum(f.observed and f.outcome in (WORSE, UNCLEAR) for f in compared.figures)
    if observed:
        which = f"of these, {count(observed, 'observed value')} (noise, shares of time)"
        lines += wrap(f"{which} do not affect the exit status", width, "  ", "  ")
    if compared.shift is not None:
        lines += wrap(
            f"over all figures, the performance of B is {significant(compared.shift)} x that of A", width, "  ", "  "
        )
    return lines


def _meaning(compared: Comparison, width: int, ink: Ink) -> list[str]:
    meaning = (
        f"B / A is the ratio of the medians, with its {declared(compared.confidence)} interval. "
        f"Two figures differ if that interval, widened by {declared(compared.drift)} for "
        f"drift between runs, excludes 1, and B / A is more than {declared(compared.threshold)} from 1"
    )
    return [ink("dim", x) for x in wrap(meaning, width, "  ", "  ")]
