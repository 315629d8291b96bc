"""Phases: the distribution of a step's time over the phases that programs mark, and the rest in no phase.

A bar is the best figure of `metric` at one value of `x` for one choice of `lines`; its parts are medians over ranks,
samples and launches, relative to their sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from firstlight.analysis import formatting, provenance
from firstlight.analysis.formatting import listing
from firstlight.analysis.verdict import Verified
from firstlight.core.units import count, percent, quantity
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import answers, frame, observed, sentence
from firstlight.report.frame import Drawing, Trace, View, text
from firstlight.report.palette import COOL, MORE, WARM
from firstlight.results.record import PHASE

OTHER, REST = "other", "outside phases"
MOST_BARS = 24
_COLOURS = (COOL[0], WARM[0], COOL[2], WARM[2], COOL[1], WARM[1], *MORE)
Three = tuple[float, float, float]  # least, median, largest over the ranks


class Bar(NamedTuple):
    """Seconds per step of each phase, in the order of the program, then of the rest."""

    x: float
    label: str
    figure: Verified
    parts: dict[str, Three]

    def share(self, phase: str) -> float:
        """Return the share of the sum of all parts, 0 to 1."""
        whole = sum(middle for _, middle, _ in self.parts.values())
        return self.parts[phase][1] / whole if phase in self.parts and whole > 0 else 0.0


def draw(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Return one drawing; none if no program of the run marked a phase."""
    bars = found(view, plot, answers.verified(view.selected(workload, plot)))
    if not bars:
        return []
    phases = list(dict.fromkeys(p for b in bars for p in b.parts))
    phases.sort(key=lambda p: p == REST)
    shown = bars[-MOST_BARS:]
    data = [_part(shown, phase, _COLOURS[k % len(_COLOURS)]) for k, phase in enumerate(phases)]
    drawn = frame.layout(
        {"type": "category", "title": {"text": f"{plot.x}, {plot.lines}"}},
        {"title": {"text": "share of a step (%)"}, "range": [0, 100]},
        barmode="stack",
    )
    caption = (
        f"Each bar is the best {plot.metric.replace('_', ' ')} of its {plot.lines}. The parts of the bar are medians "
        f"over ranks; the table also shows the minimum and maximum."
    )
    head = ("program", "case", plot.metric.replace("_", " "), *phases)
    notes = (f"{count(len(bars) - len(shown), 'bar')} with smaller {plot.x}, only in the table",) * (
        len(shown) < len(bars)
    )
    return [
        Drawing(name, _title(plot, bars, phases), caption, head, [_row(b, phases) for b in bars], data, drawn, notes)
    ]


def found(view: View, plot: Plot, figures: Sequence[Verified]) -> list[Bar]:
    """Return the bars by x and choice, for programs that marked phases."""
    key = answers.chooser(plot.lines)
    by_x: dict[float, list[Verified]] = {}
    for f in figures:
        x = dict(f.identity.parameters).get(plot.x)
        if isinstance(x, int | float) and not f.oversubscribed:
            by_x.setdefault(float(x), []).append(f)
    bars = []
    for x, some in sorted(by_x.items()):
        for best in answers.best_of_each(some, key):
            label = answers.label(view.judgement.run, plot.lines, key(best.identity))
            if parts := _parts(view, best):
                bars.append(Bar(x, label, best, parts))
    return bars


def _parts(view: View, figure: Verified) -> dict[str, Three]:
    i = figure.identity
    description = view.judgement.run.descriptions.get(f"{i.workload}.{i.variant}")
    seen: dict[str, Three] = {}
    for phase in (*description.phases, OTHER) if description and description.phases else ():
        if (three := observed.over_ranks(view, figure, PHASE + phase)) is not None and min(three) >= 0:
            seen[REST if phase == OTHER else phase] = three
    return seen if set(seen) - {REST} else {}


def _part(bars: Sequence[Bar], phase: str, colour: str) -> Trace:
    texts = [
        f"<b>{text(phase)}: {percent(b.share(phase))}</b><br>{_three(b.parts[phase])} over the ranks<br>"
        + frame.hover(b.figure)
        if phase in b.parts
        else ""
        for b in bars
    ]
    return {
        "type": "bar", "name": text(phase), "x": [text(f"{b.x:g}, {b.label}") for b in bars],
        "y": [100 * b.share(phase) for b in bars], "hoverinfo": "text", "hovertext": texts,
        "marker": {"color": "@ghost" if phase == REST else colour},
    }  # fmt: skip


def _three(three: Three) -> str:
    """Return `12.1 ms (11.8 ms to 12.6 ms)`; one value if all ranks have the same."""
    low, middle, high = (quantity(v, "s") for v in three)
    return middle if low == high else f"{middle} ({low} to {high})"


def _row(bar: Bar, phases: Sequence[str]) -> tuple[str, ...]:
    i, e = bar.figure.identity, bar.figure.estimate
    program = ", ".join(p for p in (i.variant, i.toolchain, i.mpi) if p)
    case = ", ".join(p for p in (formatting.values(i.parameters), formatting.where(i.placement)) if p)
    times = tuple(_three(bar.parts[p]) if p in bar.parts else "–" for p in phases)
    return (program, case, quantity(e.median, bar.figure.unit), *times)


def _title(plot: Plot, bars: Sequence[Bar], phases: Sequence[str]) -> str:
    """Return `solver is 62 % of a step at n = 256 (omp) and 41 % at n = 32 (omp)`."""
    last = next(b for b in bars if b.x == bars[-1].x)
    top = max((p for p in phases if p != REST), key=last.share)
    first = next(b for b in bars if b.x == bars[0].x)
    shares = [f"{_share(last, top)} of a step at {plot.x} = {last.x:g} ({last.label})"]
    if first.x < last.x:
        shares.append(f"{_share(first, top)} at {plot.x} = {first.x:g} ({first.label})")
    subject = f"{plot.subject}: " if plot.subject else ""
    return sentence.capital(f"{subject}{top} is {listing(shares)}")


def _share(bar: Bar, phase: str) -> str:
    parts = ", ".join(repr(OTHER if p == REST else p) for p in bar.parts)
    formula = f"share(a, {OTHER if phase == REST else phase!r}, [{parts}])"
    return provenance.number(percent(bar.share(phase)), formula, of=(bar.figure,))
