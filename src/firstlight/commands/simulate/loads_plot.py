"""Loads of links under predicted collectives: draw the busiest link of each axis, and all links in order."""

from __future__ import annotations

import math
from collections.abc import Sequence

from firstlight.core.units import binary, percent
from firstlight.execute.network.prediction import AxisLoad, Loads, Prediction
from firstlight.report import frame
from firstlight.report.frame import Drawing, Trace, text

Loaded = Sequence[tuple[Prediction, Loads]]


def axes(ordered: Sequence[Prediction], most: int) -> list[Drawing]:
    """Draw the busiest link of every axis and direction, one algorithm per row, for at most `most` algorithms."""
    some = [(p, p.loads) for p in ordered if p.loads is not None and p.loads.axes][:most]
    if not some:
        return []
    layout = {
        "xaxis": {"title": {"text": "axis and direction"}, "type": "category"},
        "yaxis": {"autorange": "reversed", "type": "category"},
    }
    on = f" on {some[0][0].topology}" if some[0][0].topology else ""
    return [
        Drawing(
            "simulation-axes",
            _title(some),
            f"The load of the busiest link of each axis and direction{on}; the number in a cell is the mean over all "
            f"links of that axis. The colour scale is logarithmic; empty cells are idle axes.",
            ("algorithm", "axis", "busiest link", "mean over all links"),
            [(p.algorithm, a.axis, binary(a.most), binary(a.mean)) for p, loads in some for a in loads.axes],
            [_heat(some)],
            layout,
        )
    ]


def _title(some: Loaded) -> str:
    (least, low), (worst, high) = (end(some, key=lambda one: one[1].most) for end in (min, max))
    busiest = f"The load of the busiest link is {binary(high.most)}"
    if high.most <= low.most:
        return busiest
    return f"{busiest} with {worst.algorithm}, {binary(low.most)} with {least.algorithm}"


def _heat(some: Loaded) -> Trace:
    names = list(dict.fromkeys(a.axis for _, loads in some for a in loads.axes))
    rows = [(p.algorithm, {a.axis: a for a in loads.axes}) for p, loads in some]
    values = [[math.log10(here[a].most) if a in here and here[a].most > 0 else None for a in names] for _, here in rows]
    shown = [v for row in values for v in row if v is not None] or [0.0]
    return {
        "type": "heatmap",
        "z": values,
        "x": [text(a) for a in names],
        "y": [text(algorithm) for algorithm, _ in rows],
        "text": [[_mean(here.get(a)) for a in names] for _, here in rows],
        "texttemplate": "%{text}" if len(names) <= 12 else "",
        "hovertext": [[_words(algorithm, a, here.get(a)) for a in names] for algorithm, here in rows],
        "hoverinfo": "text",
        "colorscale": frame.AMOUNTS,
        "colorbar": frame.log_colours("bytes", min(shown), max(shown), binary),
        "xgap": 2,
    }


def _mean(load: AxisLoad | None) -> str:
    return binary(load.mean) if load is not None and load.most else ""


def _words(algorithm: str, axis: str, load: AxisLoad | None) -> str:
    if load is None or not load.most:
        return f"{text(algorithm)}, {text(axis)}: idle"
    return f"{text(algorithm)}, {text(axis)}: busiest {binary(load.most)}, mean {binary(load.mean)}"


def histogram(ordered: Sequence[Prediction], most: int, look: dict[str, dict[str, str]]) -> list[Drawing]:
    """Draw the share of all links that carry at least so many bytes, for at most `most` algorithms."""
    some = [(p, p.loads) for p in ordered if p.loads is not None and p.loads.histogram and p.loads.links][:most]
    if not some:
        return []
    rows: list[tuple[str, ...]] = []
    for p, loads in some:
        seen = 0
        for load, links in _falling(loads):
            seen += links
            rows.append((p.algorithm, binary(load), str(links), percent(seen / loads.links)))
    best, first = some[0]
    every = [load for _, loads in some for load, _ in loads.histogram]
    layout = {
        "xaxis": {"title": {"text": "links, %"}, "range": [0, 100]},
        "yaxis": frame.log_axis("load", every),
    }
    return [
        Drawing(
            "simulation-links",
            f"{best.algorithm} uses {percent(first.used / first.links)} of the {first.links:,} links",
            "All links of the network, the busiest on the left. A low, long line means an even load; a high, short "
            "line means a few overloaded links.",
            ("algorithm", "load", "links", "links with this load or more"),
            rows,
            [_steps(p.algorithm, loads, look[p.algorithm]) for p, loads in some],
            layout,
        )
    ]


def _falling(loads: Loads) -> list[tuple[float, int]]:
    return sorted(((load, links) for load, links in loads.histogram if load > 0), reverse=True)


def _steps(algorithm: str, loads: Loads, look: dict[str, str]) -> Trace:
    falling = _falling(loads)
    x, y, seen = [0.0], [falling[0][0] if falling else 0.0], 0
    for load, links in falling:
        x += [100 * seen / loads.links, 100 * (seen + links) / loads.links]
        y += [load, load]
        seen += links
    return {
        "type": "scatter",
        "mode": "lines",
        "name": text(algorithm),
        "x": x,
        "y": y,
        "line": {"color": look["color"], "dash": look["dash"], "width": 2},
        "hovertext": [
            f"{text(algorithm)}: {a:.0f} % of the links have a load of at least {binary(b)}"
            for a, b in zip(x, y, strict=True)
        ],
        "hoverinfo": "text",
    }
