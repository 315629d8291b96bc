"""Draw Hartree-Fock as R4 reports it: gains by class of integrals and by input, and the registers of the kernels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from firstlight.analysis import formatting, provenance, ranking, states
from firstlight.analysis.formatting import listing
from firstlight.analysis.verdict import Figure, Verified
from firstlight.core import confidence
from firstlight.core.heritage import Entry
from firstlight.core.units import convert, quantity, ratio
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import answers, frame, observed, sentence
from firstlight.report.frame import Drawing, Trace, View
from firstlight.results.record import PHASE

SERIAL = "serial"
CLASSES = {"ss,ss": "ssss", "ps,ss": "psss", "ps,ps": "psps", "pp,ss": "ppss", "pp,ps": "ppps", "pp,pp": "pppp"}
ONE_CORE = "1 core"
"""R4 compares its other figures with figures of this name."""

Case = tuple[tuple[str, int | float | str], ...]


class Gain(NamedTuple):
    """A class of integrals in one variant, and its speedup over the serial variant."""

    name: str
    figure: Verified  # of a quartet
    serial: Verified
    seconds: float | None  # of a matrix, on the slowest rank

    @property
    def times(self) -> float:
        return ranking.advantage(self.figure, self.serial)


def classes(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Draw gains by class in the case that most variants have. The table also has times, with R4's alongside."""
    case, best = _fullest(view, workload, plot)
    serial = best.get(SERIAL)
    if serial is None:
        return []
    gains = {v: found for v, f in best.items() if (found := _gains(view, f, serial))}
    shown = {v: some for v, some in gains.items() if v != SERIAL}
    published = view.heritage.matching(workload.name, "time")
    data = [_line(view, v, some, k) for k, (v, some) in enumerate(shown.items())]
    data += _published(published) if data else []
    drawn = frame.layout(
        {"type": "category", "title": {"text": "class of integrals"}},
        frame.log_axis("speedup over the serial variant, higher is better"),
    )
    caption = (
        f"Speedup of each class over the serial variant of the same run, for one matrix G ({formatting.values(case)}); "
        f"medians with {confidence.INTERVALS}. Grey: R4's GPU relative to one core, for another input; the table "
        f"shows the times."
    )
    rows = [_row(v, g) for v, some in gains.items() for g in some] + [_row_of(e, published) for e in published]
    head = ("class", "program", "time of a matrix", "a quartet", confidence.INTERVAL, "over one core")
    subject = sentence.capital(plot.subject or "classes of integrals")
    return [Drawing(name, f"{subject}: {_message(shown, gains)}", caption, head, rows, data if shown else [], drawn)]


