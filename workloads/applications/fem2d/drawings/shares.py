"""Draw the share of communication: least, median and most over the ranks. The table follows R1's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from firstlight.analysis import provenance
from firstlight.analysis.verdict import Verified
from firstlight.core.heritage import Entry
from firstlight.core.units import percent, quantity, significant
from firstlight.report import frame, observed, wording
from firstlight.report.frame import Drawing, Trace, View, text

from . import methods

SHARE = "communication_share"
HEAD = (
    "program", "placement", "level", "unknowns", "iterations", "assembly", "time to tolerance",
    "communication, least", "median over ranks", "most",
)  # fmt: skip
MOST_LINES = 8
Three = tuple[float, float, float]
Key = tuple[str, str, str]  # MPI library, placement, variant


class Point(NamedTuple):
    """One case on several ranks or threads; `share`: least, median and most communication over the ranks, 0 to 1."""

    key: Key
    level: int
    figure: Verified
    share: Three


def drawings(view: View, name: str, figures: Sequence[Verified]) -> list[Drawing]:
    """Draw the share of each placement against the size; return nothing if nothing ran on several ranks or threads."""
    several = [f for f in figures if methods.cores(f) > 1]
    if not several:
        return []
    points = [p for f in several if (p := _point(view, f)) is not None]
    best = _best(points)
    data = [_line(view, key, line, k) for k, (key, line) in enumerate(list(best.items())[:MOST_LINES])]
    ghosts = _ghosts(view) if data else []
    levels = [p.level for line in best.values() for p in line] + [e.parameters["level"] for e in ghosts]
    drawn = {}
    if data:
        data += _traces(ghosts)
        title = {"title": {"text": "communication (% of the time), lower is better"}, "rangemode": "tozero"}
        drawn = frame.layout(methods.axis(int(v) for v in levels), title)
    rows = [_row(view, f) for f in sorted(several, key=_order)]
    rows += _published(view)
    caption = (
        "The share as R1 defines it. Each point is the median over ranks; the bar spans the ranks with the smallest "
        "and the largest share (medians over samples and launches). Communication is the time in exchanges and sums, "
        "including waiting. The drawing shows the fastest BPX variant of each placement and MPI library; the table "
        "shows all variants and the published shares."
        + (f" {len(best) - MOST_LINES} more lines are only in the table." if len(best) > MOST_LINES else "")
        + (" Open symbols: more ranks and threads than processors." if _crowded(points) else "")
    )
    return [Drawing(name, _title(view, best), caption, HEAD, rows, data, drawn)]


def _point(view: View, f: Verified) -> Point | None:
    share, level = observed.over_ranks(view, f, SHARE), methods.level(f)
    i = f.identity
    if share is None or level is None or methods.method(i.variant) != methods.PUBLISHED:
        return None
    return Point((i.mpi or "", methods.shape(i.placement), i.variant), level, f, share)


def _best(points: Sequence[Point]) -> dict[tuple[str, str], list[Point]]:
    """Return the fastest variant at each level, by MPI library and placement."""
    found: dict[tuple[str, str], dict[int, Point]] = {}
    for p in points:
        line = found.setdefault(p.key[:2], {})
        if p.level not in line or p.figure.estimate.median < line[p.level].figure.estimate.median:
            line[p.level] = p
    return {key: [line[v] for v in sorted(line)] for key, line in sorted(found.items())}


def _crowded(points: Sequence[Point]) -> bool:
    return any(p.figure.oversubscribed for p in points)


def _label(view: View, key: tuple[str, str]) -> str:
    mpi, shape = key
    return f"{wording.mpi_name(view.judgement.run, mpi) if mpi else 'threads'}, {shape}"


def _line(view: View, key: tuple[str, str], line: Sequence[Point], k: int) -> Trace:
    label = _label(view, key)
    colour, symbol = view.palette.colour(label), view.palette.symbol(k)
    middle = [100 * p.share[1] for p in line]
    hover_texts = [
        f"<b>{percent(p.share[1])}</b>  ({percent(p.share[0])} to {percent(p.share[2])} over the ranks)<br>"
        + frame.hover(p.figure)
        for p in line
    ]
    return {
        "type": "scatter", "mode": "lines+markers", "name": text(label), "x": [methods.unknowns(p.level) for p in line],
        "y": middle, "hoverinfo": "text", "hovertext": hover_texts, "line": {"color": colour, "width": 2},
        "marker": {"color": colour, "size": 7,
                   "symbol": [f"{symbol}-open" if p.figure.oversubscribed else symbol for p in line]},
        "error_y": {"color": colour, "width": 3,
                    "array": [100 * p.share[2] - y for p, y in zip(line, middle, strict=True)],
                    "arrayminus": [y - 100 * p.share[0] for p, y in zip(line, middle, strict=True)]},
    }  # fmt: skip


# --- the table --------------------------------------------------------------------------------------------------------


def _order(f: Verified) -> tuple[object, ...]:
    p = f.identity.placement
    return methods.level(f) or 0, p.nodes, p.ranks, p.threads, f.identity.mpi or "", f.identity.variant


def _row(view: View, f: Verified) -> tuple[str, ...]:
    i = f.identity
    level = methods.level(f) or 0
    program = ", ".join(p for p in (i.variant, i.toolchain, i.mpi) if p)
    place = methods.shape(i.placement) + (" (oversubscribed)" if f.oversubscribed else "")
    share = observed.over_ranks(view, f, SHARE)
    shown = ("–", "–", "–") if share is None else tuple(percent(s) for s in share)
    counted = (str(level), f"{methods.unknowns(level):,}".replace(",", " "), _value(view, f, "iterations"))
    return (program, place, *counted, _value(view, f, "assembly"), quantity(f.estimate.median, f.unit), *shown)


def _value(view: View, f: Verified, metric: str) -> str:
    wanted = replace(f.identity, metric=metric)
    found = next((g for g in view.judgement.figures if isinstance(g, Verified) and g.identity == wanted), None)
    if found is None or (metric == "assembly" and found.estimate.median == 0):
        return "–"
    return f"{found.estimate.median:g}" if metric == "iterations" else quantity(found.estimate.median, found.unit)


def _published(view: View) -> list[tuple[str, ...]]:
    """Return the rows of earlier machines in the same table."""
    by: dict[tuple[object, ...], dict[str, Entry]] = {}
    for metric in ("assembly_time", "pcg_time", SHARE):
        for e in view.heritage.matching("fem2d", metric):
            key = tuple(
                e.parameters.get(k, "–") for k in ("level", "unknowns", "iterations", "nodes", "ranks_per_node")
            )
            by.setdefault((e.machine, e.year, *key), {})[metric] = e
    rows = []
    for (machine, year, level, unknowns, iterations, nodes, each), found in by.items():
        times = [quantity(found[m].value, found[m].unit) if m in found else "–" for m in ("assembly_time", "pcg_time")]
        share = f"{significant(found[SHARE].value, 2)} %" if SHARE in found else "–"
        count = f"{unknowns:,}".replace(",", " ") if isinstance(unknowns, int) else str(unknowns)
        place = f"{nodes}x{each}x1"
        rows.append((f"{machine} ({year})", place, str(level), count, str(iterations), *times, "–", share, "–"))
    return rows


def _ghosts(view: View) -> list[Entry]:
    return [e for e in view.heritage.matching("fem2d", SHARE) if isinstance(e.parameters.get("level"), int)]


def _traces(entries: Sequence[Entry]) -> list[Trace]:
    if not entries:
        return []
    hover_texts = [
        f"<b>{text(e.machine)} ({e.year})</b><br>{significant(e.value, 2)} %, "
        f"{e.parameters.get('nodes')}x{e.parameters.get('ranks_per_node')}x1<br>{text(e.place)}<br>"
        f"{text(e.source.citation)}"
        for e in entries
    ]
    last = max(range(len(entries)), key=lambda k: (int(entries[k].parameters["level"]), entries[k].value))
    return [
        {"type": "scatter", "mode": "markers+text", "name": "earlier machines, as published", "legendgroup": "ghosts",
         "legendrank": 2000, "hoverinfo": "text", "hovertext": hover_texts,
         "x": [methods.unknowns(int(e.parameters["level"])) for e in entries], "y": [e.value for e in entries],
         "text": [text(f"{e.machine} ({e.year})") if k == last else "" for k, e in enumerate(entries)],
         "textposition": "top left", "textfont": {"color": "@ghost"},
         "marker": {"color": "@ghost", "size": 9, "symbol": "x-thin-open", "line": {"width": 2, "color": "@ghost"}}}
    ]  # fmt: skip


# --- words ------------------------------------------------------------------------------------------------------------


def _title(view: View, best: dict[tuple[str, str], list[Point]]) -> str:
    """Return `Communication is 4 % of the time at level 7 (MPICH, 1x2x1; 3 to 5 % over the ranks), 21 % at level 4`."""
    free = {key: line for key, line in best.items() if not _crowded(line)} or best
    if not free:
        return "No program reported its communication time"
    top = max(line[-1].level for line in free.values())
    at = {key: line for key, line in free.items() if line[-1].level == top}
    key, line = min(at.items(), key=lambda item: item[1][-1].figure.estimate.median)
    last, first = line[-1], line[0]
    low, middle, high = (_format_share(last, k) for k in range(3))
    spread = f"{low} to {high} over the ranks"
    title = f"Communication is {middle} of the time at level {top} ({_label(view, key)}; {spread})"
    return title + (f", {_format_share(first, 1)} at level {first.level}" if first.level < top else "")


def _format_share(point: Point, k: int) -> str:
    """Format the least, the median or the largest share over the ranks."""
    return provenance.number(percent(point.share[k]), f"over_ranks(a, {SHARE!r}, {k})", of=(point.figure,))
