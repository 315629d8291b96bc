"""Draw the time per exchange against the size of the sub-domain, one line per strategy, one drawing per MPI library.

The few strategies that are the best somewhere are coloured and named at their lines, the same in every drawing; the
others are grey. More drawings show the winners at each size, the time to hand data over, and the growth with processes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from firstlight.analysis.formatting import listing
from firstlight.analysis.verdict import Figure, Verified
from firstlight.core import confidence
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import answers, frame, sentence
from firstlight.report.frame import Drawing, Trace, View

from .drawings import handover, processes, strategies, winners
from .drawings.overhead import draw as overhead
from .drawings.strategies import Contest, Times, short

__all__ = ["halo", "overhead"]

NAMED = 6  # coloured lines; more cannot be distinguished
FAINT = "@ghost"
Range = tuple[float, float]  # of an axis


def halo(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    every = view.selected(workload, plot)
    figures, fixed_values = strategies.usual(answers.verified(every), plot)
    where = strategies.main_place(figures)
    contests = strategies.contests(view, figures, plot, where) if where else []
    if not contests:
        return []
    chosen = named(contests)
    span = _span(contests)
    drawn = [
        _drawing(view, plot, f"{name}-{k}", c, chosen, span, fixed_values, _rows(every, c, contests))
        for k, c in enumerate(contests)
    ]
    for d in drawn:
        d.layout["xaxis"]["title"]["text"] = frame.text(_axis_title(view, workload, plot))
    drawn[0].notes = tuple(strategies.missing(view, workload, {s for c in contests for s in c.times}))
    drawn += winners.drawings(plot, f"{name}-winners", contests)
    drawn += handover.drawings(plot, f"{name}-data", contests, figures)
    return drawn + processes.drawings(view, plot, f"{name}-processes", figures)


def named(contests: Sequence[Contest]) -> list[str]:
    """Return the strategies to colour: the reference, those that win with few others, then the next in standing."""
    order = strategies.standing(contests)
    won: dict[str, int] = {}
    for w in (w for c in contests for w in c.wins if len(w.winners) <= NAMED // 2):
        for f in w.winners:
            won[f.identity.variant] = won.get(f.identity.variant, 0) + 1
    best = sorted(won, key=lambda s: (-won[s], order.index(s)))
    reference = [c.reference for c in contests if c.reference][:1]
    return list(dict.fromkeys([*reference, *best, *order]))[:NAMED]


def _axis_title(view: View, workload: Workload, plot: Plot) -> str:
    help_text, unit = view.parameter(workload.name, plot.x)
    return f"{plot.x.upper() if len(plot.x) == 1 else plot.x}: {help_text}" + (f" ({unit})" if unit else "")


def _rows(every: Iterable[Figure], contest: Contest, contests: Sequence[Contest]) -> list[tuple[str, ...]]:
    """Return the rows of that MPI library; the first contest also has the figures that belong to no contest."""
    others = {c.mpi for c in contests if c is not contest}
    first = contest is contests[0]
    return frame.table(
        f for f in every if f.identity.mpi == contest.mpi or (first and (f.identity.mpi or "") not in others)
    )


def _span(contests: Sequence[Contest]) -> tuple[Range, Range]:
    """Return the ranges of the axes of all drawings, as logarithms: of x, and of the time with its intervals."""
    figures = [(x, f.estimate) for c in contests for line in c.times.values() for x, f in line.items()]
    xs = [math.log10(x) for x, _ in figures]
    low = min(math.log10(e.low or e.median) for _, e in figures)
    high = max(math.log10(e.high or e.median) for _, e in figures)
    return (min(xs) - 0.06, max(xs) + 0.06), (low - 0.08, high + 0.08)


def _drawing(
    view: View,
    plot: Plot,
    name: str,
    contest: Contest,
    chosen: Sequence[str],
    span: tuple[Range, Range],
    fixed_values: str,
    rows: list[tuple[str, ...]],
) -> Drawing:
    times = contest.times
    coloured = [s for s in chosen if s in times]
    grey = [s for s in times if s not in coloured]
    colours = {s: "@ink" if s == contest.reference else view.palette.colour(s) for s in coloured}
    data = [_grey(times[s], short(s, times), k == 0) for k, s in enumerate(grey)]
    for k, s in enumerate(coloured):
        look = {"color": colours[s], "symbol": view.palette.symbol(k)}
        data.append(frame.line(list(times[s].items()), short(s, times), look))
    some = next(iter(next(iter(times.values())).values()))
    time = frame.log_axis(frame.title_of_values(plot.subject or plot.metric, some)) | {"range": list(span[1])}
    drawn = frame.layout(
        _ticks(sorted({x for line in times.values() for x in line}), span[0]),
        time,
    )
    drawn["annotations"] += _names({s: times[s] for s in coloured}, colours, times)
    title = winners.title(plot, contest)
    title = f"{contest.label}: {title}" if contest.label else sentence.capital(title)
    return Drawing(name, title, _caption(contest, grey, fixed_values), frame.HEAD, rows, data, drawn)


def _ticks(xs: Sequence[float], span: Range) -> Trace:
    step = -(-len(xs) // 12)
    shown = list(xs)[::step]
    return {
        "title": {"text": ""}, "type": "log", "range": list(span), "tickvals": shown,
        "ticktext": [f"{x:g}" for x in shown],
    }  # fmt: skip


def _grey(line: Mapping[float, Verified], label: str, first: bool) -> Trace:
    trace = frame.line(list(line.items()), label, {"color": FAINT})
    trace["line"]["width"], trace["marker"]["size"] = 1, 4
    trace["error_y"] |= {"width": 0}
    return trace | {"showlegend": first, "legendgroup": "others", "name": "the others" if first else trace["name"]}


def _names(lines: Times, colours: Mapping[str, str], everyone: Iterable[str]) -> list[Trace]:
    """Return the name of each coloured line at its right end.

    Lines often end at one point: their names are then in the order of the lines, the slowest at the top.
    """
    logs = {s: [math.log10(f.estimate.median) for f in line.values()] for s, line in lines.items()}
    order = sorted(logs, key=lambda s: (sum(logs[s]) / len(logs[s]), s))
    return [
        {"name": "direct", "x": 1, "xref": "paper", "xanchor": "left", "y": y, "yanchor": "middle",
         "text": frame.text(short(s, everyone)), "font": {"color": colours[s]}}
        for y, s in zip(sorted(v[-1] for v in logs.values()), order, strict=True)
    ]  # fmt: skip


def _caption(contest: Contest, grey: Sequence[str], fixed_values: str) -> str:
    others = f" Grey: {listing([short(s, contest.times) for s in grey])}." if grey else ""
    case = f" {fixed_values}." if fixed_values else ""
    crowded = " Processes share processors, so nothing is ranked." if contest.crowded else ""
    alone = any(f.identity.mpi is None for line in contest.times.values() for f in line.values())
    threads = " Thread strategies use no MPI library and are in every drawing." if alone and contest.mpi else ""
    return (
        f"{sentence.capital(contest.place.words)}.{crowded}{case} Each line is the best over all toolchains and all "
        f"ways to pass data to MPI. The time is that of the slowest process. Bars are "
        f"{confidence.INTERVALS}.{threads}{others}"
    )
