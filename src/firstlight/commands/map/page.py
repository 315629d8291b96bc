"""The two pages of a rank map: a summary in the terminal and an HTML page with the matrix and the links."""

from __future__ import annotations

import math
import time
from pathlib import Path

from firstlight.analysis.compare import BETTER, SAME, WORSE
from firstlight.commands.map.answer import WORTH, Mapped, Side, Trial
from firstlight.core.units import binary, count, declared, percent, quantity, significant
from firstlight.report import html
from firstlight.report.frame import Drawing, Trace, bytes_axis, layout, log_colours
from firstlight.report.ink import hanging
from firstlight.report.palette import COOL, GREY, WARM
from firstlight.results.store.durable import replace

_MOST_PHASES = 8
_CONFIRMED = 0.1
FAR = 100  # links of one load: with so many the axis is logarithmic
_PLAIN = {"showgrid": False, "zeroline": False}
ALIKE = 1.0
"""The fewest decimal orders of bytes over which a matrix changes its colour: nearly equal amounts look alike."""


def write(mapped: Mapped, path: Path) -> None:
    """Write the page, whole or not at all. Raises OSError."""
    replace(path, render(mapped).encode())


def render(mapped: Mapped) -> str:
    """Return the HTML page."""
    a = mapped.answer
    phases = [_phases(mapped)] if len(a.names) > 1 else []
    drawings = [_loads(mapped), *phases, *_matrices(mapped), _worst(mapped)] if a.better and not a.proved else []
    page = {
        "mapped": mapped,
        "date": time.strftime("%d %b %Y %H:%M").lstrip("0"),
        "sentences": sentences(mapped),
        "notes": notes(mapped),
        "drawings": drawings,
    }
    return html.page_of(Path(__file__).with_suffix(".html.j2"), page, drawings)


def sentences(mapped: Mapped) -> list[str]:
    """Return the results as sentences, the most important first."""
    return [s[:1].upper() + s[1:] + "." for s in _sentences(mapped)]


def _sentences(mapped: Mapped) -> list[str]:
    a = mapped.answer
    if a.proved:
        return ["keep the default order: no map can have a smaller load on its busiest links"]
    lines = [_verdict(mapped)]
    lines.append(
        f"the load of the busiest links is {binary(a.after.maxima)} instead of {binary(a.before.maxima)} "
        f"({percent(1 / a.gain)} of it), and the load of all links is {binary(a.after.hop_bytes)} instead of "
        f"{binary(a.before.hop_bytes)}; found by {a.after.by}"
    )
    before, after, gain = a.before.seconds, a.after.seconds, a.simulated_gain
    if before is not None and after is not None and gain is not None and (mapped.trial or not a.better):
        change = f"{significant(gain)} times faster" if gain >= 1 else f"{significant(1 / gain)} times slower"
        lines.append(
            f"the simulated time of messages is {quantity(after, 's')} instead of {quantity(before, 's')} ({change})"
        )
    lines += [apart] if (apart := _apart(mapped)) else []
    if gain is not None and a.flowing_gain is not None and len(a.names) > 1:
        lines.append(_confirmed(gain, a.flowing_gain))
    if mapped.trial is not None:
        lines.append(_tried(mapped.trial))
    return lines


def _verdict(mapped: Mapped) -> str:
    a = mapped.answer
    if not a.better:
        simulated = a.simulated_gain
        if a.gain >= WORTH and simulated is not None:
            return (
                "no map is recommended: the load of the busiest links is smaller, but the simulated time is "
                f"{significant(1 / simulated)} times that of the default order"
            )
        return f"no map is recommended: none is better than the default order by {declared(WORTH - 1)}"
    if mapped.trial is None:
        predicted = a.simulated_gain
        if predicted is None:
            return (
                f"the load of the busiest links is {percent(1 / a.gain)} of that of the default order; no time was "
                "simulated; measure the map with --try"
            )
        before, after = (quantity(side.seconds or 0.0, "s") for side in (a.before, a.after))
        return (
            f"messages are predicted to last {after} with this map instead of {before} "
            f"({significant(predicted)} times faster); measure the effect with --try"
        )
    if mapped.recommended:
        return "the map is recommended: the program is faster with this map"
    return "the map is not recommended: the program is not faster with this map"


def _apart(mapped: Mapped) -> str:
    """Return why the simulated gain differs from the objective's; "" if it differs by at most a tenth."""
    a, gain = mapped.answer, mapped.answer.simulated_gain
    if gain is None or 0.9 <= gain / a.gain <= 1.1:
        return ""
    waits = [s.seconds / s.bound_seconds for s in (a.before, a.after) if s.seconds is not None and s.bound_seconds > 0]
    if len(waits) < 2:
        return ""
    return (
        f"the simulated times are {significant(waits[0])} (before) and {significant(waits[1])} (after) times the "
        f"times of the busiest links alone. Hop latency, and messages that wait at one link while the next is idle, "
        f"account for the rest"
    )