def inputs(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Return a table that compares the serial variant with the best of all, for each molecule and basis."""
    by_case = _by_case(view, workload, plot)
    pairs: list[tuple[Verified, Verified]] = []
    rows: list[tuple[str, ...]] = []
    for case, found in by_case.items():
        best, serial = ranking.best(list(found.values())), found.get(SERIAL)
        if best is None:
            continue
        alone = best is serial or serial is None
        if serial is not None and not alone:
            pairs.append((best, serial))
        cycles = observed.other(view, best, "iterations")
        rows.append(
            (
                formatting.values(case),
                quantity(serial.estimate.median, serial.unit) if serial else "–",
                ", ".join(p for p in (best.identity.variant, formatting.where(best.identity.placement)) if p),
                quantity(best.estimate.median, best.unit),
                "–" if alone or serial is None else sentence.behind(best, serial),
                f"{cycles.estimate.median:.0f}" if cycles else "–",
            )
        )
    if not rows:
        return []
    gained = f"the best variant is {sentence.span(pairs)} faster than the serial one" if pairs else "one variant each"
    head = ("input", "serial", "best", "time", "gain", "iterations")
    title = f"{sentence.capital(plot.subject or 'input by input')}: {gained}"
    return [
        Drawing(
            name, title, "Medians over launches. An energy requires a complete program with many matrices.", head, rows
        )
    ]


def kernels(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Return a table of each kernel's registers and spills, as the compiler reports them, and R4's. It needs no GPU."""
    run = view.judgement.run
    rows: dict[tuple[str, ...], None] = {}
    spilling: dict[str, dict[str, None]] = {}
    for build in run.builds:
        for kernel in build.kernels if build.program.workload == workload.name else ():
            part, of = _part(kernel.name), _class(kernel.name)
            numbers = (kernel.registers, kernel.shared, kernel.spill_stores, kernel.spill_loads)
            row = (of, f"{build.program.variant}, {part}", kernel.architecture, *map(str, numbers))
            rows[row] = None
            if kernel.spill_stores and of:
                spilling.setdefault(of, {})[build.program.variant] = None
    if not rows:
        return []
    of_then = {e.metric: e for e in view.heritage.entries if e.workload == workload.name and e.metric != "time"}
    then = [_spilled(view, workload, c) for c in CLASSES] if "registers" in of_then else []
    spills = [f"({of}) in {listing(sorted(variants))}" for of, variants in sorted(spilling.items())]
    message = f"registers are spilled by {'; '.join(spills)}; all others fit" if spills else "no kernel spills"
    ran = "" if run.machine.gpus else " This run had no GPU, so none of these kernels ran."
    caption = "The compiler's report for this build: registers per thread, bytes of shared memory per block, and bytes "
    caption += f"stored and loaded per thread for lack of registers.{ran}"
    head = ("class", "kernel", "made for", "registers", "shared memory", "spill stores", "spill loads")
    title = f"{sentence.capital(plot.subject or 'registers')}: {message}"
    return [Drawing(name, title, caption, head, sorted(rows, key=_by_class) + then)]


def _by_case(view: View, workload: Workload, plot: Plot) -> dict[Case, dict[str, Verified]]:
    """Return the best figure of each variant, on processors or GPUs, in each case that the plot selects."""
    of: dict[Case, list[Verified]] = {}
    for f in answers.verified(_figures(view, workload, plot)):
        of.setdefault(f.identity.parameters, []).append(f)
    by_variant = answers.chooser("variant")
    return {c: {f.identity.variant: f for f in answers.best_of_each(some, by_variant)} for c, some in of.items()}


def _figures(view: View, workload: Workload, plot: Plot) -> Iterable[Figure]:
    for f in view.judgement.figures:
        here = f.identity.workload == workload.name and f.identity.metric == plot.metric
        if here and all(dict(f.identity.parameters).get(k) == v for k, v in plot.where.items()):
            yield f


def _fullest(view: View, workload: Workload, plot: Plot) -> tuple[Case, dict[str, Verified]]:
    """Return the case with a serial and the most other variants, and their figures; the last of several such cases."""
    found = {c: best for c, best in _by_case(view, workload, plot).items() if SERIAL in best}
    most = max(map(len, found.values()), default=0)
    return next(((c, best) for c, best in reversed(found.items()) if len(best) == most), ((), {}))


def _gains(view: View, figure: Verified, serial: Verified) -> list[Gain]:
    made = []
    for name, key in CLASSES.items():
        mine, its = (observed.other(view, f, f"{key}_time") for f in (figure, serial))
        ranks = observed.over_ranks(view, figure, PHASE + key)
        if mine is not None and its is not None:
            made.append(Gain(name, mine, its, ranks[2] if ranks else None))
    return made


def _message(shown: dict[str, list[Gain]], gains: dict[str, list[Gain]]) -> str:
    if not shown:
        return "only the serial variant was measured" if gains else "no program marked the classes"
    best = max(shown, key=lambda v: max(g.times for g in shown[v]))
    ordered = sorted(shown[best], key=lambda g: g.times)
    low, high = ordered[0], ordered[-1]
    most = f"{sentence.ahead(high.figure, high.serial)} in {high.name}"
    least = f"{sentence.ahead(low.figure, low.serial)} in {low.name}"
    if low is high:
        return f"{best} gains {most}"
    if high.times < 1:
        return f"{best} is slower than the serial variant: {least} to {most}"
    return f"{best} gains {most}, but is slower at {least}" if low.times < 1 else f"{best} gains from {least} to {most}"


def _line(view: View, variant: str, gains: Sequence[Gain], k: int) -> Trace:
    colour = view.palette.colour(variant)
    bars = [states.ratio(g.figure, g.serial, confidence.LEVEL) for g in gains]
    return {
        "type": "scatter", "mode": "lines+markers", "name": frame.text(variant),
        "x": [g.name for g in gains], "y": [g.times for g in gains],
        "error_y": {"width": 3, "color": colour,
                    "array": [max(0.0, (b.high or g.times) - g.times) for b, g in zip(bars, gains, strict=True)],
                    "arrayminus": [max(0.0, g.times - (b.low or g.times)) for b, g in zip(bars, gains, strict=True)]},
        "hoverinfo": "text", "hovertext": [f"<b>{ratio(g.times)}</b><br>" + frame.hover(g.figure) for g in gains],
        "line": {"color": colour, "width": 2}, "marker": {"color": colour, "symbol": view.palette.symbol(k), "size": 8},
    }  # fmt: skip


def _published(entries: Sequence[Entry]) -> list[Trace]:
    """Return R4's gains over its one core, one grey line per machine."""
    lines: dict[str, dict[str, float]] = {}
    for e in entries:
        if e.variant != ONE_CORE and (gain := _gain_of(e, entries)):
            lines.setdefault(_machine(e), {})[str(e.parameters["class"])] = gain
    return [
        {
            "type": "scatter", "mode": "lines+text", "name": "R4, as published", "legendgroup": "ghosts",
            "legendrank": 2000, "showlegend": k == 0, "x": list(line), "y": list(line.values()),
            "text": [*([""] * (len(line) - 1)), frame.text(label)],
            "textposition": "top left" if len(line) > 1 else "top right", "textfont": {"color": "@ghost"},
            "hoverinfo": "text", "hovertext": [f"{frame.text(label)}: {ratio(y)}" for y in line.values()],
            "line": {"color": "@ghost", "width": 1, "dash": "dot"},
        }
        for k, (label, line) in enumerate(lines.items())
    ]  # fmt: skip


def _machine(entry: Entry) -> str:
    return f"{entry.machine}, {entry.variant} ({entry.year})"


def _gain_of(entry: Entry, entries: Sequence[Entry]) -> float | None:
    of = entry.parameters.get("class")
    one = next((e.value for e in entries if e.variant == ONE_CORE and e.parameters.get("class") == of), None)
    return one / entry.value if one and entry.value > 0 and of in CLASSES else None


def _row(variant: str, gain: Gain) -> tuple[str, ...]:
    f, e = gain.figure, gain.figure.estimate
    i = f.identity
    program = ", ".join(p for p in (variant, i.toolchain, i.mpi, formatting.where(i.placement)) if p)
    whole = "–" if gain.seconds is None else quantity(gain.seconds, "s")
    over = "–" if variant == SERIAL else ratio(gain.times)
    return (gain.name, program, whole, quantity(e.median, f.unit), provenance.settle(provenance.span(f)), over)


def _row_of(entry: Entry, entries: Sequence[Entry]) -> tuple[str, ...]:
    gain = _gain_of(entry, entries)
    over = "–" if entry.variant == ONE_CORE or gain is None else ratio(gain)
    seconds = convert(entry.value, entry.unit, "s")
    time = quantity(seconds, "s") if seconds is not None else f"{entry.value:g} {entry.unit}"
    return (str(entry.parameters.get("class", "–")), f"R4: {_machine(entry)}", time, "–", "–", over)


def _class(kernel: str) -> str:
    """Return `pp,ps` for a kernel of two p functions in the bra and one in the ket; "" for another kernel."""
    found = re.search(r"<([0-2]), ?([0-2])[^<>]*> ?>?$", kernel)
    return f"{_pair(found[1])},{_pair(found[2])}" if found else ""


def _pair(p: str) -> str:
    return {"0": "ss", "1": "ps", "2": "pp"}[p]


def _part(kernel: str) -> str:
    """Return the name of the body of a kernel: `Quartets`, `Store`, `GatherRows`."""
    found = re.search(r"(\w+)<[0-2], ?[0-2][^<>]*> ?>?$", kernel)
    return found[1] if found else kernel


def _by_class(row: tuple[str, ...]) -> tuple[object, ...]:
    return (list(CLASSES).index(row[0]) if row[0] in CLASSES else len(CLASSES), *row)


def _spilled(view: View, workload: Workload, of: str) -> tuple[str, ...]:
    """Return R4's numbers of a class as a table row."""
    found = {
        e.metric: e for e in view.heritage.entries if e.workload == workload.name and e.parameters.get("class") == of
    }
    names = ("registers", "shared_memory", "spill_stores", "spill_loads")
    numbers = (f"{found[n].value:g}" if n in found else "–" for n in names)
    return (of, f"R4, before tuning ({found['registers'].year})" if "registers" in found else "R4", "GPU", *numbers)
