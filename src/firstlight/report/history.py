"""The two pages of a history: what moved when and what else changed then, and one small drawing a figure."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from firstlight.history.folder import Past
from firstlight.history.series import History, Moved, Series
from firstlight.judge.compare import WORSE, Comparison
from firstlight.judge.environment import Difference
from firstlight.judge.words import name
from firstlight.report import chapters, html
from firstlight.report.terminal import Ink, wrap
from firstlight.store.disk import being_written
from firstlight.units import count, percent, quantity, ratio, scale, significant

MOST_CHANGES = 6  # runs at which something changed, in the terminal
MOST_FIGURES = 3  # figures of one of them
MOST_POINTS = 240  # of a drawing; of more runs some stand together
WIDTH, HEIGHT, EDGE = 2600, 640, 40  # of a drawing, in its own units: whole numbers keep the page small


Point = tuple[int, float, float, float]  # where a run stands, and its low, median, high


class Turn(NamedTuple):
    """A run at which figures changed: the run before, the run since, what differs between them, the figures."""

    before: Past
    first: Past
    environment: tuple[Difference, ...]
    figures: list[tuple[Series, Moved]]

    @property
    def counts(self) -> str:
        """`3 figures worse, 1 better`"""
        worse = sum(moved.outcome == WORSE for _, moved in self.figures)
        parts = [f"{n} {what}" for n, what in ((worse, "worse"), (len(self.figures) - worse, "better")) if n]
        return parts[0].replace(" ", " figures " if int(parts[0].split()[0]) > 1 else " figure ", 1) + "".join(
            f", {part}" for part in parts[1:]
        )


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
    """The changes by the run at which they show first, the newest first; observed values come last in each."""
    some = sorted(history.changed, key=lambda x: -x[1].runs[1].run.started)
    found = []
    for _, group in groupby(some, key=lambda x: x[1].runs[1].path):
        figures = sorted(group, key=lambda x: (x[0].figure.observed, -abs(math.log(x[1].change.ratio))))
        # Of figures that were not in the run before, the nearest one that had them says what differs.
        nearest = max((moved for _, moved in figures), key=lambda moved: moved.runs[0].run.started)
        found.append(Turn(nearest.runs[0], nearest.runs[1], nearest.environment, figures))
    return found


def moved(series: Series, one: Moved) -> str:
    """`8.40 to 6.70 GB/s, 0.80 ×`: from level to level."""
    before, after = (quantity(x, series.figure.unit) for x in (one.change.before, one.change.after))
    number, _, unit = before.partition(" ")
    if unit and after.endswith(f" {unit}"):
        before = number
    return f"{before} to {after}, {ratio(one.change.ratio)}"


def differences(some: Sequence[Difference]) -> list[str]:
    """`kernel: 6.1.0, since then 6.18.0`"""
    told = []
    for d in some:
        if d.a is None or d.b is None:
            told.append(f"{d.what}: {'new' if d.a is None else 'no longer there'}")
        else:
            told.append(f"{d.what}: {d.a}, since then {d.b}")
    return told


def noise(history: History) -> str:
    """What this machine adds from run to run, in a sentence."""
    if history.noise is None or history.quarter is None:
        return "too few runs to tell how far this machine moves by itself"
    return (
        f"from run to run figures move by {percent(history.noise)} by themselves (standard deviation, median of all "
        f"that are timed); a quarter move by more than {percent(history.quarter)}"
    )


def standing(comparison: Comparison | None) -> str:
    """How the newest run stands to the accepted one."""
    if comparison is None:
        return "no run is accepted yet, so nothing is called a regression; ./fl history --accept RUN takes one"
    if comparison.same_run:
        return f"the newest run, {comparison.b}, is the accepted one"
    n = comparison.counts
    wrong = sum(c.regression for c in comparison.changed)
    words = [
        f"{n['worse']} worse",
        f"{n['better']} better",
        f"{n['inconclusive']} inconclusive",
        f"{n['same']} the same",
    ]
    words += [f"{wrong} verified before and wrong now"] if wrong else []
    return f"the newest run, {comparison.b}, against the accepted {comparison.a}: {', '.join(words)}"


def date(past: Past) -> str:
    """`21 Nov 2026`"""
    return time.strftime("%d %b %Y", time.localtime(past.run.started)).lstrip("0")


def warnings(history: History, comparison: Comparison | None, left: int) -> list[str]:
    """What a reader must know before any number."""
    told = list(comparison.disturbed) if comparison is not None else []
    bad = [past for past in history.runs if history.disturbed(past)]
    if bad:
        told.append(
            f"{count(len(bad), 'run')} disturbed (drawn as the others, told here), the newest of them "
            f"{bad[-1].run.id}: wall and CPU time diverged in {percent(bad[-1].entry.disturbed)} of its samples"
        )
    if left:
        told.append(f"{count(left, 'run')} left out, each for a reason that is told on stderr and in --json")
    if history.others:
        of = ", ".join(f"{n} of {other}" for other, n in sorted(history.others.items()))
        told.append(f"runs of other machines are not shown ({of}); --machine NAME shows them, --machine any all as one")
    reworked = [series for series in history.series if series.other_work]
    if reworked:
        told.append(
            f"{count(len(reworked), 'figure')} did other work a step in earlier runs, which are not shown beside "
            f"later ones: "
            f"{reworked[0].name}"
        )
    if not history.tellable:
        told.append("fewer than six runs of any figure: no change can be told yet")
    return told


def summary(
    history: History,
    comparison: Comparison | None,
    left: int,
    width: int = 80,
    colour: bool = False,
    place: Path | None = None,
) -> str:
    """The terminal page, without a final newline."""
    ink = Ink(colour)
    first, last = history.runs[0], history.runs[-1]
    head = (
        f"firstlight · history of {history.machine} · {count(len(history.runs), 'run')}, {date(first)} to {date(last)}"
    )
    lines = wrap(head, width, "", "  ")
    lines[0] = ink("strong", "firstlight") + lines[0].removeprefix("firstlight")
    lines += [ink("warn", x) for told in warnings(history, comparison, left) for x in wrap(told, width, "  ! ", "    ")]
    lines += ["", *wrap(noise(history), width, "  ", "  "), ""]
    found = turns(history)
    for turn in found[:MOST_CHANGES]:
        lines += wrap(f"{date(turn.first)}  {turn.first.run.id}: {turn.counts}", width, "  ", "    ")
        for series, one in turn.figures[:MOST_FIGURES]:
            style = "bad" if one.outcome == WORSE else "good"
            told = f"{one.outcome}: {series.name}: {moved(series, one)}, {count(one.since, 'run')} since"
            lines += [ink(style, x) for x in wrap(told, width, "    ", "      ")]
        if len(turn.figures) > MOST_FIGURES:
            lines.append(f"    and {len(turn.figures) - MOST_FIGURES} more")
        changed = "; ".join(differences(turn.environment)) or "nothing that was recorded"
        lines += [
            ink("dim", x) for x in wrap(f"what changed since {turn.before.run.id}: {changed}", width, "    ", "      ")
        ]
        lines.append("")
    if len(found) > MOST_CHANGES:
        lines += [f"  and changes at {count(len(found) - MOST_CHANGES, 'earlier run')}", ""]
    if not found:
        lines += wrap(
            f"no change of level above {percent(history.threshold)} in {count(len(history.series), 'figure')}",
            width,
            "  ",
            "  ",
        )
        lines.append("")
    lines += wrap(standing(comparison), width, "  ", "  ")
    if comparison is not None:
        for f in [f for f in comparison.figures if f.outcome == WORSE and not f.observed][:MOST_CHANGES]:
            from_to = f"{quantity(f.a.median, f.unit)} to {quantity(f.b.median, f.unit)}"
            told = f"worse: {name(f.identity)}: {from_to}, {ratio(f.ratio)}"
            lines += [ink("bad", x) for x in wrap(told, width, "    ", "      ")]
    return ink.page([*lines, *([f"  page: {place}"] if place else [])])


def write(
    history: History, of: Mapping[str, str], comparison: Comparison | None, left: Sequence[tuple[str, str]], path: Path
) -> None:
    """Write the page, whole or not at all. `of`: the chapter of each workload. Raises OSError.

    It is not waited for the disk: the page is made again from the runs in the same time.
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
    """The page as text. `left`: what was left out, and why."""
    page = {
        "history": history,
        "first": date(history.runs[0]),
        "last": date(history.runs[-1]),
        "warnings": warnings(history, comparison, len(left)),
        "left": left,
        "noise": noise(history),
        "standing": standing(comparison),
        "compared": comparison,
        "turns": turns(history),
        "date": date,
        "moved": moved,
        "differences": differences,
        "chapters": _chapters(history, of),
        "small": lambda series: small(series, history.runs),
        "width": WIDTH,
        "height": HEIGHT,
        "level": lambda series: quantity(series.values[-1].median, series.figure.unit),
        "significant": significant,
        "ratio": ratio,
        "firstlight": history.runs[-1].run.firstlight,
    }
    return html.page_of("history.html.j2", page, ())


def _chapters(history: History, of: Mapping[str, str]) -> list[tuple[str, list[Series]]]:
    """The figures by chapter, those that changed last first; observed values after the others."""
    found: dict[str, list[Series]] = {}
    for series in history.series:
        found.setdefault(of.get(series.figure.identity.workload, "own"), []).append(series)
    for some in found.values():
        some.sort(
            key=lambda s: (s.figure.observed, -max((m.runs[1].run.started for m in s.moved), default=0.0), s.name)
        )
    return [(chapters.title(chapter), found[chapter]) for chapter in sorted(found, key=chapters.place)]


def small(series: Series, runs: Sequence[Past]) -> Small:
    """The drawing of one figure over the time of all runs, on a logarithmic axis where all its values allow one."""
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
    """At most MOST_POINTS: of neighbours the middle one, with the widest of their intervals."""
    if len(points) <= MOST_POINTS:
        return points
    size = -(-len(points) // MOST_POINTS)
    return [_one(points[k : k + size]) for k in range(0, len(points), size)]


def _one(some: Sequence[Point]) -> Point:
    middle = sorted(some, key=lambda p: p[2])[len(some) // 2]
    return some[len(some) // 2][0], min(p[1] for p in some), middle[2], max(p[3] for p in some)
