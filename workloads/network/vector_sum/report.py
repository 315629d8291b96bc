"""Draw a global sum against the length of its vectors, one line per MPI library and route, with models alongside.

The rate is drawn as algorithm bandwidth, bytes of the vector over the time of its sum.
"""

from __future__ import annotations

from typing import NamedTuple

from firstlight.analysis import formatting, hockney, ranking
from firstlight.analysis.formatting import listing
from firstlight.analysis.verdict import Figure, Identity, Verified
from firstlight.core import confidence
from firstlight.core.heritage import Entry
from firstlight.core.units import binary, convert, count, percent, quantity
from firstlight.model.catalogue import Plot, Workload
from firstlight.model.plan import Placement
from firstlight.report import answers, frame, sentence, wording
from firstlight.report.frame import Drawing, Trace, View, text
from firstlight.results.description import Metric

from .drawings import bandwidth, routes
from .drawings.routes import Link

WORD = 8  # bytes of an element
FEWEST = 2  # lengths that make a line
MOST_LINES = 12  # three MPI libraries with four routes each
SYMBOLS = ("mpi_allreduce", "mpi_cube", "mpi_ring", "mpi_rabenseifner")
MODELS: dict[str, tuple[routes.Route, str]] = {
    "mpi_cube": (routes.cube, "dash"),
    "mpi_rabenseifner": (routes.rabenseifner, "dashdot"),
}
LAWS = {
    "mpi_cube": "Dashed: d (α + m β + m γ), recursive doubling (R1's hypercube)",
    "mpi_rabenseifner": "Dash-dotted: 2 d α + 2 (p-1)/p m β + (p-1)/p m γ, Rabenseifner",
}
ROUTES = {"mpi_cube": "recursive doubling", "mpi_rabenseifner": "Rabenseifner"}
Key = tuple[str, str]  # MPI library, variant
Lines = dict[Key, dict[float, Verified]]


