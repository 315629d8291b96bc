"""Roofline: arithmetic against intensity, under the ceilings that this run measured.

S. Williams, A. Waterman and D. Patterson, CACM 52 (2009) 65. The colour of a point is its toolchain's. A roof is the
ceiling that figures of its level of memory are compared with: the highest ceiling that bounds bytes there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from firstlight.analysis import provenance
from firstlight.analysis.ceilings import Allowed, bounds
from firstlight.analysis.formatting import listing, name
from firstlight.analysis.nominal_peaks import FLOPS
from firstlight.analysis.verdict import Limit, Verified
from firstlight.core import confidence
from firstlight.core.units import count, quantity
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import answers, frame, sentence
from firstlight.report.frame import Drawing, Trace, View

WORDS = {"flops_64": "64 bit", "flops_32": "32 bit"}
FEWEST = 3  # points that are worth a second drawing
Point = tuple[float, float, Verified]  # flop a byte, flop a second, figure


def draw(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Return the roofline of the whole run: the workload only determines its place on the page."""
    return draw_limits(view, name)


def draw_limits(view: View, name: str) -> list[Drawing]:
    """Return one drawing for one core and one for all cores, if both kinds of ceiling were measured."""
    cores = sorted({limit.cores for limit in view.judgement.limits if limit.name == FLOPS})
    ends = cores[:1] + (cores[-1:] if len(cores) > 1 else [])
    drawn = [(k, d) for k in ends if (d := _drawing(view, f"{name}-{k}", k, len(ends) > 1)) is not None]
    kept = [d for place, (k, d) in enumerate(drawn) if place == 0 or len(_points(view, k)) >= FEWEST]
    if len(kept) < len(drawn):
        kept[0].caption += f" {drawn[-1][1].title}; too few figures exist for a second drawing."
    return kept


def _drawing(view: View, name: str, cores: int, several: bool) -> Drawing | None:
    points = _points(view, cores)
    peaks = _peaks(view, cores, points)
    roofs = _roofs(view, cores)
    if not peaks or not roofs:
        return None
    low = min([x for x, _, _ in points] + [1 / 16]) / 2
    top = max(p.value for p in peaks.values())
    high = max([x for x, _, _ in points] + [2 * top / min(r.value for r in roofs.values())]) * 2
    drawn = frame.layout(
        frame.log_axis("arithmetic intensity (flop / byte)"),
        frame.log_axis("flop rate (Gflop/s), higher is better"),
    )
    data = _roof_traces(peaks, roofs, low, high) + _point_traces(view, points)
    slanted = [(low * 1.1 * r.value, f"{place} {quantity(r.value / 1e9, 'GB/s')}") for place, r in roofs.items()]
    _label(drawn, low * 1.1, slanted)
    level = [(p.value, f"{_word(what)} {quantity(p.value / 1e9, 'Gflop/s')}") for what, p in peaks.items()]
    _label(drawn, high / 1.1, level, "right")
    where = f" on {cores} cores" if several and cores > 1 else " on one core" if several else ""
    return Drawing(
        name,
        _title(peaks[FLOPS], roofs, where),
        "Slanted lines are the measured bandwidth of each memory level, horizontal lines are the measured flop rates, "
        f"and bands are their {confidence.INTERVALS}. Each point is the best verified figure of one case, in the "
        "colour of its toolchain. The intensity uses the flops and bytes that the method requires."
        f"{_without(view, points, peaks)}",
        (
            "ceiling or figure",
            "level",
            "intensity (flop/B)",
            "rate",
            f"{confidence.INTERVAL}, or share of ceiling",
            "measured by",
        ),
        _rows(view, peaks, roofs, points),
        data,
        drawn,
    )


def _word(ceiling: str) -> str:
    return WORDS.get(ceiling, ceiling)


def _arithmetic(view: View, figure: Verified) -> str:
    """Return the ceiling that bounds the arithmetic of a figure; "" if its workload declares none."""
    workload = view.workloads.get(figure.identity.workload)
    if workload is None:
        return ""
    found = bounds(figure, workload, view.judgement.run.machine)
    return next((b.ceiling for b in found if b.quantity == "flops"), "")


