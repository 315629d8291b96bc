"""The pages of a simulation: predictions in the terminal and as HTML."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from firstlight.analysis.formatting import listing
from firstlight.analysis.loggops import LEVEL_TEXT
from firstlight.commands.simulate import plot as plots
from firstlight.commands.simulate.answer import Simulated
from firstlight.commands.simulate.sweep import TIE, crossings, lines
from firstlight.core.networks import KINDS, Network
from firstlight.core.units import binary, count, interval, percent, quantity, significant
from firstlight.execute.network.prediction import Breakdown, Prediction
from firstlight.report import html
from firstlight.report.ink import hanging, wrap
from firstlight.results.store.durable import replace

MOST_COLUMNS = 4  # algorithms side by side in the table of a sweep
_PARTS = Breakdown.__struct_fields__


def write(simulated: Simulated, path: Path) -> None:
    """Write the page, whole or not at all. Raises OSError."""
    replace(path, render(simulated).encode())


def render(simulated: Simulated) -> str:
    """Return the HTML page."""
    drawings = plots.drawings(simulated)
    page = {
        "simulated": simulated,
        "heading": heading(simulated),
        "date": time.strftime("%d %b %Y %H:%M").lstrip("0"),
        "sentences": sentences(simulated),
        "machine": machine(simulated),
        "drawings": drawings,
        "refused": refused(simulated.predictions),
    }
    return html.page_of(Path(__file__).with_suffix(".html.j2"), page, drawings)


def number(value: float) -> str:
    """Return a number with thousands separators, as `82,944`."""
    return f"{value:,.0f}"


def short(value: float | None) -> str:
    """Return a count in at most six characters: 829, 12.4k, 45.5M; "-" for None."""
    if value is None:
        return "-"
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= limit:
            return f"{significant(value / (1e3 if unit == 'k' else limit))}{unit}"
    return f"{value:.0f}"


def heading(simulated: Simulated) -> str:
    """Return the heading, as `broadcast of 1 MiB on tofu:24x18x16, 82,944 ranks`."""
    sizes, places = simulated.bytes, simulated.topologies
    of = "" if not sizes else f" of {binary(sizes[0])}" + (f" to {binary(sizes[-1])}" if len(sizes) > 1 else "")
    counts = [p.ranks for p in simulated.predictions if p.ranks]
    ranks = (
        f", {number(min(counts))}" + (f" to {number(max(counts))}" if max(counts) > min(counts) else "")
        if counts
        else ""
    )
    where = places[0] if len(places) == 1 else f"{len(places)} networks"
    on = f" on {where}{ranks} ranks" if places and counts else f" on {where}" if places else ""
    return f"{simulated.subject}{of}{on}"


def at(simulated: Simulated, size: float, topology: str) -> list[Prediction]:
    """Return the predictions of one case: those with a time first, the fastest before the others."""
    here = [p for p in simulated.predictions if p.bytes == size and p.topology == topology]
    return sorted(here, key=lambda p: (not p.usable, p.seconds if p.seconds is not None else 0.0, p.algorithm))


def sentences(simulated: Simulated) -> list[str]:
    """Return what the predictions show, most important first."""
    lines: list[str] = []
    if len(simulated.bytes) > 1:
        lines.append(f"{_capital(crossings(simulated.by_size, 'size'))}{_fastest(simulated)}.")
    if simulated.by_scale:
        of = f" ({binary(simulated.bytes[-1])})" if simulated.bytes and simulated.bytes[-1] else ""
        lines.append(_capital(crossings(simulated.by_scale, "scale")) + f"{of}.")
    if not lines and any(not p.wrong for p in simulated.predictions):
        lines.append(_winner(at(simulated, simulated.predictions[0].bytes, simulated.predictions[0].topology)))
    return lines + verdicts(simulated.predictions)


def _fastest(simulated: Simulated) -> str:
    """Return the shortest predicted time at the smallest and at the largest size."""
    sizes = (simulated.bytes[0], simulated.bytes[-1])
    best = [next(iter(at(simulated, size, simulated.predictions[0].topology)), None) for size in sizes]
    times = [f"{_time(p)} at {binary(p.bytes)}" for p in best if p is not None and p.usable and p.seconds]
    return f" ({', '.join(times)})" if times else ""


def _time(p: Prediction) -> str:
    """Return `12.3 us`, with the interval if there is one: `12.3 us [11.8, 13.0]`."""
    assert p.seconds is not None
    ends = "" if p.low is None else f" [{interval(p.low, p.high, p.seconds, 's', ', ')}]"
    return f"{quantity(p.seconds, 's')}{ends}"


def _capital(text: str) -> str:
    """Capitalise a sentence, unless it begins with the name of an algorithm."""
    return text[:1].upper() + text[1:] if text.startswith("up to") else text


def _winner(ordered: Sequence[Prediction]) -> str:
    usable = [p for p in ordered if p.usable and p.seconds is not None]
    if not usable:
        return "None of the algorithms has a prediction."
    first = usable[0]
    assert first.seconds is not None
    if len(usable) == 1:
        return f"{first.algorithm} lasts {_time(first)}{_spent(first)}."
    equal = [p.algorithm for p in usable if p.seconds is not None and p.seconds <= (1 + TIE) * first.seconds]
    if len(equal) > 1:
        return f"{listing(equal)} are equally fast, {_time(first)}."
    second = usable[1]
    assert second.seconds is not None
    factor = f"{significant(second.seconds / first.seconds, 2)} x " if first.seconds else ""
    return f"{first.algorithm} is the fastest, {_time(first)}, {factor}faster than the next, {second.algorithm}."


def _spent(p: Prediction) -> str:
    """Return `: bandwidth 71 %, latency 29 %`, the largest first; "" if the time has one part or is not divided."""
    values = [(getattr(p.breakdown, part), part) for part in _PARTS] if p.breakdown is not None else []
    total = sum(value for value, _ in values)
    some = [f"{part} {percent(value / total)}" for value, part in sorted(values, reverse=True) if value > 0]
    return f": {', '.join(some)}" if len(some) > 1 else ""


def verdicts(predictions: Sequence[Prediction]) -> list[str]:
    """Return the results of the checker in as few sentences as possible."""
    judged = [p for p in predictions if p.judged]
    wrong = {p.algorithm: p.verdict.why for p in predictions if p.wrong and p.verdict}
    lines = [f"WRONG: {name}: {why}." for name, why in sorted(wrong.items())]
    lines += [
        f"This schedule ends only because sends need not wait for their receives: {p.verdict.why}."
        for p in predictions
        if p.collective == "other" and p.usable and p.verdict and p.verdict.deadlock_free is False and p.verdict.why
    ]
    if not judged:
        return lines
    proved = [p for p in judged if p.verdict and p.verdict.correct and p.verdict.deadlock_free]
    if not wrong and len(proved) == len(judged):
        lines.append("Every schedule is proved correct and free of deadlock.")
    unproved = dict.fromkeys(p.algorithm for p in judged if p.verdict and p.verdict.correct is None)
    if unproved:
        lines.append(
            f"Some schedules are too large for a proof; smaller ones of the same algorithm are proved: "
            f"{', '.join(unproved)}."
        )
    free = _always(judged, "contention_free")
    disjoint = _always(judged, "link_disjoint")
    if free:
        also = [name for name in free if name in disjoint]
        lines.append(
            f"Free of contention: {', '.join(free)}"
            + (f" (trees share no link: {', '.join(also)})" if also and also != free else "")
            + "."
        )
    return lines


def _always(judged: Sequence[Prediction], what: str) -> list[str]:
    names = dict.fromkeys(p.algorithm for p in judged)
    return [n for n in names if all(getattr(p.verdict, what) is True for p in judged if p.algorithm == n)]


def refused(predictions: Sequence[Prediction]) -> list[tuple[str, str]]:
    """Return each (algorithm, reason) once: an algorithm may refuse for one shape only."""
    found: dict[tuple[str, str], None] = {}
    for p in predictions:
        if p.refused:
            found[p.algorithm, p.refused.removeprefix(f"{p.algorithm} ")] = None
    return list(found)


_TIMES = {
    "L": "latency L", "o": "overhead o", "g": "gap g", "hop": "hop", "overhead": "overhead per message",
}  # fmt: skip
_LINKS, _MESSAGES = ("hop", "overhead", "bandwidth", "interfaces"), ("L", "o", "g", "G", "O", "S")


def parameter(key: str, value: str) -> str:
    """Return a parameter with its unit, as `gap G 0.04 ns/B (25.0 GB/s)`; unchanged if it is unknown."""
    if key == "rates":
        return f"G and O of {value.count('/') + 1} sizes"
    try:
        x = float(value)
    except ValueError:
        return f"{key}={value}"
    if key in _TIMES:
        return f"{_TIMES[key]} {quantity(x * 1e-9, 's')}"
    if key in ("G", "O", "copy", "reduce"):
        what = {"G": "gap G", "O": "overhead O", "copy": "copying", "reduce": "adding"}[key]
        return f"{what} {significant(x)} ns/B" + (f" ({quantity(1e9 / x, 'B/s')})" if x > 0 else "")
    if key == "S":
        return "no rendezvous" if x >= 1e12 else f"rendezvous above S = {x:.0f} B"
    if key == "bandwidth":
        return f"bandwidth {quantity(x, 'B/s')}"
    return count(int(x), "interface") + " per node" if key == "interfaces" else f"{key}={value}"


def machine(simulated: Simulated) -> str:
    """Return the parameters that were used, with their units and their source."""
    parameters = next((p.machine for p in simulated.predictions if p.machine), simulated.machine)
    pairs = [item.partition("=") for item in parameters.split(",") if "=" in item]
    given = {key: value for key, _, value in pairs}
    if not any(p.machine for p in simulated.predictions):  # only the requested values, for the model of the network
        other = _MESSAGES if simulated.topologies and not simulated.topologies[0].startswith("flat") else _LINKS
        given = {key: value for key, value in given.items() if key not in other}
    requested = dict(item.split("=", 1) for item in simulated.machine.split(",") if "=" in item)
    given |= {key: requested[key] for key in ("copy", "reduce") if key in requested}
    words = ", ".join(parameter(key, value) for key, value in given.items())
    return f"{words} ({simulated.machine_from})" if words else simulated.machine_from


def known(networks: Iterable[Network], width: int = 80) -> str:
    """Return the networks that are known by name, with their published figures and sources."""
    lines, indent = ["firstlight · named networks, for ./fl simulate ... --network NAME", ""], " " * 15
    for network in networks:
        figures = [f"{what} {value}" for what, value, _ in network.figures()]
        figures = figures or [parameter(key, f"{value}") for key, value in network.given.items()]
        head = f"{network.name:<12} {network.title}, {network.year}: {', '.join(figures)}"
        head += f"; as --topology {network.topology}"
        lines += wrap(head, width - 2, "  ", indent)
        for source in (KINDS[network.kind], *network.sources()):
            lines += wrap(f"- {source}", width - 2, indent, f"{indent}  ")
    return "\n".join(lines)


def summary(simulated: Simulated, page: Path | None, width: int = 80) -> str:
    """Return the page for the terminal."""
    lines = [f"firstlight · {heading(simulated)}", ""]
    for sentence in sentences(simulated):
        lines += hanging(sentence, width)
    topologies, sizes = simulated.topologies, simulated.bytes or (0,)
    if len(sizes) > 1:
        lines += ["", *_swept(simulated, False)]
    if len(topologies) > 1:
        lines += ["", *_swept(simulated, True)]
    some = plots.detailed(simulated)
    if any(p.usable for p in some):
        lines += ["", *_table(some, len(sizes) > 1 or len(topologies) > 1)]
    for name, why in refused(simulated.predictions):
        lines += hanging(f"- {name}: {why}", width)
    lines += ["", *hanging(f"machine: {machine(simulated)}", width)]
    for note in simulated.notes:
        lines += hanging(f"- {note}", width)
    if page is not None:
        lines.append(f"  page: {page}")
    return "\n".join(line.rstrip() for line in lines)


def _table(ordered: Sequence[Prediction], named: bool) -> list[str]:
    usable = [p for p in ordered if p.usable]
    best = usable[0].seconds or 0.0
    spent = f"{'lat':>5}{'bw':>5}{'cont':>5}{'noise':>6}"
    spanned = any(p.low is not None for p in usable)
    names = 17 if spanned else 19
    head = f"  {'algorithm':<{names}}{'time':>9}"
    head += f"{LEVEL_TEXT:>14}{'to best':>8}" if spanned else f"{'to best':>8}{'depth':>6}{'ops':>6}"
    rows = [f"{head} {'by':<8}{spent}"]
    if named:
        first = usable[0]
        where = [binary(first.bytes)] if first.bytes else []
        where += [first.topology] if first.topology else []
        if where:
            rows.insert(0, f"  {', '.join(where)}:")
    for p in usable:
        assert p.seconds is not None
        to_best = f"{significant(p.seconds / best)} x" if best else "-"
        parts = "".join(f"{part:>{w}}" for part, w in zip(shares(p), (5, 5, 5, 6), strict=True))
        depth = "-" if p.depth is None else str(p.depth)
        row = f"  {_cut(p.algorithm, names - 1):<{names}}{quantity(p.seconds, 's'):>9}"
        if spanned:
            row += f"{interval(p.low, p.high, p.seconds, 's'):>14}{to_best:>8}"
        else:
            row += f"{to_best:>8}{depth:>6}{short(p.operations):>6}"
        rows.append(f"{row} {p.evaluator:<8}{parts}")
    return rows


def shares(p: Prediction) -> list[str]:
    """Return the parts of the time in whole percent."""
    if p.breakdown is None:
        return ["-"] * len(_PARTS)
    values = [getattr(p.breakdown, part) for part in _PARTS]
    total = sum(values)
    return [f"{round(100 * v / total)}%" if total > 0 else "-" for v in values]


def _swept(simulated: Simulated, by_scale: bool) -> list[str]:
    """Return one row per size (first topology) or topology (last size): all algorithms, or the best two."""
    some = plots.of_sweep(simulated, by_scale)
    drawn = lines(some, by_scale)
    xs = sorted({x for line in drawn.values() for x in line})
    names = list(drawn)
    head = "ranks" if by_scale else "size"
    label = number if by_scale else binary
    if len(names) <= MOST_COLUMNS:
        rows = [f"  {head:>10}" + "".join(f"{_cut(name, 16):>17}" for name in names)]
        for x in xs:
            times = [drawn[name].get(x) for name in names]
            known = [t for t in times if t is not None]
            cells = ["-" if t is None else quantity(t, "s") + (" *" if t == min(known) else "  ") for t in times]
            rows.append(f"  {label(x):>10}" + "".join(f"{cell:>17}" for cell in cells))
        return rows
    rows = [f"  {head:>10}  {'best':<20}{'time':>10}  {'next':<20}{'ratio':>8}"]
    for x in xs:
        here = sorted((line[x], name) for name, line in drawn.items() if x in line)
        (t, name), more = here[0], here[1:2]
        following = f"  {_cut(more[0][1], 19):<20}{significant(more[0][0] / t) + ' x':>8}" if more and t else ""
        rows.append(f"  {label(x):>10}  {_cut(name, 19):<20}{quantity(t, 's'):>10}{following}")
    return rows


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def share(part: float, whole: float) -> str:
    """Return a share in percent, as `71 %`; "-" if the whole is 0."""
    return percent(part / whole) if whole > 0 else "-"