def collective(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Return one drawing for the smallest placement of several processes and one for the largest."""
    every = _figures(view, workload, plot)
    figures = answers.verified(every)
    some = {f.identity.placement for f in figures if f.identity.placement.ranks > 1 and not f.oversubscribed}
    placements = sorted((p for p in some if _lengths(figures, p, plot) >= FEWEST), key=lambda p: (p.ranks, p.nodes))
    ends = placements[:1] + (placements[-1:] if len(placements) > 1 else [])
    drawings = [
        _drawing(view, workload, plot, f"{name}-{k}", p, [f for f in every if f.identity.placement == p])
        for k, p in enumerate(ends)
    ]
    if drawings:  # its table has also what is drawn nowhere
        drawings[0].rows += frame.table(f for f in every if f.identity.placement not in ends)
    return drawings


def _figures(view: View, workload: Workload, plot: Plot) -> list[Figure]:
    """Return the figures that the plot selects; a rate as algorithm bandwidth."""
    some = view.selected(workload, plot)
    if plot.metric != bandwidth.RATE:
        return some
    return [bandwidth.of(f, size) for f in some if (size := _size(f, plot)) is not None]


def _size(figure: Figure, plot: Plot) -> float | None:
    """Return the bytes of the vector in each process; None without a length."""
    n = dict(figure.identity.parameters).get(plot.x)
    return WORD * float(n) if isinstance(n, int | float) and n > 0 else None


def _lengths(figures: list[Verified], placement: Placement, plot: Plot) -> int:
    return len({dict(f.identity.parameters).get(plot.x) for f in figures if f.identity.placement == placement})


def _drawing(
    view: View, workload: Workload, plot: Plot, name: str, placement: Placement, every: list[Figure]
) -> Drawing:
    lines = _lines(answers.verified(every), plot)
    some = next(iter(next(iter(lines.values())).values()))
    metric = bandwidth.METRIC if plot.metric == bandwidth.RATE else view.metric(some.identity)
    if metric is None:
        raise LookupError(f"the programs do not describe the metric {plot.metric}")
    sizes = sorted({x for line in lines.values() for x in line})
    drawn = frame.layout(
        frame.log_axis("bytes of the vector of each process (8 n)", sizes),
        frame.log_axis(frame.title_of_values(metric.name, some)),
    )
    data: list[Trace] = []
    for (mpi, variant), line in list(lines.items())[:MOST_LINES]:
        place = SYMBOLS.index(variant) if variant in SYMBOLS else len(SYMBOLS)
        look = {"color": view.palette.colour(mpi), "symbol": view.palette.symbol(place)}
        data.append(frame.line(sorted(line.items()), _label(view, mpi, variant), look))
    models = _models(view, lines, placement)
    rows = frame.table(every)
    for model in models:
        data.append(_curve(view, model, metric, sizes))
        rows += _model_rows(view, model, metric, lines[model.mpi, model.variant])
    data += _ghosts(view, workload.name, plot, some.unit, placement)
    title = _title(view, plot, lines, metric, placement)
    return Drawing(name, title, _caption(view, metric, lines, models, placement), frame.HEAD, rows, data, drawn)


def _lines(figures: list[Verified], plot: Plot) -> Lines:
    """Return the best figure over the toolchains, by MPI library and variant, for each size in bytes."""
    by_size: dict[float, list[Verified]] = {}
    for f in figures:
        size = _size(f, plot)
        if size is not None and not f.oversubscribed:
            by_size.setdefault(size, []).append(f)
    lines: Lines = {}
    for size, some in sorted(by_size.items()):
        for f in answers.best_of_each(some, lambda i: f"{i.mpi} {i.variant}"):
            lines.setdefault(_key(f.identity), {})[size] = f
    return dict(sorted(lines.items()))


def _key(identity: Identity) -> Key:
    return identity.mpi or "none", identity.variant


def _label(view: View, mpi: str, variant: str) -> str:
    """Return `Open MPI allreduce`."""
    route = ROUTES.get(variant, variant.removeprefix("mpi_"))
    return f"{wording.mpi_name(view.judgement.run, mpi)} {route}"


# --- models -----------------------------------------------------------------------------------------------------------


class Model(NamedTuple):
    """The model of one route through one MPI library."""

    mpi: str
    variant: str
    link: Link
    ranks: int

    def value(self, metric: Metric, size: float) -> float | None:
        """Return the value in the metric's unit, for vectors of `size` bytes; None if the route does not exist."""
        seconds = MODELS[self.variant][0](self.link, self.ranks, size)
        if seconds is None or seconds <= 0:
            return None
        return metric.scale * (size / seconds if metric.form == "rate" else seconds)


def _models(view: View, lines: Lines, placement: Placement) -> list[Model]:
    """Return a model for every line that has one, if this run measured the data that the model needs."""
    found = []
    for mpi, variant in lines:
        link = routes.link(view.judgement, view.workloads, mpi, placement) if variant in MODELS else ""
        if isinstance(link, Link):
            found.append(Model(mpi, variant, link, placement.ranks))
    return found


def _curve(view: View, model: Model, metric: Metric, sizes: list[float]) -> Trace:
    xs = [sizes[0] * (sizes[-1] / sizes[0]) ** (k / 60) for k in range(61)]
    return {
        "type": "scatter", "mode": "lines", "hoverinfo": "name", "legendgroup": "models",
        "name": text(f"model, {_label(view, model.mpi, model.variant)}"),
        "x": xs, "y": [model.value(metric, x) for x in xs],
        "line": {"color": view.palette.colour(model.mpi), "width": 1.2, "dash": MODELS[model.variant][1]},
    }  # fmt: skip


def _model_rows(view: View, model: Model, metric: Metric, line: dict[float, Verified]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for size, f in line.items():
        value = model.value(metric, size)
        if value is None:
            continue
        case = ", ".join((formatting.values(f.identity.parameters), formatting.where(f.identity.placement)))
        times = max(f.estimate.median / value, value / f.estimate.median)
        side = "above" if f.estimate.median > value else "below"
        name = f"model, {_label(view, model.mpi, model.variant)}"
        verdict = f"model; measured {sentence.ratio2(times)} {side}"
        rows.append((name, case, quantity(value, metric.unit), "–", "–", "–", verdict))
    return rows


# --- words ------------------------------------------------------------------------------------------------------------


class _Stretch(NamedTuple):
    """Neighbouring sizes with a common winner: `names` are among the best at each; empty if no line wins.

    `clear`: no other line was as good anywhere (without names: the medians are equal, too). `best`: the best of the
    names at the last size; `ahead`: its lead over `next`, the best of the others there.
    """

    names: frozenset[str]
    first: float
    last: float
    clear: bool
    best: Verified
    ahead: float
    next: Verified
    opening: Verified  # one at the first size


def _title(view: View, plot: Plot, lines: Lines, metric: Metric, placement: Placement) -> str:
    """Return a title: the winners, and the sizes between which they change."""
    subject = f"{sentence.capital(plot.subject or plot.metric)}, {formatting.where(placement)}: "
    everyone = {_label(view, *key) for key in lines}
    if len(everyone) == 1:
        points = list(next(iter(lines.values())).items())
        ends = [
            f"{bandwidth.format_median(f)} at {bandwidth.size(x, f)}" for x, f in dict((points[0], points[-1])).items()
        ]
        return f"{subject}{next(iter(everyone))} {'lasts' if metric.better == 'lower' else 'reaches'} {listing(ends)}"
    found = _stretches(view, lines)
    if not found:
        return f"{subject}no two algorithms were measured at the same size"
    shown = found if len(found) <= 3 else [found[0], found[-1]]
    parts = [_clause(s, metric, first=s is found[0], last=s is found[-1]) for s in shown]
    if len(shown) < len(found):
        parts.insert(1, f"in between the lead changes {len(found) - 1} times")
    return subject + "; ".join(parts)


def _stretches(view: View, lines: Lines) -> list[_Stretch]:
    found: list[_Stretch] = []
    for size in sorted({x for line in lines.values() for x in line}):
        groups = ranking.rank(line[size] for line in lines.values() if size in line)
        if sum(len(g.figures) for g in groups) < 2:
            continue
        winners = {_label(view, *_key(f.identity)): f for f in groups[0].figures}
        names, first = frozenset(winners if len(groups) > 1 else ()), size
        opening = groups[0].best
        clear = bool(names) or sentence.equal(groups[0].figures)
        before = found[-1] if found else None
        if before and (before.names & names or not (before.names or names)):
            found.pop()
            clear = clear and before.clear and before.names == names
            names, first, opening = before.names & names, before.first, before.opening
        best = next(f for label, f in winners.items() if label in names or not names)
        ahead = ranking.advantage(best, groups[1].best) if len(groups) > 1 else 1.0
        behind = groups[1].best if len(groups) > 1 else best
        found.append(_Stretch(names, first, size, clear, best, ahead, behind, opening))
    return found


def _clause(s: _Stretch, metric: Metric, *, first: bool, last: bool) -> str:
    """Return `up to 32 KiB MPICH recursive doubling is fastest (1.20 us at 32 KiB, 1.4 × ahead)`."""
    begin, end = bandwidth.size(s.first, s.opening), bandwidth.size(s.last, s.best)
    if first and last:
        place = "at every size"
    elif s.first == s.last:
        place = f"at {begin}"
    elif first:
        place = f"up to {end}"
    else:
        place = f"from {begin} on" if last else f"from {begin} to {end}"
    value = bandwidth.format_median(s.best)
    if s.first != s.last:
        value += f" at {end}"
    if not s.names:
        return f"{place} {'all are equal' if s.clear else 'no difference can be shown'} ({value})"
    word = "fastest" if metric.better == "lower" else "best"
    verb = ("is " if len(s.names) == 1 else "are ") + ("" if s.clear else "among the ")
    by = bandwidth.ahead(sentence.ratio2(s.ahead), s.best, s.next)
    ahead = f", {by} ahead" if s.clear and s.ahead > 1 + ranking.PRACTICAL else ""
    return f"{place} {listing(sorted(s.names))} {verb}{word} ({value}{ahead})"


def _caption(view: View, metric: Metric, lines: Lines, models: list[Model], placement: Placement) -> str:
    parts = [f"Lines are medians, bars their {confidence.INTERVALS}."]
    if metric.form == "rate":
        parts.append(
            "Algorithm bandwidth: the bytes of the vector over the time of its sum, regardless of the number of bytes "
            "sent."
        )
    wanted = list(dict.fromkeys(mpi for mpi, variant in lines if variant in MODELS))
    if models:
        laws = [LAWS[v] for v in LAWS if any(m.variant == v for m in models)]
        cores = [count(n, "core") for n in sorted({a.cores for a in models[0].link.additions}, reverse=True)]
        parts.append(
            f"{'; '.join(laws)}; m in bytes. α and β are from this run's ping-pong, each in the regime of its message "
            f"size. γ is from {models[0].link.operation} on {' or '.join(cores)}, with the working set nearest to "
            "the sum's."
        )
    for mpi in wanted:
        mine = next((m for m in models if m.mpi == mpi), None)
        name = wording.mpi_name(view.judgement.run, mpi)
        parts.append(f"{name}: {_parameters(mine)}." if mine else f"{name}: no model, {_why(view, mpi, placement)}.")
    if not wanted:
        parts.append("No verified algorithm has a model.")
    return " ".join(parts)


def _why(view: View, mpi: str, placement: Placement) -> str:
    found = routes.link(view.judgement, view.workloads, mpi, placement)
    return found if isinstance(found, str) else "the number of ranks is not a power of two"


def _parameters(model: Model) -> str:
    """Return `α = 391 ns, 1/β = 9.80 GB/s up to 32 KiB; α = ... from 64 KiB on; 1/γ = 5.1 to 12.0 GB/s`."""
    fits, parts = model.link.regimes, []
    for k, fit in enumerate(fits):
        rate = f"1/β = {quantity(1e-9 / fit.beta, 'GB/s')}" if fit.beta > 0 else "β not distinguishable from 0"
        place = "" if len(fits) == 1 else f" up to {binary(fit.high)}" if k == 0 else f" from {binary(fit.low)} on"
        miss = f" (error {percent(fit.misfit)})" if fit.misfit > hockney.NEGLIGIBLE else ""
        parts.append(f"α = {quantity(fit.alpha, 's')}, {rate}{place}{miss}")
    rates = sorted(1e-9 / a.gamma for a in model.link.additions)
    ends = list(dict.fromkeys((quantity(rates[0], "GB/s"), quantity(rates[-1], "GB/s"))))
    return "; ".join([*parts, f"1/γ = {' to '.join(ends)}, by working set"])


# --- earlier machines -------------------------------------------------------------------------------------------------


def _published(entry: Entry, plot: Plot, unit: str) -> float | None:
    return bandwidth.published(entry) if plot.metric == bandwidth.RATE else convert(entry.value, entry.unit, unit)


def _ghosts(view: View, workload: str, plot: Plot, unit: str, placement: Placement) -> list[Trace]:
    """Return published figures of as many processes, one per node, or of the fewest; the machine is named once."""
    entries = [e for e in view.heritage.matching(workload, plot.metric) if "ranks_per_node" not in e.parameters]
    if not entries:
        return []
    ranks = placement.ranks if any(e.ranks == placement.ranks for e in entries) else min(e.ranks for e in entries)
    points = []
    for e in entries:
        n, y = e.parameters.get(plot.x), _published(e, plot, unit)
        if e.ranks == ranks and y is not None and isinstance(n, int | float):
            points.append((WORD * float(n), y, e))
    traces: list[Trace] = []
    for machine in dict.fromkeys(e.machine for _, _, e in points):
        mine = [(x, y, e) for x, y, e in points if e.machine == machine]
        named = max(range(len(mine)), key=lambda k: mine[k][:2])
        hover_texts = [
            "<br>".join(
                text(t)
                for t in (f"{', '.join(p for p in (e.machine, e.mpi, e.variant) if p)} ({e.year}), {ranks} processes",
                          quantity(e.value, e.unit), e.place, e.note, e.source.citation)
                if t
            )
            for _, _, e in mine
        ]  # fmt: skip
        label = text(f"{machine} ({mine[0][2].year}), {ranks} processes")
        traces.append(
            {"type": "scatter", "mode": "markers+text", "name": "earlier machines, as published",
             "legendgroup": "ghosts", "legendrank": 2000, "showlegend": not traces, "hoverinfo": "text",
             "hovertext": hover_texts, "x": [x for x, _, _ in mine], "y": [y for _, y, _ in mine],
             "text": [label if k == named else "" for k in range(len(mine))], "textposition": "top left",
             "textfont": {"color": "@ghost"},
             "marker": {"color": "@ghost", "size": 9, "symbol": "x-thin-open",
                        "line": {"width": 2, "color": "@ghost"}}}
        )  # fmt: skip
    return traces
