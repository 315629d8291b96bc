"""Roofline: arithmetic against intensity, under the ceilings that this run measured.

S. Williams, A. Waterman and D. Patterson, CACM 52 (2009) 65. The colour of a point is its toolchain's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from firstlight.catalogue import Plot, Workload
from firstlight.judge.verdict import Limit, Verified
from firstlight.judge.words import name
from firstlight.report import answers, frame, sentence, wording
from firstlight.report.frame import Drawing, Trace, View
from firstlight.units import quantity

FLOPS, BYTES = "flops_64", "load_bandwidth"
FEWEST = 3  # points that are worth a second drawing
Point = tuple[float, float, Verified]  # flop a byte, flop a second, figure


def draw(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """The roofline is of the whole run: the workload only says where on the page it stands."""
    return draw_limits(view, name)


def draw_limits(view: View, name: str) -> list[Drawing]:
    """One drawing for one core and one for all cores, where both kinds of ceiling were measured."""
    cores = sorted({limit.cores for limit in view.judgement.limits if limit.name == FLOPS})
    ends = cores[:1] + (cores[-1:] if len(cores) > 1 else [])
    drawn = [(k, d) for k in ends if (d := _drawing(view, f"{name}-{k}", k, len(ends) > 1)) is not None]
    kept = [d for place, (k, d) in enumerate(drawn) if place == 0 or len(_points(view, k)) >= FEWEST]
    if len(kept) < len(drawn):
        kept[0].caption += f" {drawn[-1][1].title}; too few figures for a drawing of their own."
    return kept


def _drawing(view: View, name: str, cores: int, several: bool) -> Drawing | None:
    peak = next((x for x in view.judgement.limits if x.name == FLOPS and x.cores == cores), None)
    roofs = _roofs(view, cores)
    if peak is None or not roofs:
        return None
    points = _points(view, cores)
    low = min([x for x, _, _ in points] + [1 / 16]) / 2
    high = max([x for x, _, _ in points] + [2 * peak.value / min(r.value for r in roofs.values())]) * 2
    drawn = frame.layout(
        frame.log_axis("arithmetic intensity (flop / byte)"),
        frame.log_axis("arithmetic (Gflop/s)"),
    )
    data = _roof_traces(peak, roofs, low, high) + _point_traces(view, points)
    for place, roof in roofs.items():
        _label_roof(drawn, place, roof, low)
    where = f" on {cores} cores" if several and cores > 1 else " on one core" if several else ""
    return Drawing(
        name,
        _title(peak, roofs, where),
        "Slanted lines: the bandwidth measured at each level of the memory; level line: the arithmetic measured; their "
        "bands are 95 % intervals. A point is the best verified figure of one case, in the colour of its toolchain.",
        ("ceiling or figure", "level", "intensity (flop/B)", "rate", "95 % interval", "measured by"),
        _rows(view, peak, roofs, points),
        data,
        drawn,
    )


def _roofs(view: View, cores: int) -> dict[str, Limit]:
    """The best bandwidth measured in each level of the memory hierarchy."""
    machine = view.judgement.run.machine
    roofs: dict[str, Limit] = {}
    for limit in view.judgement.limits:
        if limit.name == BYTES and limit.cores == cores and limit.working_set is not None:
            place = wording.level(limit.working_set, machine, cores)
            if place not in roofs or limit.value > roofs[place].value:
                roofs[place] = limit
    return {place: roofs[place] for place in wording.levels(machine) if place in roofs}


def _points(view: View, cores: int) -> list[Point]:
    """The best verified figure of every case that declares flops and bytes, by its flops a second."""
    best: dict[tuple[object, ...], Point] = {}
    for f in answers.verified(view.judgement.figures):
        i = f.identity
        flops, size = f.cost.get("flops", 0.0), f.cost.get("bytes", 0.0)
        if i.placement.threads * i.placement.ranks != cores or min(flops, size) <= 0 or f.oversubscribed:
            continue
        seconds = view.step_seconds(f)
        key = (i.workload, i.parameters, i.metric)
        if seconds and (key not in best or flops / seconds > best[key][1]):
            best[key] = (flops / size, flops / seconds, f)
    return list(best.values())


def _roof_traces(peak: Limit, roofs: dict[str, Limit], low: float, high: float) -> list[Trace]:
    traces: list[Trace] = []
    for place, roof in roofs.items():
        ridge = peak.value / roof.value
        xs = [low, ridge]
        name = f"{place}: {quantity(roof.value / 1e9, 'GB/s')}"
        ends = [(x, *_ends(roof, 1e-9 * x)) for x in xs]
        traces += frame.ceiling_trace(ends, name, "solid")
        traces[-1]["showlegend"] = False
    first = min(peak.value / r.value for r in roofs.values())
    flat = [(x, *_ends(peak, 1e-9)) for x in (first, high)]
    traces += frame.ceiling_trace(flat, "ceilings measured in this run", "solid")
    return traces


def _ends(limit: Limit, scale: float) -> tuple[float, float, float]:
    return limit.value * scale, limit.low * scale, limit.high * scale


def _label_roof(drawn: Trace, place: str, roof: Limit, low: float) -> None:
    drawn["annotations"].append(
        {"x": math.log10(low * 1.1), "y": math.log10(1e-9 * roof.value * low * 1.1), "showarrow": False,
         "xanchor": "left", "yanchor": "middle", "bgcolor": "@paper", "font": {"size": 11, "color": "@muted"},
         "text": f"{place} {quantity(roof.value / 1e9, 'GB/s')}"}
    )  # fmt: skip


def _point_traces(view: View, points: Sequence[Point]) -> list[Trace]:
    """One trace a workload."""
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
        "error_y": {"type": "data", "symmetric": False, "width": 3, "thickness": 1.2, "color": colour,
                    "array": [y * s[1] for y, s in zip(ys, spans, strict=True)],
                    "arrayminus": [y * s[0] for y, s in zip(ys, spans, strict=True)]},
        "marker": {"size": 8, "symbol": symbol, "color": colour, "opacity": 0.85},
        "hoverinfo": "text", "hovertext": [frame.hover(f) for _, _, f in points],
    }  # fmt: skip


def _half_widths(f: Verified) -> tuple[float, float]:
    """How far the interval reaches below and above the rate, relative to it."""
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
    told = (
        f"{quantity(peak.value / 1e9, 'Gflop/s')} of arithmetic{where}, but {places[-1]} feeds only "
        f"{quantity(slow.value / 1e9, 'GB/s')}: codes below {ridge:.2g} flop a byte wait for it"
    )
    if len(places) == 1:
        return sentence.capital(told)
    return sentence.capital(f"{told} ({places[0]} feeds {sentence.ratio2(fast.value / slow.value)} as much)")


def _rows(view: View, peak: Limit, roofs: dict[str, Limit], points: Sequence[Point]) -> list[tuple[str, ...]]:
    def limit(place: str, x: Limit, unit: str) -> tuple[str, ...]:
        span = f"{quantity(x.low / 1e9, unit)} – {quantity(x.high / 1e9, unit)}" if x.sure else "too few"
        return (x.name, place, "–", quantity(x.value / 1e9, unit), span, name(x.source))

    rows = [limit("–", peak, "Gflop/s"), *(limit(p, r, "GB/s") for p, r in roofs.items())]
    machine = view.judgement.run.machine
    for x, y, f in points:
        place = wording.level(f.working_set, machine, f.identity.placement.threads)
        share = frame.share(f) or "–"
        rows.append((f.identity.workload, place, f"{x:.3g}", quantity(y / 1e9, "Gflop/s"), share, name(f.identity)))
    return rows
