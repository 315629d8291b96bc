"""Frame: what all drawings share: traces with intervals, axes with units, cache marks, references, the table behind.

A drawing is plain data, which `report/svg` draws. The colours "@ink", "@muted", "@ghost" and "@paper" are those of the
page, which may be light or dark.
"""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from firstlight.analysis import Judgement, formatting
from firstlight.analysis.ceilings import of_node, total
from firstlight.analysis.levels import Hierarchy
from firstlight.analysis.provenance import settle
from firstlight.analysis.states import describe_states
from firstlight.analysis.verdict import Figure, Identity, Verified
from firstlight.core import confidence
from firstlight.core.heritage import Heritage
from firstlight.core.units import binary, count, interval, parts, percent, quantity
from firstlight.model.catalogue import Plot, Workload
from firstlight.model.plan.selectors import selects
from firstlight.report.palette import COOL, WARM, Palette
from firstlight.report.svg import keys, scale
from firstlight.results.description import Metric

Trace = dict[str, Any]
Limited = tuple[float, float, float, float]  # x, value, low, high of a ceiling
MOST_LINES = 8
DIVERGING: list[list[object]] = [[0, COOL[0]], [0.5, "@paper"], [1, WARM[0]]]
"""Colours of a heat map around zero: blue below, vermilion above, which colour-blind readers can distinguish."""
HEAT: list[list[object]] = [[0, "@paper"], [1, WARM[0]]]
"""Colours of a heat map of values that are never negative."""
AMOUNTS: list[list[object]] = [[0, "#FEE838"], [0.33, "#C9B96A"], [0.67, "#8A8F96"], [1, "#4D6FA8"]]
"""Colours of logarithms, where an empty cell differs from the lowest value: from yellow to a blue that is out from
light and from dark paper, with falling luminance."""
_MOST_SHOWN = 12


class Drawing(msgspec.Struct):
    """One plot: `title` is its message; `head` and `rows` are the table behind it, or all of it where `data` is empty.

    `notes`: what the drawing does not show, and why. `folded`: it is among "more charts".
    Raises ValueError for an unknown key in `data` or `layout`.
    """

    id: str
    title: str
    caption: str
    head: tuple[str, ...]
    rows: list[tuple[str, ...]]
    data: list[Trace] = []
    layout: dict[str, Any] = {}
    notes: tuple[str, ...] = ()
    folded: bool = False

    def __post_init__(self) -> None:
        self.title, self.caption = settle(self.title), settle(self.caption)
        keys.check(self.data, self.layout)


class View(msgspec.Struct, frozen=True):
    """What drawings are made from."""

    judgement: Judgement
    workloads: Mapping[str, Workload]
    heritage: Heritage
    palette: Palette

    def selected(self, workload: Workload, plot: Plot) -> list[Figure]:
        """Return the figures that a `[[plots]]` entry selects."""
        return [
            f
            for f in self.judgement.figures
            if f.identity.metric == plot.metric and selects(f.identity, plot, workload, self.judgement.run.machine)
        ]

    @property
    def levels(self) -> Hierarchy:
        """Return the caches with their effective capacities in this run."""
        return self.judgement.hierarchy

    def place(self, figure: Verified) -> str:
        """Return the level of memory that contains the data of a figure: its ceiling applies to the figure."""
        return self.levels.place(total(figure), of_node(figure.identity))

    def metric(self, identity: Identity) -> Metric | None:
        """Return the metric of a figure as its program describes it; None if the run has no description."""
        return self.judgement.run.metric(f"{identity.workload}.{identity.variant}", identity.metric)

    def step_seconds(self, figure: Verified) -> float | None:
        """Return the seconds per step of the figure's case, recovered from its metric; None for observed values."""
        metric = self.metric(figure.identity)
        if metric is None or figure.observed or figure.estimate.median <= 0:
            return None
        work = figure.cost.get(metric.quantity, 0.0)
        if metric.form == "time":
            return figure.estimate.median * work / metric.scale or None
        return metric.scale * work / figure.estimate.median or None

    def parameter(self, workload: str, name: str) -> tuple[str, str]:
        """Return (`help`, `unit`) of a parameter, as the programs describe it."""
        for key, description in self.judgement.run.descriptions.items():
            if key.partition(".")[0] == workload:
                for p in description.parameters:
                    if p.name == name:
                        return p.help or name, p.unit
        return name, "B" if name == "bytes" else ""


