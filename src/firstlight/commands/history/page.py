"""Write the two pages of a history: what moved when, what else changed then, and one small drawing per figure."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from firstlight.analysis import changes
from firstlight.analysis.compare import BETTER, SAME, UNCLEAR, WORSE, Comparison
from firstlight.analysis.environment import Difference
from firstlight.analysis.formatting import name
from firstlight.analysis.history.folder import Past
from firstlight.analysis.history.series import History, Moved, Series
from firstlight.analysis.provenance import bare, number, settle
from firstlight.analysis.verdict import DISTURBED
from firstlight.core.shell import command
from firstlight.core.units import count, parts, percent, quantity, ratio, scale, significant
from firstlight.report import chapters, html
from firstlight.report.comparison import Row, groups
from firstlight.report.ink import Ink, wrap
from firstlight.results.store.disk import being_written

MOST_CHANGES = 6  # runs at which something changed, in the terminal
MOST_FIGURES = 3  # figures of one of them
MOST_CHARTS = 12  # of figures of a chapter, with a change or without; more are folded
MOST_POINTS = 240  # of a drawing; of more runs some stand together
WIDTH, HEIGHT, EDGE = 2600, 640, 40  # of a drawing, in its own units: whole numbers keep the page small


Point = tuple[int, float, float, float]  # where a run stands, and its low, median, high


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
        """Return `8.40 to 6.70 GB/s, 0.80 ×`: from level to level."""
        where, unit = self._changes[id(one)][0], series.figure.unit
        before, after = one.change.before, one.change.after
        left, right = (
            number(quantity(x, unit), f"{where}.{end}", unit) for x, end in ((before, "before"), (after, "after"))
        )
        if parts(before, unit)[1] and parts(before, unit)[1] == parts(after, unit)[1]:
            left = bare(before, unit, f"{where}.before", before)
        return f"{left} to {right}, {number(ratio(one.change.ratio), f'{where}.ratio')}"

    def since(self, series: Series, one: Moved) -> str:
        """Return `7 runs`: how many show the new level."""
        where, later = self._changes[id(one)]
        end = f"len({self.of(series)}.points)" if one is series.moved[-1] else later
        return number(count(one.since, "run"), f"{end} - {where}.at")

    def level(self, series: Series) -> str:
        """Return `6.70 GB/s`: the newest median."""
        unit = series.figure.unit
        return number(quantity(series.values[-1].median, unit), f"{self.of(series)}.points[-1].median", unit)

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


class Small(NamedTuple):
    """One small drawing: paths of an SVG, the places of changes, the ends of the axis in words."""

    band: str
    line: str
    dots: list[tuple[int, int]]  # the runs themselves, where there are few
    levels: list[tuple[int, int, int]]  # x from, x to, y
    moves: list[tuple[int, str]]  # x, outcome
    top: str
    bottom: str


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


def worse(comparison: Comparison | None) -> list[Row]:
    """Return the figures that are worse in the newest run than in the accepted one."""
    found = groups(comparison, "accepted.") if comparison is not None else []
    return [row for group in found if group.outcome == WORSE for row in group.rows]


def differences(some: Sequence[Difference]) -> list[str]:
    """Return lines such as `kernel: 6.1.0, since then 6.18.0`."""
    lines = []
    for d in some:
        if d.a is None or d.b is None:
            lines.append(f"{d.what}: {'new' if d.a is None else 'no longer there'}")
        else:
            lines.append(f"{d.what}: {d.a}, since then {d.b}")
    return lines


def noise(history: History) -> str:
    """Return a sentence about the scatter that this machine adds from run to run."""
    if history.noise is None or history.quarter is None:
        return "too few runs to estimate the scatter of this machine"
    return (
        f"the scatter of figures from run to run is {number(percent(history.noise), 'noise')} (standard "
        f"deviation, median of all timed figures); for a quarter of them it exceeds "
        f"{number(percent(history.quarter), 'quarter')}"
    )


def standing(comparison: Comparison | None) -> str:
    """Return a sentence that compares the newest run with the accepted one."""
    if comparison is None:
        return "no run is accepted yet; ./fl history --accept RUN accepts one"
    if comparison.same_run:
        return f"the newest run, {comparison.b}, is the accepted one"
    n = comparison.counts
    wrong = sum(c.regression for c in comparison.changed)
    outcomes = {WORSE: "worse", BETTER: "better", UNCLEAR: "inconclusive", SAME: "the same"}
    words = [f"{number(str(n[what]), f'accepted.counts.{what}')} {text}" for what, text in outcomes.items()]
    counted = "sum(c.before == 'verified' and c.after == 'failed' for c in accepted.changed)"
    words += [f"{number(str(wrong), counted)} verified before and wrong now"] if wrong else []
    return f"the newest run, {comparison.b}, against the accepted {comparison.a}: {', '.join(words)}"


def date(past: Past) -> str:
    """Return the local date on which a run started, such as `21 Nov 2026`."""
    day = time.strftime("%d %b %Y", time.localtime(past.run.started)).lstrip("0")
    return f"{day} (imported, date not known)" if past.run.undated else day


def warnings(history: History, comparison: Comparison | None, left: int) -> list[str]:
    """Return the sentences that a reader must see before any number."""
    found = list(comparison.disturbed) if comparison is not None else []
    bad = [past for past in history.runs if history.disturbed(past)]
    if bad:
        many = number(count(len(bad), "run"), f"sum(r.disturbed >= {DISTURBED} for r in runs)")
        share = number(percent(bad[-1].entry.disturbed), f"runs[{history.runs.index(bad[-1])}].disturbed")
        found.append(
            f"{many} disturbed (drawn like the others, listed here), the newest of them "
            f"{bad[-1].run.id}: wall and CPU time diverged in {share} of its samples"
        )
    if left:
        many = number(count(left, "run"), "len(left_out)")
        found.append(f"{many} left out, each for a reason printed on stderr and in --json")
    if history.others:
        of = ", ".join(f"{n} of {other}" for other, n in sorted(history.others.items()))
        found.append(
            f"runs of other machines are not shown ({of}); --machine NAME shows them, --machine any all as one"
        )
    reworked = [series for series in history.series if series.other_work]
    if reworked:
        many = number(count(len(reworked), "figure"), "sum(f.other_work > 0 for f in figures)")
        found.append(f"{many} had other work per step in earlier runs, which are not shown: {reworked[0].name}")
    reported = sum(series.figure.reported for series in history.series)
    if reported:
        many = number(count(reported, "figure"), "sum(f.reported for f in figures)")
        found.append(f"{many} of other tools, named (imported) and not verified here")
    if not history.enough_runs:
        fewest = changes.fewest()
        first, last = history.runs[0].path, history.runs[-1].path
        two = f"compare two runs: {command('compare', first, last)}"
        found.append(
            f"no figure is in {number(str(fewest), str(fewest))} runs, the fewest in which a change can be detected; "
            f"{'a comparison requires two runs' if first == last else two}"
        )
    return found


def summary(
    history: History,
    comparison: Comparison | None,
    left: int,
    width: int = 80,
    colour: bool = False,
    place: Path | None = None,
) -> str:
    """Return the terminal page, without a final newline."""
    ink = Ink(colour)
    first, last = history.runs[0], history.runs[-1]
    head = (
        f"firstlight · history of {history.machine} · {count(len(history.runs), 'run')}, {date(first)} to {date(last)}"
    )
    lines = wrap(head, width, "", "  ")
    lines[0] = ink("strong", "firstlight") + lines[0].removeprefix("firstlight")
    first_lines = [settle(sentence) for sentence in warnings(history, comparison, left)]
    lines += [ink("warn", x) for sentence in first_lines for x in wrap(sentence, width, "  ! ", "    ")]
    lines += ["", *wrap(settle(noise(history)), width, "  ", "  "), ""]
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
        lines += wrap(
            f"no change of level above {percent(history.threshold)} in {count(history.watched, 'figure')}",
            width,
            "  ",
            "  ",
        )
        lines.append("")
    lines += wrap(settle(standing(comparison)), width, "  ", "  ")
    if comparison is not None:
        for f in [f for f in comparison.figures if f.outcome == WORSE and not f.observed][:MOST_CHANGES]:
            from_to = f"{quantity(f.a.median, f.unit)} to {quantity(f.b.median, f.unit)}"
            sentence = f"worse: {name(f.identity)}: {from_to}, {ratio(f.ratio)}" + (
                f"; {f.two_states}" if f.two_states else ""
            )
            lines += [ink("bad", x) for x in wrap(sentence, width, "    ", "      ")]
    return ink.page([*lines, *([f"  page: {place}"] if place else [])])


def write(
    history: History, of: Mapping[str, str], comparison: Comparison | None, left: Sequence[tuple[str, str]], path: Path
) -> None:
    """Write the page, whole or not at all. `of`: the chapter of each workload. Raises OSError.

    The function does not wait for the disk: writing the page again from the runs is as fast.
    """
    part = path.with_name(being_written(path.name))
    try:
        part.write_text(render(history, of, comparison, left), encoding="utf-8")
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def render(
    history: History, of: Mapping[str, str], comparison: Comparison | None, left: Sequence[tuple[str, str]]
) -> str:
    """Return the HTML page as text. `left`: what was left out, and why."""
    places = Places(history)
    page = {
        "history": history,
        "places": places,
        "runs": number(count(len(history.runs), "run"), "len(runs)"),
        "figures": number(count(len(history.series), "figure"), "len(figures)"),
        "threshold": number(percent(history.threshold), "threshold"),
        "plain": settle,
        "first": date(history.runs[0]),
        "last": date(history.runs[-1]),
        "warnings": warnings(history, comparison, len(left)),
        "left": left,
        "noise": noise(history),
        "standing": standing(comparison),
        "compared": comparison,
        "worse": worse(comparison),
        "turns": turns(history),
        "date": date,
        "differences": differences,
        "chapters": _chapters(history, of),
        "most_charts": MOST_CHARTS,
        "small": lambda series: small(series, history.runs),
        "width": WIDTH,
        "height": HEIGHT,
        "firstlight": history.runs[-1].run.firstlight,
    }
    return html.page_of(Path(__file__).with_suffix(".html.j2"), page, ())


def _chapters(history: History, of: Mapping[str, str]) -> list[tuple[str, list[Series]]]:
    """Return the figures by chapter, those that changed last first; observed values after the others."""
    found: dict[str, list[Series]] = {}
    for series in history.series:
        found.setdefault(of.get(series.figure.identity.workload, "own"), []).append(series)
    for some in found.values():
        some.sort(
            key=lambda s: (s.figure.observed, -max((m.runs[1].run.started for m in s.moved), default=0.0), s.name)
        )
    return [(chapters.title(chapter), found[chapter]) for chapter in sorted(found, key=chapters.place)]


def small(series: Series, runs: Sequence[Past]) -> Small:
    """Draw one figure over the time of all runs, on a logarithmic axis if all its values allow one."""
    began, ended = runs[0].run.started, runs[-1].run.started
    span = max(ended - began, 1.0)
    xs = [EDGE + round((WIDTH - 2 * EDGE) * (runs[k].run.started - began) / span) for k in series.at]
    points = _pooled(
        [
            (x, v.median if v.low is None else v.low, v.median, v.median if v.high is None else v.high)
            for x, v in zip(xs, series.values, strict=True)
        ]
    )
    least, most = min(min(p[1:]) for p in points), max(max(p[1:]) for p in points)
    logarithmic = least > 0 and most < math.inf
    low, high = (math.log(least), math.log(most)) if logarithmic else (least, most)
    middle, reach = (low + high) / 2, max((high - low) / 2, 0.05 if logarithmic else abs(most) * 0.05 or 1.0)

    step = (HEIGHT / 2 - EDGE) / reach

    def y(value: float) -> int:
        return round(HEIGHT / 2 - step * ((math.log(value) if logarithmic else value) - middle))

    line = "M" + "L".join(f"{p[0]} {y(p[2])}" for p in points)
    upper = [f"{p[0]} {y(p[3])}" for p in points]
    lower = [f"{p[0]} {y(p[1])}" for p in reversed(points)]
    bounds = [0, *(m.change.at for m in series.moved), len(series.at)]
    heights = [series.moved[0].change.before, *(m.change.after for m in series.moved)] if series.moved else []
    ends = [math.exp(middle + s * reach) if logarithmic else middle + s * reach for s in (1, -1)]
    by, unit = scale(series.values[-1].median, series.figure.unit)
    top, bottom = (significant(end * by, 3) for end in ends)
    return Small(
        f"M{'L'.join([*upper, *lower])}Z",
        line,
        [(p[0], y(p[2])) for p in points] if len(points) <= 40 else [],
        [(xs[a], xs[b - 1], y(h)) for a, b, h in zip(bounds, bounds[1:], heights, strict=False)],
        [((xs[m.change.at] + xs[m.change.at - 1]) // 2, m.outcome) for m in series.moved],
        f"{top} {'' if unit == '1' else unit}".rstrip(),
        bottom,
    )


def _pooled(points: Sequence[Point]) -> Sequence[Point]:
    """Return at most MOST_POINTS points: a group of neighbours becomes its median with the range of their intervals."""
    if len(points) <= MOST_POINTS:
        return points
    size = -(-len(points) // MOST_POINTS)
    return [_one(points[k : k + size]) for k in range(0, len(points), size)]


def _one(some: Sequence[Point]) -> Point:
    middle = sorted(some, key=lambda p: p[2])[len(some) // 2]
    return some[len(some) // 2][0], min(p[1] for p in some), middle[2], max(p[3] for p in some)
