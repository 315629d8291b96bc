"""Explain one figure: its samples and their distribution, what limits it, its loop, how to repeat and narrow it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from firstlight.analysis import Judgement, provenance
from firstlight.analysis.explaining import (
    Considered,
    Counted,
    Launched,
    Shape,
    considered,
    counted,
    launches,
    limited,
    narrowing,
    shape,
)
from firstlight.analysis.formatting import name
from firstlight.analysis.verdict import Ceiling, Estimate, States, Verified
from firstlight.core import shell
from firstlight.core.units import binary, count, interval, percent, quantity, significant
from firstlight.execute.build.assembly import Loop
from firstlight.model.catalogue import Workload
from firstlight.report import html, wording
from firstlight.report.export.comparison import Which, which
from firstlight.report.frame import Drawing, Trace, layout, text
from firstlight.report.ink import Ink, wrap
from firstlight.report.palette import COOL, WARM
from firstlight.report.peers import Peer, peers
from firstlight.results.description import Better
from firstlight.results.store.durable import replace


class ExplainedLaunch(msgspec.Struct, frozen=True):
    """A launch: its start in seconds since the epoch, the value of each sample, and which samples were disturbed."""

    time: float
    samples: tuple[float, ...]
    disturbed: tuple[bool, ...]
    command: tuple[str, ...]


class Explained(msgspec.Struct, frozen=True):
    """Everything that is reported about one figure. Numbers are in `unit`. `limits`: every bound, the lowest first."""

    run: str
    identity: Which
    name: str
    unit: str
    better: Better
    estimate: Estimate
    shape: Shape
    states: States | None
    diverged: float
    launches: tuple[ExplainedLaunch, ...]
    ceiling: Ceiling | None
    of_ceiling: float | None
    limited: str
    limits: tuple[Considered, ...]
    counters: Counted | str
    loop: Loop | str
    repeat: str
    environment: dict[str, str]
    peers: tuple[Peer, ...]
    narrowing: tuple[str, ...]


def explain(judgement: Judgement, figure: Verified, workloads: Mapping[str, Workload], loop: Loop | str) -> Explained:
    """Return all that is reported about a figure. `loop`: that of the figure's program, or why it is not shown."""
    some = launches(judgement, figure)
    bounds = considered(judgement, figure, workloads)
    run, i = judgement.run, figure.identity
    library = run.toolbox.mpi(i.mpi)
    return Explained(
        run=run.id,
        identity=which(i),
        name=name(i),
        unit=figure.unit,
        better=figure.better,
        estimate=figure.estimate,
        shape=shape(figure),
        states=figure.states,
        diverged=figure.diverged,
        launches=tuple(map(_launch, some)),
        ceiling=figure.ceiling,
        of_ceiling=figure.of_ceiling,
        limited=str(provenance.settle(limited(figure, bounds))),
        limits=tuple(bounds),
        counters=counted(some, figure),
        loop=loop,
        repeat=wording.repeat(i, run),
        environment=dict(run.environment) | (library.environment if library is not None else {}),
        peers=tuple(peers(figure, workloads, judgement.run, some)),
        narrowing=tuple(narrowing(judgement, figure)),
    )


def _launch(one: Launched) -> ExplainedLaunch:
    return ExplainedLaunch(one.time, one.values, one.diverged, one.record.start.command)


class Passage(NamedTuple):
    """A heading with its lines. `commands`: they are commands to copy, and are not wrapped."""

    title: str
    lines: list[str]
    commands: bool = False


def distribution(e: Explained) -> str:
    """Return the shape of the launches in words."""
    if e.states is not None:
        s = e.states
        lower, upper = quantity(s.lower, e.unit), quantity(s.upper, e.unit)
        return f"bimodal: {lower} in {count(s.in_lower, 'launch', 'launches')}, {upper} in {s.in_upper}"
    return {
        "drifting": "drifting: launches close in time have similar values, so something outside the program slowed "
        "some launches",
        "too few launches": "too few launches to show a distribution",
    }.get(e.shape, "unimodal: the launches scatter around one value")


