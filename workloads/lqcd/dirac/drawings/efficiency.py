"""Draw the share of speed that is kept with communication, and R5's model through the measured points."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from firstlight.analysis import provenance
from firstlight.analysis.verdict import Verified
from firstlight.core import confidence
from firstlight.core.heritage import Entry
from firstlight.core.units import percent, quantity
from firstlight.model.catalogue import Workload
from firstlight.report import frame, wording
from firstlight.report.frame import Drawing, Trace, View, text

from . import communication, sites
from .communication import Exchange

HEAD = (
    "program", "lattice", "process grid", "bits", "with communication", "without (unverified by design)", "speed kept",
    confidence.INTERVAL, "B: bytes per step each way", "bandwidth each way",
)  # fmt: skip
HIDDEN = "hidden"
STEPS = 48  # of the curve
PUBLISHED_SITES = 2 * 16**3
PUBLISHED_BYTES = 1_572_864  # B of R5's table: recovered, it reproduces all of it
Key = tuple[str, int]  # variant, bits


class Model(NamedTuple):
    """R5's model of one kind of exchange: flop/s of a process without communication, bytes per second each way."""

    without: float
    bandwidth: float

    def kept(self, bytes_a_site: float, flops_a_site: float) -> float:
        return communication.efficiency(bytes_a_site / flops_a_site, self.without, self.bandwidth)


def measured(view: View, figures: Sequence[Verified]) -> list[Exchange]:
    """Return the exchange of every figure that has a twin without communication."""
    twins = communication.silent(view.judgement)
    found = []
    for f in figures:
        seconds = view.step_seconds(f)
        one = communication.exchange(f, seconds, twins, sites.SILENT) if seconds else None
        if one is not None and sites.case(f) is not None:
            found.append(one)
    return found


def drawings(view: View, workload: Workload, name: str, exchanges: Sequence[Exchange]) -> list[Drawing]:
    """Return one drawing for each MPI library that ran programs with and without communication."""
    by_mpi: dict[str, list[Exchange]] = {}
    for e in exchanges:
        by_mpi.setdefault(e.figure.identity.mpi or "", []).append(e)
    return [_drawing(view, workload, f"{name}-{k}", some) for k, (_, some) in enumerate(sorted(by_mpi.items()))]


def _drawing(view: View, workload: Workload, name: str, exchanges: Sequence[Exchange]) -> Drawing:
    groups: dict[Key, list[Exchange]] = {}
    for e in exchanges:
        c = sites.case(e.figure)
        groups.setdefault((e.figure.identity.variant, c.bits if c else 0), []).append(e)
    models = {key: m for key, some in groups.items() if (m := model(some)) is not None}
    ghosts = [g for g in view.heritage.matching(workload.name, "efficiency") if 0 < g.value <= 1]
    xs = [bytes_a_site(e) for e in exchanges] + [PUBLISHED_BYTES / PUBLISHED_SITES] * bool(ghosts)
    data: list[Trace] = []
    for k, (key, some) in enumerate(sorted(groups.items())):
        data += _points(view, key, some, k)
        if key in models:
            data.append(_curve(view, key, some, models[key], min(xs), max(xs)))
    data += _traces(ghosts)
    share = {"title": {"text": "speed kept with communication (%), higher is better"}, "rangemode": "tozero"}
    drawn = frame.layout(frame.log_axis("bytes to send per site and step (B each way)"), share)
    rows = [row(e) for e in sorted(exchanges, key=_order)] + _published(ghosts)
    caption = (
        "Each point is one lattice on one process grid: its speed relative to the same program without the exchange. "
        "The program without exchange computes wrong results, so it has no figure. Curves: R5's model, speed = flops "
        "/ (flops / speed without + B / bandwidth), with the medians of the measurement. B is counted, and the "
        f"bandwidth is B divided by the lost time. Crosses: R5's machines, 2x16³ with B = {_number(PUBLISHED_BYTES)} "
        "bytes." + (" Open symbols: more ranks and threads than processors." if _crowded(exchanges) else "")
    )
    return Drawing(name, _title(view, exchanges), caption, HEAD, rows, data, drawn)