def text(foreign: str) -> str:
    """Return text for a drawing, whose names and labels may contain `<b>`, `<i>`, `<sub>` and `<br>`."""
    return html.escape(foreign, quote=False)


def hover(figure: Verified) -> str:
    """Return the hover text of a figure: its value, its name and its launches."""
    e = figure.estimate
    shown = [quantity(x, figure.unit) for x in e.launches[:_MOST_SHOWN]]
    more = f" and {len(e.launches) - _MOST_SHOWN} more" if len(e.launches) > _MOST_SHOWN else ""
    lines = [
        f"<b>{quantity(e.median, figure.unit)}</b>  ({interval(e.low, e.high, e.median, figure.unit)})",
        *([f"bimodal: {describe_states(figure.states, figure.unit)}"] if figure.states else []),
        text(formatting.name(figure.identity)),
        share(figure),
        *_folded(count(len(e.launches), "launch", "launches") + ": " + ", ".join(shown) + more),
    ]
    return "<br>".join(line for line in lines if line)


def title_of_values(what: str, like: Verified, unit: str | None = None) -> str:
    """Return the title of an axis of values as those of `like`: `bandwidth (GB/s), higher is better`.

    `unit`: that of the axis, if it is another than the figure's.
    """
    shown = like.unit if unit is None else unit
    return f"{what}{'' if shown in ('', '1') else f' ({shown})'}, {like.better} is better"


def share(figure: Verified) -> str:
    """Return `71 % of load_bandwidth`; "" if nothing limits the figure."""
    part, limit = figure.of_ceiling, figure.ceiling
    if part is None or limit is None:
        return ""
    what = f"the best launch of its kind, above {limit.resource}" if limit.own else limit.resource
    return f"{percent(part)} of {what}"


def _folded(line: str) -> list[str]:
    return textwrap.wrap(line, 64)


def line(figures: Sequence[tuple[float, Verified]], name: str, look: Trace) -> Trace:
    """Return a line through medians with their intervals. `look`: color, dash, symbol."""
    e = [f.estimate for _, f in figures]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": text(name),
        "x": [x for x, _ in figures],
        "y": [v.median for v in e],
        "error_y": {
            "array": [0 if v.high is None else v.high - v.median for v in e],
            "arrayminus": [0 if v.low is None else v.median - v.low for v in e],
            "width": 3,
            "color": look["color"],
        },
        "hovertext": [hover(f) for _, f in figures],
        "hoverinfo": "text",
        "line": {"color": look["color"], "dash": look.get("dash", "solid"), "width": 2},
        "marker": {"color": look["color"], "symbol": look.get("symbol", "circle"), "size": 7},
    }


