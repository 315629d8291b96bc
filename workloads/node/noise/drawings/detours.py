"""Draw detours, the interruptions of a processor: how often, how long, and when in one window."""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

from firstlight.analysis import formatting, provenance
from firstlight.analysis.verdict import Verified
from firstlight.core.units import quantity, significant
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import answers, frame, observed
from firstlight.report.frame import Drawing, Trace, View
from firstlight.report.observed import Window

MOST_POINTS = 400  # of a line
MOST_COLOURS = 8
KEPT = 512  # detours of a rank and window that a program keeps: its longest
_MOST_THREADS = 65536


class Detour(NamedTuple):
    """One interruption of a processor; `at` and `length` are in microseconds, `processor` is its rank and thread."""

    at: float
    length: float
    processor: tuple[int, int]


def draw(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    every = view.selected(workload, plot)
    seen = [(f, some) for f in answers.verified(every) if (some := observed.windows(view, f))]
    if not seen:
        return []
    seen.sort(key=lambda s: -s[0].identity.placement.ranks * s[0].identity.placement.threads)
    title = _title(view, *seen[0])
    drawn = frame.layout(
        frame.log_axis("length of a detour (us)"), frame.log_axis("longer detours per second and core (1/s)")
    )
    data = [_distribution(view, f, some, k) for k, (f, some) in enumerate(seen[: frame.MOST_LINES])]
    caption = (
        "Each point shows how many detours per second are longer than its length, over all launches. Lower is better. "
        "Each rank stores only the longest detours of a window, so a line may end before the shortest detour."
    )
    made = [Drawing(name, title, caption, frame.HEAD, frame.table(every), data, drawn)]
    return made + _over_time(view, f"{name}-time", *seen[0])


def detours(window: Window) -> list[Detour]:
    """Return the detours of all ranks in the order of time, without values that cannot be detours (foreign data)."""
    found = []
    for rank, series in window.ranks.items():
        columns = [series.get(f"detour_{x}", ()) for x in ("at", "length", "thread")]
        found += [
            Detour(at, length, (rank, int(thread)))
            for at, length, thread in zip(*columns, strict=False)
            if 0 <= at < observed.MOST and observed.LEAST < length < observed.MOST and 0 <= thread < _MOST_THREADS
        ]
    return sorted(found)


def _title(view: View, figure: Verified, some: list[Window]) -> str:
    place = figure.identity.placement
    processors = place.ranks * place.threads
    whose = "one processor" if processors == 1 else f"the worst of {processors} processors"
    known = "" if figure.estimate.low is None else f" ({provenance.span(figure, ' – ')})"
    stolen = f"OS noise uses {provenance.median(figure)}{known} of {whose}"
    lengths = sorted(d.length for w in some for d in detours(w))
    if not lengths:
        return f"{stolen}: no detour was detected"
    rate = observed.other(view, figure, "detours")
    often = ""
    if rate is not None:
        many = provenance.number(significant(rate.estimate.median), "a", rate.unit, (rate,))
        often = f"{many} detours per second in the median launch, "
    half = provenance.number(quantity(median(lengths), "us"), "median(series(a, 'detour_length'))", "us", (figure,))
    longest = provenance.number(quantity(lengths[-1], "us"), "max(series(a, 'detour_length'))", "us", (figure,))
    return f"{stolen}: {often}median length {half}, the longest {longest}"


def _distribution(view: View, figure: Verified, some: list[Window], k: int) -> Trace:
    """Return the number of longer detours per second and processor, against length."""
    place = figure.identity.placement
    watched = sum(w.seconds for w in some) * place.ranks * place.threads
    lengths = sorted((d.length for w in some for d in detours(w)), reverse=True)
    points = [(x, (n + 1) / watched) for n, x in enumerate(lengths)]
    step = max(1, len(points) // MOST_POINTS)
    points = points[: MOST_POINTS // 4] + points[MOST_POINTS // 4 :: step]
    i = figure.identity
    label = ", ".join(x for x in (i.variant, formatting.where(place) or "1 processor") if x)
    colour = view.palette.colour(f"{i.variant} {formatting.where(place)}")
    return {
        "type": "scatter", "mode": "lines+markers", "name": frame.text(label),
        "x": [x for x, _ in points], "y": [float(f"{y:.4g}") for _, y in points],
        "hovertemplate": "%{y:.3g} per second are longer than %{x:.3g} us",
        "line": {"color": colour, "width": 2, "shape": "hv"},
        "marker": {"color": colour, "size": 5, "symbol": view.palette.symbol(k)},
    }  # fmt: skip


def _over_time(view: View, name: str, figure: Verified, some: list[Window]) -> list[Drawing]:
    """Draw the last window, detour by detour; return nothing if it has no detours."""
    window = some[-1]
    found = detours(window)
    if not found:
        return []
    by: dict[tuple[int, int], list[Detour]] = {}
    for d in found:
        by.setdefault(d.processor, []).append(d)
    shown = sorted(by)[:MOST_COLOURS]
    data: list[Trace] = [
        {"type": "scatter", "mode": "markers", "name": frame.text(_processor(figure, p)),
         "x": [round(d.at / 1000, 4) for d in by[p]], "y": [d.length for d in by[p]],
         "hovertemplate": "interrupted for %{y:.3g} us after %{x:.4g} ms",
         "marker": {"color": view.palette.colour(f"processor {k}"), "size": 7, "symbol": view.palette.symbol(k)}}
        for k, p in enumerate(shown)
    ]  # fmt: skip
    drawn = frame.layout(
        {"title": {"text": "time since the window began (ms)"}, "rangemode": "tozero"},
        frame.log_axis("length of a detour (us)"),
    )
    longest = max(found, key=lambda d: d.length)
    away = _last(quantity(sum(d.length for d in found), "us"), "sum({})", "us", figure)
    cut = any(len(series.get("detour_at", ())) >= KEPT for series in window.ranks.values())
    number = _last(str(len(found)), "len({})", "", figure)
    many = f"the longest {number} detours" if cut else f"{number} detour{'s' * (len(found) > 1)}"
    length = provenance.number(quantity(window.seconds, "s"), "window(a)", "s", (figure,))
    most = _last(quantity(longest.length, "us"), "max({})", "us", figure)
    after = provenance.number(quantity(longest.at, "us"), "at_longest(a)", "us", (figure,))
    title = f"One window of {length}: {many}, {away} in total; the longest, {most}, after {after}"
    more = f" {len(by) - len(shown)} more processors are in the table." if len(by) > len(shown) else ""
    caption = f"Each point is one detour of the last launch. Equal distances indicate a regular interruption.{more}"
    rows = [_row(figure, p, by[p], window) for p in sorted(by)]
    head = ("processor", "detours", "away", "share", "longest")
    return [Drawing(name, title, caption, head, rows, data, drawn, folded=True)]


def _last(text: str, formula: str, unit: str, figure: Verified) -> str:
    """Return a number with its source: a formula of the lengths of the last window's detours."""
    return provenance.number(text, formula.format("last(a, 'detour_length')"), unit, (figure,))


def _processor(figure: Verified, processor: tuple[int, int]) -> str:
    rank, thread = processor
    return f"rank {rank}, thread {thread}" if figure.identity.placement.ranks > 1 else f"thread {thread}"


def _row(figure: Verified, processor: tuple[int, int], some: list[Detour], window: Window) -> tuple[str, ...]:
    away = sum(d.length for d in some)
    share = f"{significant(1e-4 * away / window.seconds)} %"
    longest = quantity(max(d.length for d in some), "us")
    return _processor(figure, processor), str(len(some)), quantity(away, "us"), share, longest