def parts(e: Explained, limit: str = "") -> list[Passage]:
    """Return the figure in words, in the order of a reader's questions. `limit`: what limits it, with its sources."""
    samples = [x for launch in e.launches for x in launch.samples]
    disturbed = sum(x for launch in e.launches for x in launch.disturbed)
    spread = [distribution(e)]
    if samples:
        many = f"{count(len(samples), 'sample')} in {count(len(e.launches), 'launch', 'launches')}"
        spread.append(
            f"{many}, from {quantity(min(samples), e.unit)} to {quantity(max(samples), e.unit)}; "
            f"other processes used the processors during {disturbed} of these samples (wall and CPU time diverged)"
        )
    others = [f"{p.program}: {p.command or p.why}" for p in e.peers]
    last = [shell.line(without_output(e.launches[-1].command))] if e.launches else []
    return [
        Passage("distribution", spread),
        Passage("what limits this figure", [limit or e.limited, *(bound(c, e.unit) for c in e.limits)]),
        Passage("hardware counters per step", [counters(e.counters)]),
        Passage("the loop", loop_lines(e.loop)),
        Passage(
            "the same quantity in another program",
            others or ["not available: no other program for this quantity is known"],
        ),
        Passage("how to narrow the interval", list(e.narrowing)),
        Passage("repeat it", [e.repeat, *last, *(f"{k}={v}" for k, v in sorted(e.environment.items()))], True),
    ]


def without_output(command: Sequence[str]) -> list[str]:
    """Return a launch's command without its output file, so that repeating it changes no run."""
    words = list(command)
    if "--output" in words:
        at = words.index("--output")
        del words[at : at + 2]
    return words


def bound(c: Considered, unit: str) -> str:
    """Return one line: `load_bandwidth allows 20.1 GB/s (binds): 16 bytes a step at ..., which 4 cores ...`."""
    if c.limit is None or c.value is None:
        return f"{c.resource}: not measured in this run"
    size = f" on {binary(c.limit.working_set)}" if c.limit.working_set is not None else ""
    cores = count(c.limit.cores, "core")
    binds = " (binds)" if c.binds else ""
    return (
        f"{c.resource} allows {quantity(c.value, unit)}{binds}: {significant(c.cost)} {c.quantity} per step at "
        f"{significant(c.limit.value)} per second, which {cores} reached{size} in {name(c.limit.source)}"
    )


def counters(counted: Counted | str) -> str:
    """Return `12.3 instructions, 4.0 cycles, 2.0 flops, 3.1 instructions a cycle`, or why there are no counters."""
    if isinstance(counted, str):
        return counted
    found = [f"{significant(v)} {k}" for k in Counted.__struct_fields__ if (v := getattr(counted, k)) is not None]
    if counted.instructions is not None and counted.cycles:
        found.append(f"{significant(counted.instructions / counted.cycles)} instructions per cycle")
    return ", ".join(found)


def loop_lines(loop: Loop | str) -> list[str]:
    """Return the function of the loop and the width of its vectors, then its instructions; or why it is not shown."""
    if isinstance(loop, str):
        return [loop]
    wide = f"vectors of {loop.width} bits" if loop.width > 64 else f"scalar numbers of {loop.width} bits"
    summary = f"{loop.function}: {count(loop.arithmetic, 'arithmetic instruction')} with {wide}"
    return [summary, *(f"  {line}" for line in loop.lines)]


def summary(e: Explained, width: int = 80, colour: bool = False, place: Path | None = None) -> str:
    """Return the terminal page, without a final newline."""
    ink = Ink(colour)
    lines = [ink("strong", e.name), f"  {headline(e)}"]
    for part in parts(e):
        lines += ["", ink("dim", f"  {part.title}")]
        for line in part.lines:
            if part.commands:
                lines.append(f"  {line}")
            elif line.startswith("  "):
                lines.append(f"  {line}"[:width])
            else:
                lines += wrap(line, width, "  ", "    ")
    return ink.page([*lines, *(["", f"  page: {place}"] if place else [])])


def headline(e: Explained) -> str:
    """Return `14.2 GB/s [14.0 - 14.3], 13 launches, 71 % of its ceiling, verified, run NAME`."""
    v = e.estimate
    share = "" if e.of_ceiling is None else f", {percent(e.of_ceiling)} of its ceiling"
    span = interval(v.low, v.high, v.median, e.unit, " - ")
    many = count(len(v.launches), "launch", "launches")
    return f"{quantity(v.median, e.unit)} [{span}], {many}{share}, verified, run {e.run}"