def log_axis(title: str, sizes: Iterable[float] = ()) -> dict[str, Any]:
    """Return a logarithmic axis. `sizes`: in bytes; their powers of two are labelled."""
    axis: dict[str, Any] = {"title": {"text": text(title)}, "type": "log"}
    some = [v for v in sizes if v > 0]
    if some:
        low, high = math.floor(math.log2(min(some))), math.ceil(math.log2(max(some)))
        step = max(1, -(-(high - low) // 7))
        ticks = [2.0**k for k in range(low - low % step, high + step, step)]
        axis |= {"tickvals": ticks, "ticktext": [binary(t) if t >= 1 else "0 B" for t in ticks]}
    return axis


def seconds_axis(title: str, values: Iterable[float]) -> dict[str, Any]:
    """Return a logarithmic axis of times in seconds with readable labels: 10 us, 1 ms."""
    some = [v for v in values if v > 0] or [1.0]
    low, high = math.floor(math.log10(min(some))), math.ceil(math.log10(max(some)))
    steps = (1, 2, 5) if high - low <= 2 else (1,)
    ticks = [step * 10.0**k for k in range(low, high + 1) for step in steps]
    words = [quantity(float(f"{t:.0e}"), "s").replace(".00 ", " ").replace(".0 ", " ") for t in ticks]
    return log_axis(title) | {"tickvals": ticks, "ticktext": words}


def time_axis(title: str, longest: float) -> dict[str, Any]:
    """Return a linear axis of times in seconds from zero, with readable labels: 200 us, 1.5 ms."""
    found = [v for v, _ in scale.ticks(0, longest, log=False)]
    return {
        "title": {"text": text(title)}, "rangemode": "tozero", "tickvals": found,
        "ticktext": [f"{float(number):g} {unit}" if v else "0" for v in found
                     for number, unit in [parts(v, "s")]],
    }  # fmt: skip


def bytes_axis(title: str, largest: float) -> dict[str, Any]:
    """Return a linear axis of bytes from zero, with readable labels: 512 KiB, 1.5 MiB."""
    unit = 1024.0 ** max(0, math.floor(math.log(max(largest, 1.0), 1024)))
    found = [v * unit for v, _ in scale.ticks(0, largest / unit, log=False)]
    return {
        "title": {"text": text(title)},
        "rangemode": "tozero",
        "tickvals": found,
        "ticktext": [binary(v) if v else "0" for v in found],
    }


def log_colours(title: str, low: float, high: float, form: Callable[[float], str]) -> dict[str, Any]:
    """Return the colour bar of a heat map whose colours are decimal logarithms from `low` to `high`."""
    ticks = [low + k * (high - low) / 4 for k in range(5)] if high > low else [low]
    words = [form(round(10**t)) for t in ticks]
    return {"title": {"text": title}, "tickvals": ticks, "ticktext": words}


def layout(x: dict[str, Any], y: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"xaxis": x, "yaxis": y, "shapes": [], "annotations": []} | more


def mark(drawn: dict[str, Any], x: float, label: str, side: str = "center") -> None:
    """Draw a vertical line with its label above the frame: a cache level, a protocol switch.

    `side`: which part of the label is at the line.
    """
    drawn["shapes"].append(
        {"type": "line", "x0": x, "x1": x, "yref": "paper", "y0": 0, "y1": 1,
         "line": {"color": "@ghost", "width": 1, "dash": "dot"}}
    )  # fmt: skip
    drawn["annotations"].append(
        {"x": math.log10(x), "y": 1, "yref": "paper", "yanchor": "bottom",
         "xanchor": side, "text": text(label), "font": {"color": "@muted"}}
    )  # fmt: skip


def marks(drawn: dict[str, Any], some: Sequence[tuple[float, str]], low: float, high: float) -> None:
    """Draw the marks (x, label) inside of a drawing from low to high."""
    for x, label in some:
        if low < x < high:
            mark(drawn, x, label)


def ceiling_trace(points: Sequence[Limited], name: str, dash: str = "dash") -> list[Trace]:
    """Return the traces of a ceiling with its interval as a band."""
    xs = [p[0] for p in points]
    shared = {"type": "scatter", "mode": "lines", "x": xs, "hoverinfo": "skip", "legendgroup": "ceiling"}
    thin = {"width": 0, "color": "@muted"}
    return [
        shared | {"y": [p[2] for p in points], "line": thin, "showlegend": False},
        shared | {"y": [p[3] for p in points], "line": thin, "showlegend": False, "fill": "tonexty",
                  "fillcolor": "rgba(127,127,127,0.18)"},
        shared | {"y": [p[1] for p in points], "name": text(name),
                  "line": {"color": "@ghost", "width": 1.5, "dash": dash},
                  "hoverinfo": "text", "hovertext": [text(name) + f": {p[1]:.4g}" for p in points]},
    ]  # fmt: skip


HEAD = ("program", "parameters", "median", confidence.INTERVAL, "of ceiling", "launches", "verdict")


def table(figures: Iterable[Figure]) -> list[tuple[str, ...]]:
    """Return the rows of the table behind a plot: every figure, also those that failed."""
    rows: list[tuple[str, ...]] = []
    for f in figures:
        i = f.identity
        program = ", ".join(p for p in (f"{i.workload}.{i.variant}", i.toolchain, i.mpi) if p)
        case = ", ".join(p for p in (formatting.values(i.parameters), formatting.where(i.placement)) if p)
        if isinstance(f, Verified):
            e = f.estimate
            limit = "–" if f.of_ceiling is None else percent(f.of_ceiling)
            verdict = "verified" + (", oversubscribed" if f.oversubscribed else "")
            verdict += f"; bimodal: {describe_states(f.states, f.unit)}" if f.states else ""
            numbers = (quantity(e.median, f.unit), interval(e.low, e.high, e.median, f.unit), limit)
            rows.append((program, case, *numbers, str(len(e.launches)), verdict))
        else:
            rows.append((program, case, "–", "–", "–", "–", f"{type(f).__name__.lower()}: {f.reason}"))
    return rows