def _peaks(view: View, cores: int, points: Sequence[Point]) -> dict[str, Limit]:
    """Return the arithmetic ceilings to draw: that of the title, and those that bound points."""
    wanted = dict.fromkeys([FLOPS, *(_arithmetic(view, f) for _, _, f in points)])
    limits = {x.name: x for x in view.judgement.limits if x.cores == cores and x.working_set is None}
    return {w: limits[w] for w in wanted if w in limits} if FLOPS in limits else {}


def _without(view: View, points: Sequence[Point], peaks: dict[str, Limit]) -> str:
    """Return a sentence on points whose arithmetic was not measured: they have no share of a ceiling."""
    missing = [a for _, _, f in points if (a := _arithmetic(view, f)) and a not in peaks]
    if not missing:
        return ""
    kinds = listing([_word(m) for m in dict.fromkeys(missing)])
    return (
        f" The flop rate in {kinds} was not measured, so no share of a ceiling exists for "
        f"{count(len(missing), 'point')}."
    )


def _roofs(view: View, cores: int) -> dict[str, Limit]:
    """Return the ceiling of bytes in each level of the memory hierarchy."""
    names = {b.ceiling for w in view.workloads.values() for b in w.bounded_by if b.quantity == "bytes" and not b.device}
    allowed = Allowed(view.judgement.limits, view.judgement.run.machine, view.levels)
    roofs: dict[str, Limit] = {}
    for place in view.levels.names:
        best = max(
            (r for n in sorted(names) if (r := allowed.roof(n, cores, place))), key=lambda r: r.value, default=None
        )
        if best is not None:
            roofs[place] = best
    return roofs


def _points(view: View, cores: int) -> list[Point]:
    """Return the best verified figure of every case that declares flops and bytes, by its flops per second.

    Methods that do different work are different cases.
    """
    best: dict[tuple[object, ...], Point] = {}
    for f in answers.verified(view.judgement.figures):
        i = f.identity
        flops, size = f.cost.get("flops", 0.0), f.cost.get("bytes", 0.0)
        if i.placement.threads * i.placement.ranks != cores or min(flops, size) <= 0 or f.oversubscribed:
            continue
        seconds = view.step_seconds(f)
        key = (i.workload, i.parameters, i.metric, flops, size)
        if seconds and (key not in best or flops / seconds > best[key][1]):
            best[key] = (flops / size, flops / seconds, f)
    return list(best.values())


def _roof_traces(peaks: dict[str, Limit], roofs: dict[str, Limit], low: float, high: float) -> list[Trace]:
    traces: list[Trace] = []
    top = max(p.value for p in peaks.values())
    for place, roof in roofs.items():
        xs = [low, top / roof.value]
        name = f"{place}: {quantity(roof.value / 1e9, 'GB/s')}"
        ends = [(x, *_ends(roof, 1e-9 * x)) for x in xs]
        traces += frame.ceiling_trace(ends, name, "solid")
        traces[-1]["showlegend"] = False
    for k, (what, peak) in enumerate(peaks.items()):
        first = min(peak.value / r.value for r in roofs.values())
        flat = [(x, *_ends(peak, 1e-9)) for x in (first, high)]
        label = f"{_word(what)}: {quantity(peak.value / 1e9, 'Gflop/s')}" if k else "ceilings measured in this run"
        traces += frame.ceiling_trace(flat, label, "solid")
        traces[-1]["showlegend"] = k == 0
    return traces


def _ends(limit: Limit, scale: float) -> tuple[float, float, float]:
    return limit.value * scale, limit.low * scale, limit.high * scale


def _label(drawn: Trace, x: float, lines: Sequence[tuple[float, str]], anchor: str = "left") -> None:
    """Add labels of (flop per second, text) at one x."""
    drawn["annotations"] += [
        {"x": math.log10(x), "y": math.log10(1e-9 * y), "xanchor": anchor,
         "yanchor": "top" if anchor == "left" else "bottom", "font": {"color": "@muted"}, "text": text}
        for y, text in lines
    ]  # fmt: skip