def drawings(e: Explained) -> list[Drawing]:
    """Return the drawings of every sample over time and of their distribution."""
    began = e.launches[0].time if e.launches else 0.0
    points = [
        (launch.time - began, x, busy)
        for launch in e.launches
        for x, busy in zip(launch.samples, launch.disturbed, strict=True)
    ]
    if not points:
        return []
    rows: list[tuple[str, ...]] = [(f"{t:.1f} s", quantity(x, e.unit), "disturbed" if d else "") for t, x, d in points]
    head = ("since the first launch", e.identity.metric, "")
    scaled = "log" if min(x for _, x, _ in points) > 0 else "linear"
    values = {"title": {"text": text(f"{e.identity.metric} ({e.unit})")}, "type": scaled}
    return [_over_time(e, began, points, values, head, rows), _distributed(points, values, head, rows)]


def _over_time(
    e: Explained,
    began: float,
    points: Sequence[tuple[float, float, bool]],
    values: Trace,
    head: tuple[str, ...],
    rows: list[tuple[str, ...]],
) -> Drawing:
    calm = _dots("samples", [(t, x) for t, x, busy in points if not busy], COOL[0], 5)
    disturbed = _dots("without their processors", [(t, x) for t, x, busy in points if busy], WARM[0], 6)
    medians = [(launch.time - began, m) for launch, m in zip(e.launches, e.estimate.launches, strict=False)]
    traces = [calm, *([disturbed] if disturbed["x"] else []), _dots("launches", medians, "@ink", 9)]
    traces[-1]["marker"] |= {"symbol": "line-ew-open"}
    return Drawing(
        "explain-time",
        f"Every sample over time: {distribution(e)}",
        "Each dot is a sample. Each dash is the median of a launch, which is the value of that launch. The solid line "
        "is the figure, and the dashed line is its ceiling.",
        head,
        rows,
        [*traces, *_lines(e, [0.0, points[-1][0] or 1.0])],
        layout({"title": {"text": "seconds since the first launch"}}, values),
    )


def _distributed(
    points: Sequence[tuple[float, float, bool]], values: Trace, head: tuple[str, ...], rows: list[tuple[str, ...]]
) -> Drawing:
    ordered = sorted(x for _, x, _ in points)
    trace = {
        "type": "scatter",
        "mode": "lines",
        "name": "samples",
        "x": ordered,
        "y": [(k + 1) / len(ordered) for k in range(len(ordered))],
        "line": {"shape": "hv", "color": COOL[0]},
    }
    return Drawing(
        "explain-spread",
        "Distribution of the samples",
        "The curve shows the share of samples at or below each value. Each steep part is a group of similar samples.",
        head,
        rows,
        [trace],
        layout(values, {"title": {"text": "share of samples at or below this value"}, "range": [0, 1]}),
    )


def _dots(label: str, points: Sequence[tuple[float, float]], colour: str, size: int) -> Trace:
    return {
        "type": "scatter", "mode": "markers", "name": label, "x": [p[0] for p in points], "y": [p[1] for p in points],
        "marker": {"color": colour, "size": size},
    }  # fmt: skip


def _lines(e: Explained, ends: list[float]) -> list[Trace]:
    levels = [("median", e.estimate.median, "solid")]
    levels += [("ceiling", e.ceiling.value, "dash")] if e.ceiling is not None else []
    return [
        {"type": "scatter", "mode": "lines", "name": label, "x": ends, "y": [at, at],
         "line": {"color": "@ghost", "dash": dash, "width": 1.5}}
        for label, at, dash in levels
    ]  # fmt: skip


def write(e: Explained, figure: Verified, firstlight: str, path: Path) -> None:
    """Write the page, whole or not at all. Raises OSError."""
    replace(path, render(e, figure, firstlight).encode())


def render(e: Explained, figure: Verified, firstlight: str) -> str:
    """Return the HTML page as text."""
    drawn = drawings(e)
    page = {
        "e": e,
        "headline": headline(e),
        "parts": parts(e, limited(figure, e.limits)),
        "drawings": drawn,
        "firstlight": firstlight,
    }
    return html.page_of(Path(__file__).with_suffix(".html.j2"), page, drawn, [figure])
