"""Draw the times of quanta (equal pieces of work), alone and with a wait for all other processes after each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from firstlight.analysis import formatting, provenance
from firstlight.analysis.interval import quotient
from firstlight.analysis.verdict import Verified
from firstlight.core.units import quantity, significant
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import answers, frame, observed, sentence, wording
from firstlight.report.frame import Drawing, Trace, View
from firstlight.report.observed import Window

BINS = 48
FINEST = 1.005  # between the ends of a bin


def draw(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Return one drawing for each length of a quantum (`x` of the plot)."""
    every = view.selected(workload, plot)
    made = []
    lengths = sorted({_length(f, plot) for f in answers.verified(every)})
    for k, length in enumerate(lengths):
        some = [f for f in every if isinstance(f, Verified) and _length(f, plot) == length]
        seen = [(f, w) for f in some if (w := observed.windows(view, f)) and any(points(w, "quanta"))]
        if not seen:
            continue
        seen.sort(key=lambda s: (s[0].identity.placement.ranks, s[0].identity.placement.threads))
        rows = frame.table(f for f in every if not isinstance(f, Verified) or _length(f, plot) == length)
        made.append(_drawing(view, f"{name}-{k}", seen, rows))
    return made


def points(some: Iterable[Window], name: str) -> list[float]:
    """Return the points of that series of all launches and ranks, without (foreign) values that cannot be times."""
    everything = (x for w in some for series in w.ranks.values() for x in series.get(name, ()))
    return [x for x in everything if observed.LEAST < x < observed.MOST]


def _length(figure: Verified, plot: Plot) -> str:
    return str(dict(figure.identity.parameters).get(plot.x, ""))


def _drawing(view: View, name: str, seen: list[tuple[Verified, list[Window]]], rows: list[tuple[str, ...]]) -> Drawing:
    everything = [x for _, some in seen for s in ("quanta", "cycles") for x in points(some, s)]
    edges = _edges(min(everything), max(everything))
    data: list[Trace] = []
    for f, some in seen[: frame.MOST_LINES]:
        label = _label(view, f)
        colour = view.palette.colour(label)
        data.append(_histogram(points(some, "quanta"), edges, label, colour, "solid"))
        if cycles := points(some, "cycles"):
            data.append(_histogram(cycles, edges, f"{label}, until all have finished", colour, "dot"))
    drawn = frame.layout(frame.log_axis("time of a quantum (us)"), frame.log_axis("share of the quanta (%)"))
    caption = (
        "The last sample of each launch. On a quiet machine all quanta are in one column on the left; quanta to the "
        "right were interrupted. Dotted: the time between quanta if all processes wait for each other."
    )
    return Drawing(name, _title(view, seen), caption, frame.HEAD, rows, data, drawn)


def _edges(least: float, most: float) -> list[float]:
    """Return the edges of bins of equal ratio, from the least value to beyond the largest."""
    ratio = max(FINEST, (most / least) ** (1 / BINS))
    bins = math.floor(math.log(most / least) / math.log(ratio)) + 1
    return [least * ratio**k for k in range(bins + 1)]


def _histogram(values: Sequence[float], edges: Sequence[float], label: str, colour: str, dash: str) -> Trace:
    counts = [0] * (len(edges) - 1)
    ratio = math.log(edges[1] / edges[0])
    for x in values:
        counts[min(len(counts) - 1, max(0, math.floor(math.log(x / edges[0]) / ratio)))] += 1
    shares = [100 * c / len(values) if c else None for c in counts]
    return {
        "type": "scatter", "mode": "lines+markers", "name": frame.text(label),
        "x": [float(f"{math.sqrt(a * b):.5g}") for a, b in pairwise(edges)],
        "y": [None if s is None else float(f"{s:.4g}") for s in shares],
        "hovertemplate": "%{y:.3g} % of the quanta last about %{x:.4g} us",
        "line": {"color": colour, "width": 2, "shape": "hvh", "dash": dash}, "marker": {"color": colour, "size": 5},
    }  # fmt: skip


def _label(view: View, figure: Verified) -> str:
    i = figure.identity
    who = wording.mpi_name(view.judgement.run, i.mpi) if i.mpi else ""
    return ", ".join(x for x in (formatting.where(i.placement) or "1 processor", who) if x)


def _title(view: View, seen: list[tuple[Verified, list[Window]]]) -> str:
    """Return a title for the largest placement without waiting, then for the largest with it."""
    alone = [s for s in seen if observed.other(view, s[0], "together") is None]
    waiting = [s for s in seen if observed.other(view, s[0], "together") is not None]
    parts = []
    if alone:
        figure, some = alone[-1]
        parts.append(f"{_mean(view, figure, some)}, the worst {_times(figure, points(some, 'quanta'))}")
    if waiting:
        figure, some = waiting[-1]
        together = observed.other(view, figure, "together")
        assert together is not None
        more = quotient(together.estimate.median, figure.estimate.median)
        ratio = provenance.number(sentence.ratio2(more), "a / b", of=(together, figure))
        by = f", {ratio} the loss of the worst process alone" if more > 1 else ""
        lost = provenance.median(together)
        head = "" if parts else f"{_mean(view, figure, some)}; "
        parts.append(f"{head}{figure.identity.placement.ranks} processes that wait for each other lose {lost}{by}")
    return "; ".join(parts)


def _mean(view: View, figure: Verified, some: Sequence[Window]) -> str:
    least = provenance.number(quantity(min(points(some, "quanta")), "us"), "min(series(a, 'quanta'))", "us", (figure,))
    longer = provenance.median(figure)
    return f"A quantum of {least} is {longer} longer on average ({_label(view, figure)})"


def _times(figure: Verified, values: Sequence[float]) -> str:
    formula = "max(series(a, 'quanta')) / min(series(a, 'quanta'))"
    return f"{provenance.number(significant(max(values) / min(values), 2), formula, of=(figure,))} times as long"
