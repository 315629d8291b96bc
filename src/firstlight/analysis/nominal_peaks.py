"""Nominal peaks: how far the measured arithmetic and memory bandwidth are from those of the data sheets.

The nominal arithmetic is cores x clock x numbers in a vector x multiply-add units x 2. The clock is the highest that
the system reports: with a lower one, cores that speed up would exceed their peak. A share above 1 is never shown. A
figure above the nominal peak shows which clock it requires.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from firstlight.analysis import Judgement, provenance
from firstlight.analysis.ceilings import CLEAR, cores, total
from firstlight.analysis.levels import MEMORY
from firstlight.analysis.verdict import Verified
from firstlight.core.units import convert, parts, percent, quantity, scale, significant
from firstlight.model.catalogue import Workload
from firstlight.model.plan.selectors import in_row, selects
from firstlight.system.machine import Arithmetic, Machine, hardware

FLOPS = "flops_64"  # the ceiling of arithmetic whose nominal peak is known
ROUNDED = 1.005  # a share of 100.4 % is printed as 100 %
HIGHEST = 6.5e9  # Hz; no processor has a higher clock
CLOCKS = {"highest": "the maximum clock", "base": "the base clock", "site": "the clock of the site file", "": ""}


def sentence(judgement: Judgement, workloads: Mapping[str, Workload]) -> str:
    """Return measured arithmetic and memory bandwidth with their shares of nominal; "" if neither was measured."""
    machine = judgement.run.machine
    some = [_arithmetic(judgement, workloads), _memory(judgement, workloads)]
    if any(some) and any(f.identity.placement.nodes > 1 for f in judgement.figures):
        some.append(_links(machine))
    old = " (nominal unknown: an older firstlight recorded this run)" if machine.hardware is None else ""
    return "; ".join(filter(None, some)) + (old if any(some) else "")


def nominal(machine: Machine, n: int) -> float | None:
    """Return the nominal operations per second of one core (that of serial programs) or of all cores; None: unknown."""
    some = machine.hardware.arithmetic if machine.hardware else ()
    rates = [(1 if n == 1 else one.cores, one.rate) for one in (some[:1] if n == 1 else some)]
    known = [k * rate for k, rate in rates if rate is not None]
    return sum(known) if known and len(known) == len(rates) else None


def _arithmetic(judgement: Judgement, workloads: Mapping[str, Workload]) -> str:
    machine = judgement.run.machine
    figures = _of_one_and_all(judgement, workloads, {FLOPS})
    if not figures:
        return ""
    known = {n: rate for n in figures if (rate := nominal(machine, n)) is not None}
    texts = [_compared(f, known.get(n), f"nominal_flops({n})", "flop/s") + _on(n, f) for n, f in figures.items()]
    if known:
        texts[len(known) - 1] += f", nominal at {_clock(machine, len(known))}"
        above = next((n for n, rate in known.items() if _ratio(figures[n], rate, "flop/s") >= ROUNDED), None)
        texts[len(known) - 1] += "" if above is None else f": {_higher(machine, figures[above], above)}"
    if len(known) < len(figures) and machine.hardware is not None:
        texts[-1] += f" (nominal unknown: {_why(machine, figures)})"
    return f"arithmetic {', '.join(texts)}"


def _memory(judgement: Judgement, workloads: Mapping[str, Workload]) -> str:
    machine = judgement.run.machine
    names = {b.ceiling for w in workloads.values() for b in w.bounded_by if b.quantity == "bytes" and not b.device}
    figures = _of_one_and_all(judgement, workloads, names, MEMORY)
    every = figures.pop(machine.cores, None)
    peak = machine.hardware.memory if machine.hardware else None
    texts = [] if every is None else [_compared(every, peak, "nominal_memory()", "B/s") + _on(machine.cores, every)]
    texts += [provenance.median(f) + _on(n, f) for n, f in figures.items()]
    if not texts:
        return ""
    if machine.hardware is not None and peak is None:
        texts[-1] += " (nominal unknown: only root can read the memory speed)"
    elif every is not None and peak is not None and _ratio(every, peak, "B/s") >= ROUNDED:
        texts[-1] += ": the entry `memory` of the site file is too low"
    return f"memory {', '.join(texts)}"


def _links(machine: Machine) -> str:
    links = machine.hardware.links if machine.hardware else ()
    if not links:
        return "" if machine.hardware is None else "network links: nominal rate unknown"
    rate = provenance.number(quantity(links[0].rate, "bit/s"), "link_rate()", "bit/s")
    many = provenance.number(str(links[0].count), "link_count()")
    return f"network: {many} {'links' if links[0].count > 1 else 'link'} of {rate} on a node"


def _of_one_and_all(
    judgement: Judgement, workloads: Mapping[str, Workload], ceilings: Collection[str], level: str = ""
) -> dict[int, Verified]:
    """Return the best figure of one core and that of all cores of a node, by the number of cores: those that headlines
    of the page show, if there are any.
    """
    wanted = dict.fromkeys((1, judgement.run.machine.cores))
    found = {n: _providing(judgement, workloads, ceilings, n, level) for n in wanted}
    return {n: max(some, key=lambda f: f.estimate.median) for n, some in found.items() if some}


def _providing(
    judgement: Judgement, workloads: Mapping[str, Workload], ceilings: Collection[str], n: int, level: str
) -> Sequence[Verified]:
    """Return the figures on `n` cores of one node that provide one of these ceilings, with data in that level."""
    machine, hierarchy, found = judgement.run.machine, judgement.hierarchy, []
    for f in judgement.figures:
        if not isinstance(f, Verified) or f.oversubscribed or f.observed or f.better != "higher":
            continue
        i, workload = f.identity, workloads.get(f.identity.workload)
        if workload is None or cores(i) != n or i.placement.nodes != 1:
            continue
        if level and total(f) < CLEAR * hierarchy.before(level, n):
            continue
        if any(p.ceiling in ceilings and p.metric == i.metric and selects(i, p, workload, machine)
               for p in workload.provides if not p.device):  # fmt: skip
            found.append(f)
    return [f for f in found if _headline(f, workloads[f.identity.workload], machine)] or found


def _headline(f: Verified, workload: Workload, machine: Machine) -> bool:
    return any(row.headline and in_row(f.identity, row, workload, machine) for row in workload.rows)


# --- words -----------------------------------------------------------------------------------------------------------


def _ratio(f: Verified, peak: float, unit: str) -> float:
    return (convert(f.estimate.median, f.unit, unit) or 0.0) / peak


def _compared(f: Verified, peak: float | None, formula: str, unit: str) -> str:
    """Return `58.2 of 59.2 Gflop/s (98 %)`, `58.2 Gflop/s (nominal 41.6 Gflop/s)` or `58.2 Gflop/s`."""
    if peak is None:
        return provenance.median(f)
    printed = provenance.number(quantity(peak, unit), formula, unit)
    by = convert(1.0, f.unit, unit)
    share = provenance.number(percent(_ratio(f, peak, unit)), f"{by!r} * a / {formula}", provenance.PLAIN, (f,))
    if _ratio(f, peak, unit) >= ROUNDED:
        return f"{provenance.median(f)} (nominal {printed})"
    if parts(f.estimate.median, f.unit)[1] != parts(peak, unit)[1]:
        return f"{provenance.median(f)} of {printed} ({share})"
    factor, shown = scale(f.estimate.median, f.unit)
    bare = provenance.number(significant(factor * f.estimate.median), "a", shown, (f,))
    return f"{bare} of {printed} ({share})"


def _on(n: int, f: Verified) -> str:
    """Return ` on 2 cores (104 – 106)`, with the interval or why there is none, and the two states if there are two."""
    place = " on one core" if n == 1 else f" on {n} cores"
    known = ["too few launches for an interval" if f.estimate.low is None else provenance.span(f, " – ")]
    known += [f"bimodal: {provenance.two_states(f)}"] if f.states else []
    return f"{place} ({'; '.join(known)})"


def _clock(machine: Machine, known: int) -> str:
    """Return `the maximum clock, 3.7 GHz`; without the number if it is another one for some of the cores."""
    some: Sequence[Arithmetic] = machine.hardware.arithmetic if machine.hardware else ()
    first = some[0]
    if known > 1 and any(one.clock != first.clock for one in some):
        return f"{CLOCKS[first.clock_of]} of each core"
    return f"{CLOCKS[first.clock_of]}, {provenance.number(quantity(first.clock or 0.0, 'Hz'), 'clock()', 'Hz')}"


def _higher(machine: Machine, f: Verified, n: int) -> str:
    """Return why a figure is above the nominal peak: the clock that it requires, if a processor can have it."""
    peak, first = nominal(machine, n), machine.hardware.arithmetic[0] if machine.hardware else None
    assert peak is not None and first is not None and first.clock is not None
    hertz = first.clock * _ratio(f, peak, "flop/s")
    if hertz > HIGHEST:
        return "no processor runs at that clock, so the system reports the wrong processor"
    by = convert(1.0, f.unit, "flop/s")
    needed = provenance.number(quantity(hertz, "Hz"), f"{by!r} * a / nominal_flops({n}) * clock()", "Hz", (f,))
    return f"the actual clock was at least {needed}"


def _why(machine: Machine, figures: Mapping[int, Verified]) -> str:
    """Return why the nominal peak is not known, and whether no clock explains the figure of one core."""
    why = hardware.unknown(machine)
    first = machine.hardware.arithmetic[0] if machine.hardware else None
    f = figures.get(1)
    if f is None or first is None or not first.per_cycle or first.clock:
        return why
    hertz = (convert(f.estimate.median, f.unit, "flop/s") or 0.0) / first.per_cycle
    return f"{why}, and the system reports the wrong processor" if hertz > HIGHEST else why
