"""Drawings of tuned loops: the speed-up of all loops, and of one loop by trip count."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.commands.loops.judging import Judged
from firstlight.commands.loops.tuner import TunedLoop
from firstlight.core.units import count, quantity, significant
from firstlight.report import frame
from firstlight.report.frame import Drawing, Trace, text
from firstlight.report.palette import COOL, MORE, WARM

_COLOURS = (COOL[0], WARM[0], COOL[2], WARM[2], *MORE)
_SYMBOLS = ("circle", "diamond", "square", "triangle-up")
_HEAD = ("turns", "compiler", "golden", "tuned", "times as fast", "99 % interval", "verdict", "what runs")
_TICKS = (0.2, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100, 200, 500, 1000)
_MOST_TICKS = 8


def overview(outcomes: Sequence[TunedLoop]) -> list[Drawing]:
    """Draw a line per loop and compiler if there are several, from the least speed-up at a trip count to the most."""
    some = [one for one in outcomes if one.judged]
    if len(some) < 2:  # one loop has a drawing of its own
        return []
    names = [f"{one.loop}, {one.family}" for one in some]
    data: list[Trace] = []
    for k, compiler in enumerate(dict.fromkeys(one.compiler for one in some)):
        mine = [one for one in some if one.compiler == compiler]
        x: list[float | None] = []
        y: list[str | None] = []
        hover: list[str] = []
        for one in mine:
            rows = sorted(one.judged, key=lambda row: row.ratio)
            x += [*(1 / row.ratio for row in rows), None]
            y += [*([f"{one.loop}, {one.family}"] * len(rows)), None]
            hover += [*(_hover(one, row) for row in rows), ""]
        look = {"color": _COLOURS[k % len(_COLOURS)], "symbol": _SYMBOLS[k % len(_SYMBOLS)], "size": 8}
        line = {"color": look["color"], "width": 1.5}
        data.append(
            {"type": "scatter", "mode": "lines+markers", "name": text(compiler), "x": x, "y": y, "marker": look,
             "line": line, "hoverinfo": "text", "hovertext": hover}
        )  # fmt: skip
    values = [1 / row.ratio for one in some for row in one.judged]
    order = {"type": "category", "categoryarray": names[::-1]}
    layout = frame.layout(_factors(values), order)
    frame.mark(layout, 1.0, "golden")
    faster = sum(bool(one.written) for one in some)
    title = f"{faster} of {count(len(outcomes), 'loop')} faster, by a factor of up to {significant(max(values))}"
    caption = "Each point is one trip count; the line extends from the smallest to the largest gain."
    table: list[tuple[str, ...]] = [
        (f"{one.loop}, {one.compiler}", significant(min(g)), significant(max(g)), str(len(g)))
        for one in some
        if (g := [1 / row.ratio for row in one.judged])
    ]
    head = ("loop and compiler", "minimum speedup", "maximum speedup", "trip counts")
    return [Drawing("tuned", title, caption, head, table, data, layout)]


def by_trip(outcomes: Sequence[TunedLoop]) -> Drawing | None:
    """Draw one loop, with a line per compiler; return None if no whole function was measured."""
    some = [one for one in outcomes if one.judged]
    if not some:
        return None
    data = []
    for k, one in enumerate(some):
        rows, colour = one.judged, _COLOURS[k % len(_COLOURS)]
        data.append(
            {
                "type": "scatter", "mode": "lines+markers", "name": text(one.compiler), "x": [row.trip for row in rows],
                "y": [1 / row.ratio for row in rows],
                "error_y": {
                    "width": 3, "color": colour,
                    "array": [1 / row.low - 1 / row.ratio if row.low else 0 for row in rows],
                    "arrayminus": [1 / row.ratio - 1 / row.high if row.high else 0 for row in rows],
                },
                "line": {"color": colour, "width": 2},
                "marker": {"color": colour, "symbol": _SYMBOLS[k % len(_SYMBOLS)], "size": 7},
                "hoverinfo": "text", "hovertext": [_hover(one, row) for row in rows],
            }
        )  # fmt: skip
    values = [1 / row.ratio for one in some for row in one.judged]
    layout = frame.layout(
        frame.log_axis("iterations of the loop"),
        _factors(values),
    )
    golden = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 1, "y1": 1}
    layout["shapes"].append(golden | {"line": {"color": "@ghost", "width": 1, "dash": "dot"}})
    table = [_cells(one, row) for one in some for row in one.judged]
    caption = "The 99 % interval comes from alternate launches. Below the dotted line, the golden loop is faster."
    title = f"{outcomes[0].loop} by trip count, with {count(len(some), 'compiler')}"
    return Drawing(f"tuned-{outcomes[0].loop}", title, caption, _HEAD, table, data, layout)


def _factors(values: Sequence[float]) -> dict[str, object]:
    """Return a logarithmic axis of factors around 1 with written-out numbers."""
    low, high = min(*values, 1.0) / 1.02, max(*values, 1.0) * 1.02
    fine = [t for t in _TICKS if low <= t <= high]
    ticks = (
        fine if len(fine) <= _MOST_TICKS else [t for t in fine if significant(t)[0] in "125" and t not in (1.1, 1.2)]
    )
    return frame.log_axis("speedup over golden") | {"tickvals": ticks, "ticktext": [f"{t:g}" for t in ticks]}


def _cells(one: TunedLoop, row: Judged) -> tuple[str, ...]:
    times = quantity(row.golden, "s"), quantity(row.mine, "s"), significant(1 / row.ratio)
    return str(row.trip), one.compiler, *times, _between(row), row.outcome, row.label


def _between(row: Judged) -> str:
    return f"{significant(1 / row.high)} – {significant(1 / row.low)}" if row.low and row.high else "–"


def _hover(one: TunedLoop, row: Judged) -> str:
    where = text(f"{one.loop}, {one.compiler}, {row.trip} turns")
    return f"{where}: <b>{significant(1 / row.ratio)} x</b> ({_between(row)})<br>{text(row.label)}"
