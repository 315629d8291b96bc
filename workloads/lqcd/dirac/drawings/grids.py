"""Draw lattices and process grids side by side, in 32 and 64 bits, with communication and without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from firstlight.analysis import provenance, ranking
from firstlight.analysis.formatting import listing
from firstlight.analysis.verdict import Verified
from firstlight.core import confidence
from firstlight.core.heritage import Entry
from firstlight.core.units import convert, percent, quantity
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import frame, sentence
from firstlight.report.frame import Drawing, Trace, View, text

from . import sites
from .communication import Exchange
from .sites import Case

Best = dict[str, dict[Case, Verified]]  # by variant
MOST = 24  # cases that fit side by side


def drawings(
    view: View, workload: Workload, plot: Plot, name: str, figures: Sequence[Verified], exchanges: Sequence[Exchange]
) -> list[Drawing]:
    """Draw the speed of a core in each case; return nothing if nothing ran on several cores."""
    found = best(figures)
    cases = sorted({c for line in found.values() for c in line}, key=_order)
    if not cases:
        return []
    some = next(iter(next(iter(found.values())).values()))
    shown = cases[:MOST]
    ghosts = [e for e in view.heritage.matching(workload.name, plot.metric) if _on_a_grid(e)]
    ticks = [label(c) for c in shown] + list(dict.fromkeys(_place(e) for e in ghosts))
    data = [_line(view, variant, {c: f for c, f in line.items() if c in shown}, k)
            for k, (variant, line) in enumerate(found.items())]  # fmt: skip
    data += _without(exchanges, shown)
    data += _traces(ghosts, some.unit)
    axis = {"type": "category", "categoryarray": ticks[::-1]}
    speed = {"title": {"text": frame.title_of_values("speed of a core", some)}, "rangemode": "tozero"}
    drawn = frame.layout(speed, axis)
    caption = (
        f"The best toolchain and MPI library of each exchange strategy; bars are {confidence.INTERVALS}. Grey lines: "
        f"the best of these programs without communication, timed but never verified. Crosses: R5's machines on their "
        f"own lattices."
        + (f" {len(cases) - MOST} more cases are only in the table." if len(cases) > MOST else "")
        + (" Open symbols: more ranks and threads than processors." if any(f.oversubscribed for f in figures) else "")
    )
    return [Drawing(name, _title(found, cases), caption, frame.HEAD, frame.table(figures), data, drawn)]


def best(figures: Sequence[Verified]) -> Best:
    """Return the best toolchain and MPI library by variant and case; a case with threads follows that of its ranks."""
    every: dict[str, dict[Case, list[Verified]]] = {}
    for f in figures:
        c = sites.case(f)
        if c is not None and sites.cores(f) > 1:
            every.setdefault(f.identity.variant, {}).setdefault(c, []).append(f)
    return {
        variant: {c: b for c, some in sorted(line.items(), key=lambda item: _order(item[0])) if (b := sites.best(some))}
        for variant, line in sorted(every.items())
    }


def label(c: Case) -> str:
    return f"{c.lattice} on {c.processes}, {c.bits} bit"


def _order(c: Case) -> tuple[object, ...]:
    return c.volume, c.extents, c.ranks, c.threads, c.grid, c.bits


def _line(view: View, variant: str, line: Mapping[Case, Verified], k: int) -> Trace:
    name, symbol = sites.words(variant), view.palette.symbol(k)
    trace = frame.line([(0.0, f) for f in line.values()], name, {"color": view.palette.colour(name), "symbol": symbol})
    trace |= {"mode": "markers", "x": trace["y"], "y": [label(c) for c in line], "error_x": trace.pop("error_y")}
    trace["marker"]["symbol"] = [f"{symbol}-open" if f.oversubscribed else symbol for f in line.values()]
    return trace


def _without(exchanges: Sequence[Exchange], shown: Sequence[Case]) -> list[Trace]:
    """Draw, for each case, the speed of the fastest twin without communication."""
    top: dict[Case, float] = {}
    for e in exchanges:
        c = sites.case(e.figure)
        if c in shown and c is not None:
            top[c] = max(top.get(c, 0.0), e.figure.estimate.median * e.seconds / e.silent)
    if not top:
        return []
    return [
        {"type": "scatter", "mode": "markers", "name": "without communication", "y": [label(c) for c in top],
         "x": list(top.values()), "hoverinfo": "text",
         "hovertext": ["without communication: timed, unverified by design"] * len(top),
         "marker": {"color": "@muted", "symbol": "line-ns-open", "size": 18, "line": {"width": 2, "color": "@muted"}}}
    ]  # fmt: skip


# --- earlier machines -------------------------------------------------------------------------------------------------


def _on_a_grid(entry: Entry) -> bool:
    p = entry.parameters
    return isinstance(p.get("lattice"), str) and isinstance(p.get("grid"), str) and isinstance(p.get("bits"), int)


def _place(entry: Entry) -> str:
    p = entry.parameters
    return f"{text(str(p['lattice']).replace('^3', '³'))} on {text(str(p['grid']))}, {p['bits']} bit ({entry.year})"


def _traces(entries: Sequence[Entry], unit: str) -> list[Trace]:
    known = [(e, x) for e in entries if (x := convert(e.value, e.unit, unit)) is not None]
    if not known:
        return []
    hover_texts = [
        f"<b>{text(e.machine)} ({e.year})</b><br>{quantity(e.value, e.unit)}<br>{text(e.place)}<br>"
        f"{text(e.source.citation)}"
        for e, _ in known
    ]
    return [
        {"type": "scatter", "mode": "markers", "name": "earlier machines, as published", "legendgroup": "ghosts",
         "legendrank": 2000, "hoverinfo": "text", "hovertext": hover_texts, "y": [_place(e) for e, _ in known],
         "x": [x for _, x in known],
         "marker": {"color": "@ghost", "size": 9, "symbol": "x-thin-open", "line": {"width": 2, "color": "@ghost"}}}
    ]  # fmt: skip


# --- words ------------------------------------------------------------------------------------------------------------


def _title(found: Best, cases: Sequence[Case]) -> str:
    """Return `16x16³ on 2x1x1x1 in 32 bit: overlap reaches 3.4 Gflop/s a core, blocking 80 % of it`."""
    free = {v: {c: f for c, f in line.items() if not f.oversubscribed} for v, line in found.items()}
    at = next((c for c in reversed(cases) if any(c in line for line in free.values())), None)
    if at is None:
        return "More ranks and threads than processors, so not ranked"
    groups = ranking.rank([line[at] for line in free.values() if at in line])
    top = groups[0].best
    names = listing([sites.words(f.identity.variant) for f in groups[0].figures])
    alike = "are equal:" if sentence.equal(groups[0].figures) else "do not differ measurably:"
    verb = "reaches" if len(groups[0].figures) == 1 else alike
    value = provenance.median(top)
    title = f"{at.lattice} on {at.processes} in {at.bits} bit: {names} {verb} {value} per core"
    last = groups[-1].best
    if len(groups) > 1:
        share = provenance.advantage(percent(1 / ranking.advantage(top, last)), last, top)
        bound = "at most " if provenance.at_least(top, last) else ""
        title += f", {sites.words(last.identity.variant)} {bound}{share} of it"
    return title
