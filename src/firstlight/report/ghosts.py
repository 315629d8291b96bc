"""Ghosts: historical reference figures of earlier machines, drawn grey with their year in plots of the same metric."""

from __future__ import annotations

from typing import NamedTuple

from firstlight.analysis.verdict import Verified
from firstlight.core.heritage import Entry
from firstlight.core.units import convert, quantity
from firstlight.model.catalogue import Plot
from firstlight.report.frame import Trace, View, text

NEAR = 1.5  # labels of figures within this factor would overlap


class Ghost(NamedTuple):
    """One published figure in the unit of the plot; if `x` is None, none was published and it is drawn as a level."""

    entry: Entry
    y: float
    x: float | None


def ghosts(
    view: View, workload: str, plot: Plot, like: Verified, left: float, right: float, by_ranks: bool = False
) -> list[Trace]:
    """Return traces for a plot of figures `like` this one, from `left` to `right`; none if nothing was published.

    `by_ranks`: use figures published for several ranks; x is the number of ranks.
    """
    found: list[Ghost] = []
    for entry in view.heritage.matching(workload, plot.metric):
        y = convert(entry.value, entry.unit, like.unit)
        clash = any(k in plot.where and v != plot.where[k] for k, v in entry.parameters.items())
        x = entry.ranks if by_ranks else entry.parameters.get(plot.x)
        if y is not None and not clash and (entry.ranks > 1 or not by_ranks):
            found.append(Ghost(entry, y, float(x) if isinstance(x, int | float) else None))
    found.sort(key=lambda g: (g.x is None, g.x or 0.0, g.y))
    under = like.better == "higher"  # the lines of this run lie above those of earlier machines
    labels = _labels(found)
    traces = [
        _trace(g, label, left, right, (_below(found, k) and bool(labels[k + 1])) or (under and g.x is not None))
        for k, (g, label) in enumerate(zip(found, labels, strict=True))
    ]
    for trace in traces[1:]:
        trace["showlegend"] = False
    return traces


def _labels(found: list[Ghost]) -> list[str]:
    """Return the label of each figure; close levels whose labels differ in one number share the label of the last."""
    labels: list[str] = []
    cluster: list[Ghost] = []
    for g in found:
        near = cluster and g.x is None and cluster[-1].x is None and g.y < NEAR * cluster[-1].y
        joint = _joint([_label(c.entry) for c in (*cluster, g)]) if near else ""
        cluster = [*cluster, g] if joint else [g]
        if joint:
            labels[-1] = ""
        labels.append(joint or _label(g.entry))
    return labels


def _label(entry: Entry) -> str:
    return ", ".join(p for p in (entry.machine, entry.mpi or entry.variant) if p) + f" ({entry.year})"


def _joint(labels: list[str]) -> str:
    """Return `Pentium III 400–800 MHz (2003)` for labels that differ in one number at most, else ""."""
    rows = [label.split(" ") for label in labels]
    if len({len(r) for r in rows}) > 1:
        return ""
    columns = [list(dict.fromkeys(c)) for c in zip(*rows, strict=True)]
    return " ".join("–".join((c[0], c[-1]) if len(c) > 1 else c) for c in columns) if _one_apart(columns) else ""


def _one_apart(columns: list[list[str]]) -> bool:
    apart = [c for c in columns if len(c) > 1]
    return not apart or (len(apart) == 1 and all(word.replace(".", "", 1).isdigit() for word in apart[0]))


def _below(found: list[Ghost], k: int) -> bool:
    """Return whether the label must be below, because the next figure of the same x is just above."""
    return k + 1 < len(found) and found[k + 1].x == found[k].x and found[k + 1].y < NEAR * found[k].y


def _trace(ghost: Ghost, shown: str, left: float, right: float, below: bool) -> Trace:
    entry, x, y = ghost.entry, ghost.x, ghost.y
    hover = f"<b>{text(_label(entry))}</b><br>{quantity(entry.value, entry.unit)}"
    hover += "".join(f"<br>{text(t)}" for t in (entry.place, entry.note, entry.source.citation) if t)
    vertical, side = "bottom" if below else "top", "left"
    if x is not None and x <= left:
        side = "right"
    return {
        "type": "scatter",
        "name": "published figures of earlier machines",
        "legendgroup": "ghosts",
        "legendrank": 2000,
        "hoverinfo": "text",
        "hovertext": [hover, hover] if x is None else [hover],
        "x": [left, right] if x is None else [max(x, left)],
        "y": [y, y] if x is None else [y],
        "marker": {"color": "@ghost", "size": 9, "symbol": "x-thin-open", "line": {"width": 2, "color": "@ghost"}},
        "line": {"color": "@ghost", "width": 1, "dash": "dot"},
        "text": ["", text(shown)] if x is None else [text(shown)],
        "textposition": f"{vertical} {side}",
        "textfont": {"color": "@ghost"},
        "mode": "lines+text" if x is None else "markers+text",
    }
