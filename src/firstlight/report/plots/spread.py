"""Spread: every launch of every program relative to its figure's median, and the same over the time of the run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from firstlight.analysis import provenance
from firstlight.analysis.steadiness import restless, slow
from firstlight.core.units import count, duration, percent
from firstlight.report import answers, frame
from firstlight.report.frame import Drawing, Trace, View

MOST_ROWS = 12
MOST_DOTS = 100  # a row; more are thinned out evenly over their order


def distributions(view: View) -> Drawing | None:
    """Draw one row per program: all launches of its verified figures, in percent of the figure's median."""
    by_program: dict[str, list[float]] = defaultdict(list)
    for f in answers.verified(view.judgement.figures):
        if f.estimate.median == 0:  # an observed value: nothing can be in percent of it
            continue
        i = f.identity
        name = " · ".join(p for p in (f"{i.workload}.{i.variant}", i.toolchain, i.mpi) if p)
        by_program[name] += [100 * (x / f.estimate.median - 1) for x in f.estimate.launches]
    if not by_program:
        return None
    ordered = sorted(by_program, key=lambda n: _width(by_program[n]), reverse=True)
    shown = ordered[:MOST_ROWS][::-1]
    data = [_strip(view, name, by_program[name]) for name in shown]
    drawn = frame.layout(
        {"title": {"text": "launch relative to its figure's median (%)"}, "zeroline": True},
        {"type": "category"},
        showlegend=False,
    )
    everything = [abs(x) for v in by_program.values() for x in v]
    near = provenance.number(percent(median(everything) / 100), "median(scatter())")
    title = f"Half of all launches are within {near} of their figure's median; {ordered[0]} scatters most"
    kept = f"; the drawing shows the {MOST_ROWS} widest programs, the table all" if len(ordered) > MOST_ROWS else ""
    rows = [_summary(name, by_program[name]) for name in ordered]
    caption = (
        f"Each dot is the value of one launch in one case (at most {MOST_DOTS} per row); the box spans the middle "
        f"half. The program with the widest middle 80 % is at the top{kept}."
    )
    return Drawing(
        "plot-distributions", title, caption, ("program", "values", "least", "middle half", "most"), rows, data, drawn
    )


def _width(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return ordered[(9 * len(ordered)) // 10] - ordered[len(ordered) // 10]


def _strip(view: View, name: str, values: Sequence[float]) -> Trace:
    toolchain = name.split(" · ")[1]
    return {
        "type": "box", "orientation": "h", "name": frame.text(name), "x": [round(v, 3) for v in thinned(values)],
        "fillcolor": "rgba(127,127,127,0.12)",
        "marker": {"size": 4, "opacity": 0.6, "color": view.palette.colour(toolchain)}, "hoverinfo": "x+name",
    }  # fmt: skip


def thinned(values: Sequence[float]) -> list[float]:
    """Return at most MOST_DOTS of the values, evenly over their order, including the least and the most."""
    ordered = sorted(values)
    if len(ordered) <= MOST_DOTS:
        return ordered
    step = (len(ordered) - 1) / (MOST_DOTS - 1)
    return [ordered[round(k * step)] for k in range(MOST_DOTS)]


def _summary(name: str, values: Sequence[float]) -> tuple[str, ...]:
    ordered = sorted(values)
    n = len(ordered)
    low, high = ordered[n // 4], ordered[(3 * n) // 4]
    return (name, str(n), f"{ordered[0]:+.1f} %", f"{low:+.1f} to {high:+.1f} %", f"{ordered[-1]:+.1f} %")


def drift(view: View) -> Drawing | None:
    """Draw one point per launch: its time relative to other launches of its program, against the time of the run."""
    points = launch_levels(view)
    if len(points) < 2:
        return None
    begin = view.judgement.run.started
    points.sort()
    xs, ys = [t - begin for t, _, _ in points], [100 * (y - 1) for _, y, _ in points]
    half = max(4, len(points) // 40)
    smooth = [median(ys[max(0, k - half) : k + half + 1]) for k in range(len(ys))]
    data: list[Trace] = []
    for k, name in enumerate(dict.fromkeys(n for _, _, n in points)):
        mine = [(x, y) for x, y, (_, _, n) in zip(xs, ys, points, strict=True) if n == name]
        data.append(
            {"type": "scatter", "mode": "markers", "name": frame.text(name), "x": [round(x, 2) for x, _ in mine],
             "y": [round(y, 3) for _, y in mine], "showlegend": False,
             "hovertemplate": frame.text(name) + ": %{y:+.2f} % after %{x:.0f} s<extra></extra>",
             "marker": {"size": 6, "opacity": 0.7, "symbol": view.palette.symbol(k),
                        "color": "@ghost"}}
        )  # fmt: skip
    data.append(
        {"type": "scatter", "mode": "lines", "name": f"running median of {2 * half + 1}", "hoverinfo": "skip",
         "x": [round(x, 2) for x in xs], "y": [round(y, 3) for y in smooth], "line": {"color": "@ink", "width": 2}}
    )  # fmt: skip
    drawn = frame.layout(
        {"title": {"text": "time since the start of the run (s)"}, "zeroline": False},
        {"title": {"text": "slower than usual (%)"}},
    )
    swing = (max(smooth) - min(smooth)) / 100
    span = provenance.number(duration(max(xs) - min(xs)), "lasted()", "s")
    moved = f"moved by {provenance.number(percent(swing), 'drift()')} over {span}"
    title = f"The machine {'drifted' if swing > 0.03 else 'was steady'}: its performance level {moved}"
    if worst := restless(view.judgement.steadiness):
        title = f"{slow(worst)}; the level of all launches {moved}"
    rows: list[tuple[str, ...]] = [
        (n, f"{x:.1f} s", f"{y:+.2f} %") for x, y, (_, _, n) in zip(xs, ys, points, strict=True)
    ]
    caption = (
        f"Each point is one of {count(len(points), 'launch', 'launches')}, relative to the median launch of the same "
        f"program. Points above zero are slower. Compared launches are interleaved, so that drift favours none."
    )
    return Drawing(
        "plot-drift", title, caption, ("workload", "since the start", "slower than usual"), rows, data, drawn
    )


def launch_levels(view: View) -> list[tuple[float, float, str]]:
    """Return (`time`, `relative wall time`, `workload`) of each complete launch of a program with several launches."""
    walls: dict[tuple[str, int], list[float]] = defaultdict(list)
    medians: list[tuple[float, str, str, dict[int, float]]] = []
    for record in view.judgement.records:
        if not record.complete or record.launch is None:
            continue
        steps = {c.case: c.steps for c in record.cases}
        samples: dict[int, list[float]] = defaultdict(list)
        for s in record.samples:
            if s.case in steps and steps[s.case] > 0 and s.wall > 0:
                samples[s.case].append(s.wall / steps[s.case])
        found = {case: median(v) for case, v in samples.items()}
        for case, wall in found.items():
            walls[record.start.cell, case].append(wall)
        medians.append((record.start.time, record.start.cell, record.launch.workload, found))
    usual = {key: median(v) for key, v in walls.items() if len(v) > 1}
    levels = []
    for time, cell, workload, found in medians:
        relative = [wall / usual[cell, case] for case, wall in found.items() if (cell, case) in usual]
        if relative:
            levels.append((time, median(relative), workload))
    return levels