def _point_traces(view: View, points: Sequence[Point]) -> list[Trace]:
    """Return the traces of all points: one key per workload and per toolchain, and the points themselves."""
    traces: list[Trace] = []
    for k, workload in enumerate(dict.fromkeys(f.identity.workload for _, _, f in points)):
        mine = [p for p in points if p[2].identity.workload == workload]
        symbol = view.palette.symbol(k)
        key = {"type": "scatter", "mode": "markers", "name": frame.text(workload), "x": [None], "y": [None]}
        traces.append(key | {"marker": {"size": 8, "symbol": symbol, "color": "@ink"}})
        for toolchain in dict.fromkeys(f.identity.toolchain for _, _, f in mine):
            some = [p for p in mine if p[2].identity.toolchain == toolchain]
            traces.append(_points_trace(some, view.palette.colour(toolchain), symbol))
    for toolchain in sorted({f.identity.toolchain for _, _, f in points}):
        marker = {"size": 8, "symbol": "circle-open", "color": view.palette.colour(toolchain), "line": {"width": 3}}
        nothing = {"type": "scatter", "mode": "markers", "x": [None], "y": [None]}
        traces.append(nothing | {"name": frame.text(toolchain), "marker": marker})
    return traces


def _points_trace(points: Sequence[Point], colour: str, symbol: str) -> Trace:
    spans = [_half_widths(f) for _, _, f in points]
    ys = [y / 1e9 for _, y, _ in points]
    return {
        "type": "scatter", "mode": "markers", "showlegend": False, "x": [x for x, _, _ in points], "y": ys,
        "error_y": {"width": 3, "color": colour,
                    "array": [y * s[1] for y, s in zip(ys, spans, strict=True)],
                    "arrayminus": [y * s[0] for y, s in zip(ys, spans, strict=True)]},
        "marker": {"size": 8, "symbol": symbol, "color": colour, "opacity": 0.85},
        "hoverinfo": "text", "hovertext": [frame.hover(f) for _, _, f in points],
    }  # fmt: skip


def _half_widths(f: Verified) -> tuple[float, float]:
    """Return how far the interval extends below and above the rate, relative to it."""
    e = f.estimate
    if e.low is None or e.high is None:
        return 0.0, 0.0
    if f.better == "higher":
        return 1 - e.low / e.median, e.high / e.median - 1
    return 1 - e.median / e.high, e.median / e.low - 1


def _title(peak: Limit, roofs: dict[str, Limit], where: str) -> str:
    places = list(roofs)
    fast, slow = roofs[places[0]], roofs[places[-1]]
    ridge = peak.value / slow.value
    balance = provenance.number(f"{ridge:.2g}", "best(a) / best(b)", "flop/B", (peak.source, slow.source))
    text = (
        f"peak{where}: {_measured(peak, 'Gflop/s')}; {places[-1]} supplies {_measured(slow, 'GB/s')}, so codes below "
        f"{balance} flop per byte are bandwidth-bound"
    )
    if len(places) == 1:
        return sentence.capital(text)
    by = provenance.number(sentence.ratio2(fast.value / slow.value), "best(a) / best(b)", of=(fast.source, slow.source))
    return sentence.capital(f"{text} ({places[0]} supplies {by} this bandwidth)")


def _measured(limit: Limit, unit: str) -> str:
    return provenance.number(quantity(limit.value / 1e9, unit), "best(a)", unit, (limit.source,))


def _rows(
    view: View, peaks: dict[str, Limit], roofs: dict[str, Limit], points: Sequence[Point]
) -> list[tuple[str, ...]]:
    def limit(place: str, x: Limit, unit: str) -> tuple[str, ...]:
        span = f"{quantity(x.low / 1e9, unit)} – {quantity(x.high / 1e9, unit)}" if x.sure else "too few"
        return (x.name, place, "–", quantity(x.value / 1e9, unit), span, name(x.source))

    rows = [limit("–", p, "Gflop/s") for p in peaks.values()]
    rows += [limit(p, r, "GB/s") for p, r in roofs.items()]
    for x, y, f in points:
        share = frame.share(f) or "–"
        rows.append(
            (f.identity.workload, view.place(f), f"{x:.3g}", quantity(y / 1e9, "Gflop/s"), share, name(f.identity))
        )
    return rows
