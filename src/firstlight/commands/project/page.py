"""The pages of a projection: its error within the run first, then the prediction for N nodes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from firstlight.commands.project import plot as plots
from firstlight.commands.project.answer import Application, LeftOut, Point, Projected
from firstlight.commands.project.machines import Fits
from firstlight.core import confidence
from firstlight.core.units import binary, count, interval, percent, quantity, significant
from firstlight.report import checkpoints, html
from firstlight.report.ink import hanging
from firstlight.results.store.durable import replace

_KINDS = {"processes": "from one core to several processes", "size": "from smaller sizes to the largest"}


def write(projected: Projected, path: Path) -> None:
    """Write the page, whole or not at all. Raises OSError."""
    replace(path, render(projected).encode())


def render(projected: Projected) -> str:
    """Return the HTML page."""
    drawings = plots.drawings(projected)
    page = {
        "projected": projected,
        "results": results(projected),
        "warnings": warnings(projected),
        "errors": errors(projected.left_out),
        "limits": limits(projected),
        "basis": basis(projected),
        "intervals": checkpoints.lines(projected.checkpoints) if projected.checkpoints else [],
        "interval_head": checkpoints.HEAD,
        "interval_rows": checkpoints.table(projected.checkpoints) if projected.checkpoints else [],
        "sources": [f"{name}: {source}" for name, source in projected.machine.sources.items()],
        "drawings": drawings,
    }
    return html.page_of(Path(__file__).with_suffix(".html.j2"), page, drawings)


def results(projected: Projected) -> list[str]:
    """Return the time of a step of each application on all nodes: of the same problem, and of one that grows."""
    lines = []
    for app in projected.applications:
        if app.refused:
            lines.append(f"{app.title}: not projected: {app.refused}")
            continue
        one, strong, weak = app.strong[0], app.strong[-1], app.weak[-1]
        gain = one.seconds / strong.seconds
        than = f"{significant(max(gain, 1 / gain))} x {'faster' if gain >= 1 else 'slower'} than one"
        lines.append(
            f"{app.title} on {count(strong.nodes, 'node')}: a step of one node's problem lasts {_step(strong)} "
            f"({than}); with the same bytes per node as on one node, {_step(weak)} ({percent(weak.efficiency)} of one "
            f"node's rate){_off(projected.left_out, app.title)}"
        )
    return lines


def _off(left_out: Sequence[LeftOut], application: str) -> str:
    """Return `; within the run the same projection is off by 8.0 % at worst`, "" if the run has nothing to compare."""
    some = [one.off for one in left_out if one.application == application]
    return f"; the same projection within the run has an error of at most {percent(max(some))}" if some else ""


def warnings(projected: Projected) -> list[str]:
    """Return what a reader must know before any number."""
    return [f"{projected.disturbed}; project a run from a quiet machine"] if projected.disturbed else []


def _step(p: Point) -> str:
    """Return `2.09 ms [2.05, 2.13]`; `2.09 ms` if the interval is narrower than the digits."""
    span = interval(p.low, p.high, p.seconds, "s", ", ")
    low, _, high = span.partition(", ")
    return quantity(p.seconds, "s") + (f" [{span}]" if low != high else "")


def errors(left_out: Sequence[LeftOut]) -> list[str]:
    """Return the error of the projection where the run has measurements, by application and kind."""
    by: dict[tuple[str, str], list[LeftOut]] = {}
    for one in left_out:
        by.setdefault((one.application, one.kind), []).append(one)
    lines = []
    for (name, kind), some in by.items():
        worst = max(some, key=lambda h: h.off)
        lines.append(
            f"{name}, {_KINDS[kind]}: the median of {count(len(some), 'projection')} is "
            f"{significant(median(h.factor for h in some))} x the measurement, and the median error is "
            f"{percent(median(h.off for h in some))}. The worst is {significant(worst.factor)} x "
            f"({worst.program} from {worst.fro}, {worst.processes} x {significant(worst.elements)} elements)"
        )
    if left_out:
        width = median(h.high / h.low for h in left_out)
        lines.append(
            f"the {confidence.INTERVAL} of the projection contains {sum(h.inside for h in left_out)} of "
            f"{count(len(left_out), 'measurement')}; the median interval spans a factor of {width:.2f}"
        )
    return lines or ["the error is unknown: the run has no multi-process figure and only one size"]


def limits(projected: Projected) -> list[str]:
    """Return what the limits of power and racks allow."""
    lines = [_fits(f, projected) for f in projected.fits]
    m = projected.machine
    if m.watts is not None:
        whole = projected.nodes * m.watts
        over = ""
        if projected.power is not None and whole > projected.power:
            over = f", {significant(whole / projected.power)} x the limit of {_watts(projected.power)}"
        lines.append(f"{projected.nodes} nodes of {_watts(m.watts)} ({m.watts_from}) require {_watts(whole)}{over}")
    else:
        lines.append(f"power: {m.watts_from}")
    return lines


def _fits(f: Fits, projected: Projected) -> str:
    words = {"simplistic": "simplistically scaled", "full": "fully scaled"}
    scaled = words[f.model] if projected.machine.year else "as measured"
    more = (
        f"one exaflop/s would require {significant(f.missing)} x this rate"
        if f.missing > 1
        else "one exaflop/s is within the limit"
    )
    racks = f" in {f.racks} racks" if f.racks else ""
    return (
        f"{scaled}: {f.nodes} nodes{racks}, limited by {f.by}, deliver {quantity(f.peak, 'flop/s')} at "
        f"{_watts(f.watts)}; {more}"
    )


def _watts(value: float) -> str:
    for times, unit in ((1e9, "GW"), (1e6, "MW"), (1e3, "kW")):
        if value >= times:
            return f"{significant(value / times)} {unit}"
    return f"{significant(value)} W"


def basis(projected: Projected) -> list[str]:
    m = projected.machine
    lines = [m.title]
    lines += [f"{quantity(m.flops, 'flop/s')} at most"] if m.flops else []
    lines += [f"{quantity(m.bandwidth, 'B/s')} to memory"] if m.bandwidth else []
    standing = [m.standing] if m.standing else []
    return [", ".join(lines), *standing, f"messages: {projected.messages_from}", *projected.notes]


HEAD = ("nodes", "elements", "step time", confidence.TEXT, "flop/s", "efficiency", "messages", "energy")


def row(p: Point) -> tuple[str, ...]:
    mark = "" if not p.beyond else " *"
    return (
        str(p.nodes),
        significant(p.elements),
        quantity(p.seconds, "s"),
        f"{quantity(p.low, 's')} – {quantity(p.high, 's')}",
        quantity(p.rate, "flop/s"),
        percent(p.efficiency),
        percent(p.share) + mark,
        "–" if p.joules is None else f"{significant(p.joules)} J",
    )


def summary(projected: Projected, page: Path | None, width: int = 80) -> str:
    """Return the page for the terminal."""
    lines = [f"firstlight · run {projected.run} on {projected.nodes} nodes, {projected.topology}", ""]
    for line in warnings(projected):
        lines += hanging(f"! {line}", width)
    for line in results(projected):
        lines += hanging(line, width)
    lines += [""] if projected.applications else []
    lines.append("  The same projection within the run, compared with measurements:")
    for line in errors(projected.left_out):
        lines += hanging(f"- {line}", width)
    lines += ["", "  Power and racks:"]
    for line in limits(projected):
        lines += hanging(f"- {line}", width)
    if projected.checkpoints is not None:
        lines += ["", "  Checkpoints:"]
        for line in checkpoints.lines(projected.checkpoints):
            lines += hanging(f"- {line}", width)
        lines += ["", *(f"  {row}" for row in checkpoints.text_table(projected.checkpoints))]
    for app in projected.applications:
        lines += ["", *_application(app, width)]
    lines.append("")
    for line in basis(projected):
        lines += hanging(f"- {line}", width)
    if page is not None:
        lines.append(f"  page: {page}")
    return "\n".join(line.rstrip() for line in lines)


def _application(app: Application, width: int) -> list[str]:
    lines = hanging(
        f"{app.title}: from {app.fro} on {count(app.cores, 'core')}, measured up to {binary(app.measured_to)} per node",
        width,
    )
    if app.refused:
        return [*lines, *hanging(f"not projected: {app.refused}", width)]
    widths = (9, 10, 10, 22, 15, 12, 10, 10)
    for name, points in (("weak", app.weak), ("strong", app.strong)):
        lines.append(f"  {name:<7}" + "".join(f"{h:>{w}}" for h, w in zip(HEAD, widths, strict=True)))
        lines += ["  " + " " * 7 + "".join(f"{c:>{w}}" for c, w in zip(row(p), widths, strict=True)) for p in points]
    if any(p.beyond for p in (*app.weak, *app.strong)):
        lines += hanging("* messages beyond the simulated networks", width)
    return lines
