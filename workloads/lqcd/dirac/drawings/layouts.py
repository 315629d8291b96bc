"""Draw the speed of one core with and without SIMD, in 32 and 64 bits, from the first cache to memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from firstlight.analysis import provenance
from firstlight.analysis.formatting import listing
from firstlight.analysis.verdict import Verified
from firstlight.core import confidence
from firstlight.core.heritage import Entry
from firstlight.core.units import binary, convert, quantity
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import frame, sentence
from firstlight.report.frame import Drawing, Trace, View, text

from . import sites

Key = tuple[str, int]  # variant, bits
Lines = dict[Key, dict[float, Verified]]  # by bytes a core


def drawings(view: View, workload: Workload, plot: Plot, name: str, figures: Sequence[Verified]) -> list[Drawing]:
    """Draw the speed of each layout by size; return nothing if nothing ran on one core."""
    alone = [f for f in figures if sites.cores(f) == 1 and not sites.parallel(f.identity)]
    found = lines(alone)
    if not found:
        return []
    xs = sorted({x for line in found.values() for x in line})
    some = next(iter(next(iter(found.values())).values()))
    ghosts = [e for e in view.heritage.matching(workload.name, plot.metric) if _of_one(e)]
    few = {"tickvals": xs, "ticktext": [binary(x) for x in xs]} if len(xs) <= 2 else {}
    drawn = frame.layout(
        frame.log_axis("links and spinors per core (bytes)", xs) | few,
        frame.log_axis(frame.title_of_values("speed of a core", some)),
    )
    data = [_line(view, key, line) for key, line in list(found.items())[: frame.MOST_LINES]]
    data += _traces(ghosts, some.unit, xs)
    if not few:
        frame.marks(drawn, [(level.capacity, level.label) for level in view.levels.levels], xs[0], xs[-1])
    caption = (
        "One core, with the best toolchain of each layout. 32 bit: circles, full lines and full colours; 64 bit: "
        f"squares, dashed lines and pale colours. Error bars are {confidence.INTERVALS}. Flops are counted as in R5; "
        "bytes are those of links, spinor and result. "
        "In the SIMD lattice layout each lane has a sub-lattice (virtual nodes, as Grid calls them)."
    )
    return [Drawing(name, _title(view, found), caption, frame.HEAD, frame.table(alone), data, drawn)]


def lines(figures: Sequence[Verified]) -> Lines:
    """Return the best figure of each layout and precision on each lattice; plain loops last."""
    found: dict[Key, dict[float, list[Verified]]] = {}
    for f in figures:
        c = sites.case(f)
        if c is not None and f.working_set > 0:
            found.setdefault((f.identity.variant, c.bits), {}).setdefault(f.working_set, []).append(f)
    made: Lines = {}
    for key, line in sorted(found.items(), key=lambda item: (item[0][0] == "serial", item[0])):
        made[key] = {x: b for x, some in sorted(line.items()) if (b := sites.best(some)) is not None}
    return made


def _line(view: View, key: Key, line: Mapping[float, Verified]) -> Trace:
    variant, bits = key
    label = sites.words(variant)
    look = {
        "color": view.palette.colour(label),
        "dash": "solid" if bits == 32 else "dash",
        "symbol": "circle" if bits == 32 else "square",
    }
    return frame.line(sorted(line.items()), f"{label}, {bits} bit", look)


def _of_one(entry: Entry) -> bool:
    """Return whether an entry has a precision and no lattice: such entries are published for one processor."""
    return isinstance(entry.parameters.get("bits"), int) and "lattice" not in entry.parameters


def _traces(entries: Sequence[Entry], unit: str, xs: Sequence[float]) -> list[Trace]:
    made: list[Trace] = []
    for e in entries:
        y = convert(e.value, e.unit, unit)
        if y is None:
            continue
        label = f"{e.machine}, {e.parameters['bits']} bit ({e.year})"
        hover = f"<b>{text(label)}</b><br>{quantity(e.value, e.unit)}<br>{text(e.place)}<br>{text(e.source.citation)}"
        made.append(
            {"type": "scatter", "mode": "lines+text", "name": "earlier machines, as published",
             "legendgroup": "ghosts", "legendrank": 2000, "showlegend": not made, "hoverinfo": "text",
             "hovertext": [hover, hover], "x": [xs[0], xs[-1]], "y": [y, y], "text": [text(label), ""],
             "textposition": "top right", "textfont": {"color": "@ghost"},
             "line": {"color": "@ghost", "width": 1, "dash": "dot"}}
        )  # fmt: skip
    return made


def _title(view: View, found: Lines) -> str:
    """Return `SIMD lattice layout reaches 12.1 Gflop/s a core in 32 bit (8x8³, L2), 5.2 × plain loops; 64 bit ...`."""
    first: dict[int, Verified] = {}
    for bits in sorted({bits for _, bits in found}):
        top = sites.best(f for (_, b), line in found.items() if b == bits for f in line.values())
        if top is not None:
            first[bits] = top
    bits, top = next(iter(first.items()))
    x, c = top.working_set, sites.case(top)
    place = view.place(top)
    value = provenance.median(top)
    verb = "reach" if top.identity.variant == "serial" else "reaches"
    title = f"{sites.words(top.identity.variant)} {verb} {value} per core in {bits} bit"
    title += f" ({c.lattice if c else ''}, {place})"
    others = [
        f"{sentence.ahead(top, line[x])} {sites.words(v)}"
        for (v, b), line in found.items()
        if b == bits and v != top.identity.variant and x in line
    ]
    if others:
        title += f", {listing(others)}"
    twin = found.get((top.identity.variant, 64), {}).get(2 * x) if bits == 32 else None
    if twin is not None:
        title += f"; 64 bit lasts {sentence.ahead(top, twin)} as long"
    return sentence.capital(title)
