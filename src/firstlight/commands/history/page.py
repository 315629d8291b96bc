"""Write the two pages of a history: the newest change, all changes with what else changed, a drawing per figure."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from firstlight.analysis import changes
from firstlight.analysis.compare import BETTER, UNCLEAR, WORSE
from firstlight.analysis.environment import Difference
from firstlight.analysis.formatting import name
from firstlight.analysis.history.folder import Past
from firstlight.analysis.history.series import History, Moved, Series
from firstlight.analysis.provenance import bare, number, settle
from firstlight.analysis.verdict import DISTURBED
from firstlight.commands.history import drawing
from firstlight.commands.history.pair import Pair, different, disturbed, far, standing
from firstlight.core.units import count, declared, parts, percent, quantity, ratio, scale
from firstlight.report import chapters, html
from firstlight.report.ink import Ink, wrap
from firstlight.results.store.disk import being_written

MOST_CHANGES = 6  # runs at which something changed, in the terminal
MOST_FIGURES = 3  # figures of one of them
MOST_CHARTS = 12  # of figures of a chapter, with a change or without; more are folded
MOST_ROWS = 4  # figures of one of them, in the table of the HTML page


class Turn(NamedTuple):
    """A run at which figures changed: the run before, the run since, what differs between them, the figures."""

    before: Past
    first: Past
    environment: tuple[Difference, ...]
    figures: list[tuple[Series, Moved]]


class Places:
    """Texts whose numbers have formulas: Python expressions over the document of `./fl history --json`."""

    def __init__(self, history: History) -> None:
        self.runs = {past.path: k for k, past in enumerate(history.runs)}
        self._figures = {id(series): f"figures[{k}]" for k, series in enumerate(history.series)}
        self._changes = {
            id(one): (f"{self.of(series)}.changes[{j}]", f"{self.of(series)}.changes[{j + 1}].at")
            for series in history.series
            for j, one in enumerate(series.moved)
        }

    def of(self, series: Series) -> str:
        """Return the place of a figure in the document, such as `figures[3]`."""
        return self._figures[id(series)]

    def counts(self, turn: Turn) -> str:
        """Return `3 figures worse, 1 better` for the run at which they changed."""
        parts: list[str] = []
        for what in (WORSE, BETTER):
            n = sum(one.outcome == what for _, one in turn.figures)
            if n:
                first = f"c.first == {self.runs[turn.first.path]} and c.outcome == '{what}'"
                text = str(n) if parts else count(n, "figure")
                parts.append(f"{number(text, f'sum({first} for f in figures for c in f.changes)')} {what}")
        return ", ".join(parts)

    def moved(self, series: Series, one: Moved) -> str:
        """Return `8.40 to 6.70 GB/s, 0.80 × (higher is better)`: from level to level."""
        return f"{self.levels(series, one)} ({series.figure.better} is better)"

    def levels(self, series: Series, one: Moved) -> str:
        """Return `8.40 to 6.70 GB/s, 0.80 ×`."""
        where, unit = self._changes[id(one)][0], series.figure.unit
        before, after = one.change.before, one.change.after
        left, right = (
            number(quantity(x, unit), f"{where}.{end}", unit) for x, end in ((before, "before"), (after, "after"))
        )
        if parts(before, unit)[1] and parts(before, unit)[1] == parts(after, unit)[1]:
            left = bare(before, unit, f"{where}.before", before)
        times = number(ratio(one.change.ratio), f"{where}.ratio")
        return f"{left} to {right}, {times}"

    def since(self, series: Series, one: Moved) -> str:
        """Return `7 runs`: how many show the new level."""
        where, later = self._changes[id(one)]
        end = f"len({self.of(series)}.points)" if one is series.moved[-1] else later
        return number(count(one.since, "run"), f"{end} - {where}.at")

    def level(self, series: Series) -> str:
        """Return `6.70 GB/s`: the newest median."""
        unit = series.figure.unit
        return number(quantity(series.values[-1].median, unit), f"{self.of(series)}.points[-1].median", unit)

    def range(self, series: Series) -> str:
        """Return `16.0 ns to 25.4 ns (lower is better)`: the smallest and the largest median."""
        unit, medians = series.figure.unit, [v.median for v in series.values]
        ends = (
            number(quantity(f(medians), unit), f"{f.__name__}([p.median for p in {self.of(series)}.points])", unit)
            for f in (min, max)
        )
        return f"{' to '.join(ends)} ({series.figure.better} is better)"

    def states(self, series: Series) -> str:
        """Return `bimodal: 144 or 475 ns` for the newest run, "" if its launches have one state."""
        newest, unit, where = series.values[-1], series.figure.unit, f"{self.of(series)}.points[-1]"
        if newest.lower is None or newest.upper is None:
            return ""
        upper = number(quantity(newest.upper, unit), f"{where}.upper", unit)
        if scale(newest.lower, unit) == scale(newest.upper, unit):
            return f"bimodal: {bare(newest.lower, unit, f'{where}.lower', newest.upper)} or {upper}"
        return f"bimodal: {number(quantity(newest.lower, unit), f'{where}.lower', unit)} or {upper}"

    def deviation(self, series: Series) -> str:
        """Return `0.7 %`: how far the figure moves by itself from run to run, "" if that is not known."""
        return "" if series.deviation is None else number(percent(series.deviation), f"{self.of(series)}.deviation")


def turns(history: History) -> list[Turn]:
    """Return the changes by the run that shows them first, the newest first; observed values are last in each."""
    some = sorted(history.changed, key=lambda x: -x[1].runs[1].run.started)
    found = []
    for _, group in groupby(some, key=lambda x: x[1].runs[1].path):
        figures = sorted(group, key=lambda x: (x[0].figure.observed, -abs(math.log(x[1].change.ratio))))
        # If figures are missing in the run before, the differences are from the nearest run that has them.
        nearest = max((moved for _, moved in figures), key=lambda moved: moved.runs[0].run.started)
        found.append(Turn(nearest.runs[0], nearest.runs[1], nearest.environment, figures))
    return found


def answer(history: History, pair: Pair | None, places: Places) -> list[str]:
    """Return the result: the newest change with its largest figure, and how the newest run compares with another one.

    There is no sentence about changes if no figure is in enough runs.
    """
    found = turns(history)
    if found:
        newest, earlier = found[0], len(found) - 1
        series, one = newest.figures[0]
        largest = "; the largest change" if len(newest.figures) > 1 else ""
        lines = [
            f"{places.counts(newest)} since {newest.first.run.id} ({date(newest.first)}){largest}: {series.name}: "
            f"{places.moved(series, one)}"
        ]
        lines += [f"changes at {count(earlier, 'earlier run')} are in the table"] if earlier else []
    else:
        lines = [unchanged(history, places)] if history.watched else []
    return [*lines, standing(pair)] if pair is not None or not found else lines


def unchanged(history: History, places: Places) -> str:
    """Return the sentence for a history in which no change was detected, with the figure that varies most."""
    threshold = number(declared(history.threshold), "threshold")
    text = f"no level change above {threshold} was detected in {count(history.watched, 'figure')}"
    some = [s for s in history.series if not s.figure.observed and spread(s) > 0]
    if not some:
        return text
    most = max(some, key=spread)
    return f"{text}; the figure that varies most between runs is {most.name}: {places.range(most)}"


def spread(series: Series) -> float:
    """Return the logarithm of the largest over the smallest median; 0 if there are values that are not positive."""
    medians = [v.median for v in series.values]
    return math.log(max(medians) / min(medians)) if min(medians) > 0 and max(medians) < math.inf else 0.0


def differences(some: Sequence[Difference]) -> list[str]:
    """Return lines such as `kernel: 6.1.0, since then 6.18.0`."""
    lines = []
    for d in some:
        if d.a is None or d.b is None:
            lines.append(f"{d.what}: {'new' if d.a is None else 'no longer present'}")
        else:
            lines.append(f"{d.what}: {d.a}, since then {d.b}")
    return lines


def noise(history: History) -> str:
    """Return a sentence about the scatter that this machine adds from run to run."""
    if history.noise is None or history.quarter is None:
        return "too few runs to estimate the scatter of this machine"
    return (
        f"the run-to-run scatter is {number(percent(history.noise), 'noise')} (standard "
        f"deviation, median of all timed figures); a quarter of the figures exceed "
        f"{number(percent(history.quarter), 'quarter')}"
    )


def date(past: Past) -> str:
    """Return the local date on which a run started, such as `21 Nov 2026`."""
    day = time.strftime("%d %b %Y", time.localtime(past.run.started)).lstrip("0")
    return f"{day} (imported, date unknown)" if past.run.undated else day


def warnings(history: History, pair: Pair | None, left: int) -> list[str]:
    """Return the sentences that a reader must see before any number."""
    found = disturbed(pair)
    bad = [past for past in history.runs if history.disturbed(past)]
    if bad:
        many = number(count(len(bad), "run"), f"sum(r.disturbed >= {DISTURBED} for r in runs)")
        share = number(percent(bad[-1].entry.disturbed), f"runs[{history.runs.index(bad[-1])}].disturbed")
        found.append(
            f"{many} disturbed but still drawn; the newest is "
            f"{bad[-1].run.id}: wall and CPU time diverged in {share} of its samples"
        )
    if left:
        many = number(count(left, "run"), "len(left_out)")
        found.append(f"{many} skipped; stderr and --json show the reasons")
    if history.others:
        of = ", ".join(f"{n} of {other}" for other, n in sorted(history.others.items()))
        found.append(
            f"runs of other machines are not shown ({of}); --machine NAME shows one machine, and --machine any shows "
            f"all"
        )
    reworked = [series for series in history.series if series.other_work]
    if reworked:
        many = number(count(len(reworked), "figure"), "sum(f.other_work > 0 for f in figures)")
        found.append(
            f"{many} had a different amount of work per step in earlier runs, which are not shown: {reworked[0].name}"
        )
    reported = sum(series.figure.reported for series in history.series)
    if reported:
        many = number(count(reported, "figure"), "sum(f.reported for f in figures)")
        found.append(f"{many} from other tools, marked (imported) and not verified by firstlight")
    if not history.enough_runs:
        fewest = changes.fewest()
        few = (
            f"; the newest run is compared with {pair.noun}"
            if pair is not None and not pair.comparison.same_run
            else ""
        )
        found.append(f"detecting changes requires at least {number(str(fewest), str(fewest))} runs{few}")
    return found


def summary(
    history: History,
    pair: Pair | None,
    left: int,
    width: int = 80,
    colour: bool = False,
    place: Path | None = None,
) -> str:
    """Return the terminal page, without a final newline."""
    ink = Ink(colour)
    head = f"firstlight · history of {history.machine} · {count(len(history.runs), 'run')}, {_span(history)}"
    lines = wrap(head, width, "", "  ")
    lines[0] = ink("strong", "firstlight") + lines[0].removeprefix("firstlight")
    first_lines = [settle(sentence) for sentence in warnings(history, pair, left)]
    lines += [ink("warn", x) for sentence in first_lines for x in wrap(sentence, width, "  ! ", "    ")]
    lines.append("")
    places = Places(history)
    found = turns(history)
    for turn in found[:MOST_CHANGES]:
        lines += wrap(settle(f"{date(turn.first)}  {turn.first.run.id}: {places.counts(turn)}"), width, "  ", "    ")
        for series, one in turn.figures[:MOST_FIGURES]:
            style = "bad" if one.outcome == WORSE else "good"
            sentence = f"{one.outcome}: {series.name}: {places.moved(series, one)}, {places.since(series, one)} since"
            sentence += f"; {two} now" if (two := places.states(series)) else ""
            lines += [ink(style, x) for x in wrap(settle(sentence), width, "    ", "      ")]
        if len(turn.figures) > MOST_FIGURES:
            lines.append(f"    and {len(turn.figures) - MOST_FIGURES} more")
        changed = "; ".join(differences(turn.environment)) or "no recorded property"
        lines += [
            ink("dim", x) for x in wrap(f"what changed since {turn.before.run.id}: {changed}", width, "    ", "      ")
        ]
        lines.append("")
    if len(found) > MOST_CHANGES:
        lines += [f"  and changes at {count(len(found) - MOST_CHANGES, 'earlier run')}", ""]
    if not found and history.watched:
        lines += [*wrap(settle(unchanged(history, places)), width, "  ", "  "), ""]
    lines += wrap(settle(standing(pair)), width, "  ", "  ")
    lines += _different(pair, width, ink)
    lines += wrap(settle(noise(history)), width, "  ", "  ")
    return ink.page([*lines, *([f"  page: {place}"] if place else [])])


def _span(history: History) -> str:
    """Return `18 Nov 2026 to 30 Dec 2026`, or one date if all runs are of one day."""
    first, last = date(history.runs[0]), date(history.runs[-1])
    return first if first == last else f"{first} to {last}"


def _different(pair: Pair | None, width: int, ink: Ink) -> list[str]:
    """Return lines for the largest differences from the other run, and for what differs in the environment."""
    if pair is None or pair.comparison.same_run:
        return []
    lines: list[str] = []
    for outcome, style in ((WORSE, "bad"), (BETTER, "good"), (UNCLEAR, "warn")):
        if outcome == UNCLEAR and lines:
            break
        some = [f for f in pair.comparison.figures if f.outcome == outcome and not f.observed]
        some.sort(key=far, reverse=True)
        for f in some[:MOST_CHANGES]:
            from_to = f"{quantity(f.a.median, f.unit)} to {quantity(f.b.median, f.unit)}, {ratio(f.ratio)}"
            sentence = f"{outcome}: {name(f.identity)}: {from_to} ({f.better} is better)"
            reasons = dict.fromkeys(x for x in (f.reason, f.two_states) if x)
            sentence += "".join(f"; {reason}" for reason in reasons)
            lines += [ink(style, x) for x in wrap(sentence, width, "    ", "      ")]
        lines += [f"    and {len(some) - MOST_CHANGES} more {outcome}"] if len(some) > MOST_CHANGES else []
    changed = "; ".join(pair.comparison.environment) or "no recorded property"
    return [*lines, *(ink("dim", x) for x in wrap(f"what else changed: {changed}", width, "    ", "      "))]


def write(
    history: History, of: Mapping[str, str], pair: Pair | None, left: Sequence[tuple[str, str]], path: Path
) -> None:
    """Write the page, whole or not at all. `of`: the chapter of each workload. Raises OSError.

    The function does not wait for the disk: writing the page again from the runs is as fast.
    """
    part = path.with_name(being_written(path.name))
    try:
        part.write_text(render(history, of, pair, left), encoding="utf-8")
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def render(history: History, of: Mapping[str, str], pair: Pair | None, left: Sequence[tuple[str, str]]) -> str:
    """Return the HTML page as text. `left`: what was left out, and why."""
    places = Places(history)
    page = {
        "history": history,
        "places": places,
        "runs": number(count(len(history.runs), "run"), "len(runs)"),
        "figures": number(count(len(history.series), "figure"), "len(figures)"),
        "threshold": number(declared(history.threshold), "threshold"),
        "answer": answer(history, pair, places),
        "plain": settle,
        "span": _span(history),
        "warnings": warnings(history, pair, len(left)),
        "left": left,
        "noise": noise(history),
        "compared": pair.comparison if pair is not None else None,
        "noun": pair.noun if pair is not None else "",
        "different": different(pair),
        "turns": turns(history),
        "date": date,
        "differences": differences,
        "chapters": _chapters(history, of, pair),
        "most_charts": MOST_CHARTS,
        "most_in_table": MOST_ROWS,
        "small": lambda series: drawing.small(series, history.runs),
        "width": drawing.WIDTH,
        "height": drawing.HEIGHT,
        "firstlight": history.runs[-1].run.firstlight,
    }
    return html.page_of(Path(__file__).with_suffix(".html.j2"), page, ())


class Chapter(NamedTuple):
    """The figures of a chapter: those that changed, or differ from the other run, and those that do not."""

    title: str
    moved: list[Series]
    others: list[Series]


def _chapters(history: History, of: Mapping[str, str], pair: Pair | None) -> list[Chapter]:
    """Return the figures by chapter, those that changed last first; observed values after the others."""
    apart = {f.identity: far(f) for f in pair.comparison.figures if f.different} if pair is not None else {}
    found: dict[str, list[Series]] = {}
    for series in history.series:
        found.setdefault(of.get(series.figure.identity.workload, "own"), []).append(series)
    chapter_of = []
    for chapter in sorted(found, key=chapters.place):
        some = sorted(
            found[chapter],
            key=lambda s: (
                s.figure.observed,
                -max((m.runs[1].run.started for m in s.moved), default=0.0),
                -apart.get(s.figure.identity, 0.0),
                -spread(s),
                s.name,
            ),
        )
        moved = [s for s in some if s.moved or s.figure.identity in apart]
        chapter_of.append(Chapter(chapters.title(chapter), moved, [s for s in some if s not in moved]))
    return chapter_of