def _confirmed(gain: float, flowing: float) -> str:
    """Return a sentence: whether the simulation of all phases in one go confirms the predicted gain."""
    verdict = "confirms" if abs(flowing / gain - 1) <= _CONFIRMED else "does not confirm"
    return (
        f"if each rank starts its next phase as early as possible, messages are {significant(flowing)} times faster. "
        f"This result {verdict} the prediction within {declared(_CONFIRMED)}"
    )


def _tried(trial: Trial) -> str:
    words = {BETTER: "faster", WORSE: "slower", SAME: "as fast as without the map", "inconclusive": "inconclusive"}
    span = "" if trial.low is None or trial.high is None else f", {significant(trial.low)} – {significant(trial.high)}"
    return (
        f"tried {count(len(trial.mapped), 'time')} with the map and in the default order, with the same binding: "
        f"{words[trial.outcome]} (time with the map / without {significant(trial.ratio)}{span})"
    )


def notes(mapped: Mapped) -> list[str]:
    """Return the notes that a reader needs to interpret the map."""
    a = mapped.answer
    lines = list(mapped.notes)
    if a.least is not None:
        lines.append(
            f"another map has a smaller load on the busiest links, {binary(a.least)}, but a longer simulated time; "
            f"--by links selects that map"
        )
    if a.interrupted:
        lines.append("the search was interrupted: this is the best map so far")
    elif mapped.budget is not None and not a.in_time:
        lines.append(
            f"the budget of {quantity(mapped.budget, 's')} ended the search, so the same seed may produce another "
            f"map; --budget {math.ceil(2 * mapped.budget)}s extends the search"
        )
    return lines


def summary(mapped: Mapped, place: Path | None, width: int = 80) -> str:
    """Return the page for the terminal."""
    a = mapped.answer
    lines = [
        f"firstlight · rank map · {mapped.source} · {mapped.topology}",
        f"  {count(a.ranks, 'rank')} on {count(a.nodes, 'node')} x {a.per_node}, {count(a.links, 'link')}, "
        f"{count(len(a.names), 'phase')}",
        "",
    ]
    for mark, some in (("", sentences(mapped)), ("! ", notes(mapped))):
        for text in some:
            lines += hanging(f"{mark}{text}", max(width, 40))
    if a.better and not a.proved:
        lines += _table(mapped)
    if mapped.files:
        lines.append("")
    wide = max((len(w.title) for w in mapped.files), default=0) + 2
    for w in mapped.files:
        lines.append(f"  {w.title + ':':<{wide}}{w.use if w.file else f'not written: {w.why}'}")
    if place is not None:
        lines += ["", f"  report: {place}"]
    return "\n".join(line.rstrip() for line in lines)


def _table(mapped: Mapped) -> list[str]:
    """Return the loads before and after as lines of the terminal page, in total and by phase."""
    a = mapped.answer
    lines = ["", f"  {'':<26}{'default':>12}{'map':>12}"]
    for what, x, y in _rows(a.before, a.after):
        lines.append(f"  {what:<26}{x:>12}{y:>12}")
    if len(a.names) > 1:
        lines += ["", f"  {'busiest link, by phase':<26}{'default':>12}{'map':>12}"]
        for name, most, now in list(zip(a.names, a.before.phases, a.after.phases, strict=True))[:_MOST_PHASES]:
            lines.append(f"  {name[:26]:<26}{binary(most):>12}{binary(now):>12}")
        if len(a.names) > _MOST_PHASES:
            lines.append(f"  and {len(a.names) - _MOST_PHASES} more phases")
    return lines


def _rows(before: Side, after: Side) -> list[tuple[str, str, str]]:
    rows = [
        ("sum of busiest links", binary(before.maxima), binary(after.maxima)),
        ("all links (hop-bytes)", binary(before.hop_bytes), binary(after.hop_bytes)),
        ("divided by link bandwidth", quantity(before.bound_seconds, "s"), quantity(after.bound_seconds, "s")),
    ]
    if before.seconds is not None and after.seconds is not None:
        rows.append(("simulated, phase by phase", quantity(before.seconds, "s"), quantity(after.seconds, "s")))
    if before.flowing_seconds is not None and after.flowing_seconds is not None:
        rows.append(
            ("simulated in sequence", quantity(before.flowing_seconds, "s"), quantity(after.flowing_seconds, "s"))
        )
    return rows


def _loads(mapped: Mapped) -> Drawing:
    a = mapped.answer
    data: list[Trace] = []
    rows: list[tuple[str, ...]] = []
    for side, name, colour in ((a.before, "default", GREY), (a.after, "with the map", COOL[0])):
        step = side.most / len(side.spread)
        xs = [(k + 0.5) * step for k in range(len(side.spread))]
        data.append(
            {
                "type": "bar",
                "name": name,
                "x": xs,
                "y": list(side.spread),
                "width": step,
                "opacity": 0.75,
                "marker": {"color": colour},
            }
        )
        rows.append((name, "0 B", str(side.idle)))
        rows += [(name, f"to {binary((k + 1) * step)}", str(n)) for k, n in enumerate(side.spread) if n]
    total, most = a.links, max((*a.before.spread, *a.after.spread), default=0)
    title = (
        f"The busiest of {total} links has a load of {binary(a.after.most)} instead of "
        f"{binary(a.before.most)}; {percent(a.after.idle / max(total, 1))} of them are idle"
    )
    return Drawing(
        "map-loads",
        title,
        "The number of links by load, over all phases. Only the table shows idle links.",
        ("map", "load", "links"),
        rows,
        data,
        layout(
            bytes_axis("load of a link", max(a.before.most, a.after.most)),
            {"title": {"text": "links"}} | ({"type": "log"} if most >= FAR else {"rangemode": "tozero"}),
            barmode="overlay",
        ),
    )