def bytes_a_site(e: Exchange) -> float:
    """Return the bytes that leave a process for each of its sites."""
    c = sites.case(e.figure)
    return e.size * c.ranks / c.volume if c else 0.0


def model(some: Sequence[Exchange]) -> Model | None:
    """Return the model from the medians over the cases that may be ranked; None if none of them loses time."""
    free = [e for e in some if not e.figure.oversubscribed]
    widths = [b for e in free if (b := e.bandwidth) is not None]
    if not widths:
        return None
    return Model(median(_flops(e) / e.silent for e in free), median(widths))


def _flops(e: Exchange) -> float:
    """Return the flops of a process in a step."""
    return e.figure.cost.get("flops", 0.0) / max(1, e.figure.identity.placement.ranks)


def _points(view: View, key: Key, some: Sequence[Exchange], k: int) -> list[Trace]:
    colour = view.palette.colour(sites.words(key[0]))
    symbol = view.palette.symbol(k // 2 if key[1] == 32 else k)
    kept = [100 * e.kept.value for e in some]
    return [
        {"type": "scatter", "mode": "markers", "name": text(f"{sites.words(key[0])}, {key[1]} bit"),
         "x": [bytes_a_site(e) for e in some], "y": kept, "hoverinfo": "text", "hovertext": [_clause(e) for e in some],
         "marker": {"color": colour, "size": 9,
                    "symbol": [f"{symbol}-open" if e.figure.oversubscribed else symbol for e in some]},
         "error_y": {"color": colour, "width": 3,
                     "array": [0 if e.kept.high is None else 100 * e.kept.high - y
                               for e, y in zip(some, kept, strict=True)],
                     "arrayminus": [0 if e.kept.low is None else y - 100 * e.kept.low
                                    for e, y in zip(some, kept, strict=True)]}}
    ]  # fmt: skip


def _clause(e: Exchange) -> str:
    c = sites.case(e.figure)
    where = f"{c.lattice} on {c.processes}, {c.bits} bit" if c else ""
    width = e.bandwidth
    lost = HIDDEN if width is None else f"{quantity(width / 1e9, 'GB/s')} each way"
    return f"<b>{percent(e.kept.value)} kept</b>, {text(where)}<br>B = {e.size:,.0f} bytes, {lost}<br>".replace(
        ",", " "
    ) + frame.hover(e.figure)


def _curve(view: View, key: Key, some: Sequence[Exchange], m: Model, low: float, high: float) -> Trace:
    per_site = [_flops(e) * c.ranks / c.volume for e in some if (c := sites.case(e.figure)) is not None]
    flops, ratio = median(per_site), (high / low) ** (1 / STEPS) if high > low else 1.0
    xs = [low * ratio**k for k in range(STEPS + 1)]
    hover = f"{text(sites.words(key[0]))}, {key[1]} bit: R5's model with {quantity(m.bandwidth / 1e9, 'GB/s')} each way"
    return {
        "type": "scatter", "mode": "lines", "name": "R5's model", "showlegend": False, "hoverinfo": "text",
        "hovertext": [hover] * len(xs),
        "x": xs, "y": [100 * m.kept(x, flops) for x in xs],
        "line": {"color": view.palette.colour(sites.words(key[0])), "width": 1.5,
                 "dash": "solid" if key[1] == 32 else "dash"},
    }  # fmt: skip


def _traces(entries: Sequence[Entry]) -> list[Trace]:
    if not entries:
        return []
    labels = [f"{e.machine}, {e.variant}" for e in entries]
    hover_texts = [
        f"<b>{text(label)} ({e.year})</b><br>{percent(e.value)}<br>{text(e.place)}<br>{text(e.source.citation)}"
        for label, e in zip(labels, entries, strict=True)
    ]
    return [
        {"type": "scatter", "mode": "markers+text", "name": "earlier machines, as published", "legendgroup": "ghosts",
         "legendrank": 2000, "hoverinfo": "text", "hovertext": hover_texts,
         "x": [PUBLISHED_BYTES / PUBLISHED_SITES] * len(entries), "y": [100 * e.value for e in entries],
         "text": [text(f"{label} ({e.year})") if _apart(entries, k) else "" for k, (label, e) in
                  enumerate(zip(labels, entries, strict=True))],
         "textposition": "middle left", "textfont": {"color": "@ghost"},
         "marker": {"color": "@ghost", "size": 9, "symbol": "x-thin-open", "line": {"width": 2, "color": "@ghost"}}}
    ]  # fmt: skip


def _apart(entries: Sequence[Entry], k: int) -> bool:
    """Return whether no earlier figure is within 4 %: of labels that would overlap, only the first is written."""
    return all(abs(e.value - entries[k].value) > 0.04 for e in entries[:k])


# --- the table --------------------------------------------------------------------------------------------------------


def _order(e: Exchange) -> tuple[object, ...]:
    c = sites.case(e.figure)
    return (c or (), e.figure.identity.variant, e.figure.identity.mpi or "")


def row(e: Exchange) -> tuple[str, ...]:
    """Return one row of R5's table."""
    f, i, c = e.figure, e.figure.identity, sites.case(e.figure)
    program = ", ".join(p for p in (i.variant, i.toolchain, i.mpi) if p) + (
        " (oversubscribed)" if f.oversubscribed else ""
    )
    without = quantity(f.estimate.median * e.seconds / e.silent, f.unit)
    kept = (
        f"{percent(e.kept.low)} – {percent(e.kept.high)}"
        if e.kept.low is not None and e.kept.high is not None
        else "too few"
    )
    width = HIDDEN if e.bandwidth is None else quantity(e.bandwidth / 1e9, "GB/s")
    lattice, grid, bits = (c.lattice, c.processes, str(c.bits)) if c else ("", "", "")
    speed = quantity(f.estimate.median, f.unit)
    return program, lattice, grid, bits, speed, without, percent(e.kept.value), kept, _number(e.size), width


def _published(entries: Sequence[Entry]) -> list[tuple[str, ...]]:
    return [
        (
            f"{e.machine}, {e.variant} ({e.year})",
            "2x16³",
            "–",
            "–",
            "–",
            "–",
            percent(e.value),
            "–",
            _number(PUBLISHED_BYTES),
            "–",
        )
        for e in entries
    ]


def _number(size: float) -> str:
    return f"{size:,.0f}".replace(",", " ")


# --- words ------------------------------------------------------------------------------------------------------------


def _crowded(exchanges: Sequence[Exchange]) -> bool:
    return any(e.figure.oversubscribed for e in exchanges)


def _title(view: View, exchanges: Sequence[Exchange]) -> str:
    """Return `Open MPI, with the most data to send (2x16³ on 2x1x1x1, 64 bit): overlap keeps 78 % of its speed ...`."""
    free = [e for e in exchanges if not e.figure.oversubscribed] or list(exchanges)
    c = sites.case(max(free, key=bytes_a_site).figure)
    best: dict[str, Exchange] = {}
    for e in sorted(free, key=lambda e: -e.figure.estimate.median):
        if sites.case(e.figure) == c:
            best.setdefault(sites.words(e.figure.identity.variant), e)
    (name, first), *others = best.items()
    mpi = wording.mpi_name(view.judgement.run, first.figure.identity.mpi or "")
    bits = provenance.parameter(f"{c.bits} bit", first.figure, "a['bits']") if c else ""
    where = f"{c.lattice} on {c.processes}, {bits}" if c else ""
    if any(e.kept.low is None for e in best.values()):
        return f"{mpi}: too few launches to estimate the communication time ({where} sends the most)"
    parts = [f"{name} reaches {_kept(first)} of its speed without communication ({_lost(first)})"]
    parts += [f"{other} {_kept(e)} ({_lost(e)})" for other, e in others]
    return f"{mpi}, with the most data to send ({where}): {', '.join(parts)}"


def _kept(e: Exchange) -> str:
    return provenance.number(percent(e.kept.value), f"kept(a, {sites.SILENT!r})", of=(e.figure,))


def _lost(e: Exchange) -> str:
    if e.bandwidth is None:
        return HIDDEN
    width = quantity(e.bandwidth / 1e9, "GB/s")
    return f"{provenance.number(width, f'each_way(a, {sites.SILENT!r})', 'B/s', (e.figure,))} each way"