def _phases(mapped: Mapped) -> Drawing:
    a = mapped.answer
    sides = ((a.before, "default order", GREY), (a.after, "with the map", COOL[0]))
    data = [
        {"type": "bar", "name": name, "x": list(a.names), "y": list(s.phases), "marker": {"color": colour}}
        for s, name, colour in sides
    ]
    worst = max(range(len(a.names)), key=lambda k: a.after.phases[k], default=0)
    share = a.after.phases[worst] / a.after.maxima if a.names and a.after.maxima else 0
    title = (
        f"{a.names[worst]} has the largest load: {percent(share)} of the sum over phases" if a.names else "No messages"
    )
    rows = [
        (n, str(x), str(y), *(_time(s.phase_seconds, k) for s, _, _ in sides))
        for k, (n, x, y) in enumerate(zip(a.names, a.before.phases, a.after.phases, strict=True))
    ]
    return Drawing(
        "map-phases",
        title,
        "The load of the busiest link in each phase: the search minimises their sum."
        + (
            " The table shows the names of the phases, which do not fit on the axis."
            if len(a.names) > _MOST_PHASES
            else ""
        ),
        ("phase", "bytes, default", "bytes, map", "simulated, default", "simulated, map"),
        rows,
        data,
        layout(
            {"title": {"text": "phase"}, "type": "category", "showticklabels": len(a.names) <= _MOST_PHASES},
            bytes_axis("load of the busiest link", max((*a.before.phases, *a.after.phases), default=0)),
        ),
    )


def _time(seconds: tuple[float, ...], k: int) -> str:
    return quantity(seconds[k], "s") if k < len(seconds) else "–"


def _matrices(mapped: Mapped) -> list[Drawing]:
    a = mapped.answer
    title = "Messages between slots of the map"
    if a.after.block > 1:  # a slot alone sends nothing to itself
        title += f": {_near(a.before)} and {_near(a.after)} of the bytes stay within a block, before and after mapping"
    before = _matrix("map-before", "Messages between ranks", a.before, "rank")
    return [before, _matrix("map-after", title, a.after, "slot")]


def _near(side: Side) -> str:
    total = sum(n for _, _, n in side.matrix)
    return percent(sum(n for a, b, n in side.matrix if a == b) / total) if total else "none"


def _matrix(name: str, title: str, side: Side, noun: str) -> Drawing:
    most = max((max(a, b) for a, b, _ in side.matrix), default=0) + 1
    cells: list[list[float | None]] = [[None] * most for _ in range(most)]
    for a, b, n in side.matrix:
        cells[a][b] = round(math.log10(n), 3)
    some = [v for row in cells for v in row if v is not None]
    low, high = (min(some), max(max(some), min(some) + ALIKE)) if some else (0.0, 1.0)
    heat = {
        "type": "heatmap",
        "z": cells,
        "zmin": low,
        "zmax": high,
        "colorscale": [[0, COOL[2]], [1, WARM[0]]],
        "colorbar": log_colours("bytes", low, high, binary),
    }
    ordered = sorted(side.matrix, key=lambda m: -m[2])[:100]
    unit = noun if side.block == 1 else f"block of {side.block} {noun}s"
    return Drawing(
        name,
        title,
        f"Each row is a sender and each column a receiver; both are a {unit}. The colour scale is logarithmic, and "
        f"empty cells have no messages.",
        ("from", "to", "bytes"),
        [(str(a), str(b), str(n)) for a, b, n in ordered],
        [heat],
        layout(
            {"title": {"text": f"to {unit}"}} | _PLAIN,
            {"title": {"text": f"from {unit}"}, "autorange": "reversed", "scaleanchor": "x"} | _PLAIN,
        ),
        folded=True,
    )


def _worst(mapped: Mapped) -> Drawing:
    a = mapped.answer
    rows: list[tuple[str, ...]] = [
        (str(k + 1), _link(a.before, k), _link(a.after, k)) for k in range(max(len(a.before.worst), len(a.after.worst)))
    ]
    return Drawing(
        "map-worst",
        "The links with the highest load, over all phases",
        "The network defines the names of the links.",
        ("", "default", "with the map"),
        rows,
        folded=True,
    )


def _link(side: Side, k: int) -> str:
    return f"{side.worst[k].link}: {binary(side.worst[k].bytes)}" if k < len(side.worst) else "–"
