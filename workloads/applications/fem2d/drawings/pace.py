"""Pace: time per unknown and iteration on one core against the size, held against the bandwidth of memory."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from firstlight.judge import ranking
from firstlight.judge.verdict import Limit, Verified
from firstlight.report import frame, sentence, wording
from firstlight.report.frame import Drawing, View
from firstlight.units import binary, quantity

from . import methods

METRIC = "time_per_unknown_iteration"
MODEL = 85  # bytes an unknown and iteration in two passes over the finest level, the coarser levels with it
CEILING = "bandwidth"
Lines = dict[str, dict[int, Verified]]  # by variant and level


def drawings(view: View, name: str, figures: Sequence[Verified]) -> list[Drawing]:
    """Of one core; none where nothing ran on one alone."""
    wanted = {replace(f.identity, metric=METRIC) for f in figures if methods.cores(f) == 1 and not f.identity.mpi}
    here = [f for f in view.judgement.figures if isinstance(f, Verified) and f.identity in wanted]
    found = lines(here)
    if not found:
        return []
    levels = sorted({level for line in found.values() for level in line})
    xs = [methods.unknowns(v) for v in levels]
    drawn = frame.layout(methods.axis(levels), frame.log_axis("time per unknown and iteration (ns)", _all(found)))
    limit = memory(view)
    data = frame.ceiling_trace(_model(limit, xs), f"{MODEL} bytes from memory") if limit else []
    for k, (variant, line) in enumerate(found.items()):
        look = {"color": view.palette.colour(variant), "symbol": view.palette.symbol(k)}
        data.append(frame.line([(methods.unknowns(v), f) for v, f in line.items()], variant, look))
    marked = _mark_caches(view, drawn, found, figures, xs)
    title = _title(found, limit)
    return [Drawing(name, title, _caption(limit, marked), frame.HEAD, frame.table(here), data, drawn)]


def lines(figures: Sequence[Verified]) -> Lines:
    """The best toolchain of each variant at each level."""
    made: Lines = {}
    for f in figures:
        level = methods.level(f)
        if level is None or f.oversubscribed or f.estimate.median <= 0:
            continue
        line = made.setdefault(f.identity.variant, {})
        if level not in line or ranking.advantage(f, line[level]) > 1:
            line[level] = f
    return {v: dict(sorted(line.items())) for v, line in sorted(made.items())}


def memory(view: View) -> Limit | None:
    """The bandwidth of one core from memory: of the largest working set, if that is more than the last cache holds."""
    machine = view.judgement.run.machine
    some = [
        x
        for x in view.judgement.limits
        if (x.name, x.cores) == (CEILING, 1) and x.working_set and wording.level(x.working_set, machine) == "memory"
    ]
    return max(some, key=lambda x: x.working_set or 0.0, default=None)


def _model(limit: Limit, xs: Sequence[int]) -> list[frame.Limited]:
    value, fast, slow = (1e9 * MODEL / rate for rate in (limit.value, limit.high, limit.low))
    ends = [xs[0], xs[-1]] if len(xs) > 1 else [0.8 * xs[0], 1.25 * xs[0]]
    return [(float(x), value, fast, slow) for x in ends]


def _all(found: Lines) -> list[float]:
    return [f.estimate.median for line in found.values() for f in line.values()]


def _mark_caches(view: View, drawn: frame.Trace, found: Lines, figures: Sequence[Verified], xs: Sequence[int]) -> bool:
    """A line where the vectors outgrow each cache: their bytes are proportional to the unknowns."""
    some = next(iter(next(iter(found.values())).values()))
    level, machine = methods.level(some), view.judgement.run.machine
    if level is None or some.working_set <= 0:
        return False
    each = some.working_set / methods.unknowns(level)
    marked = False
    for number in sorted({c.level for c in machine.caches}):
        cache = machine.cache(number)
        if cache is not None and xs[0] < cache.size / each < xs[-1]:
            frame.mark(drawn, cache.size / each, f"L{number} {binary(cache.size)}")
            marked = True
    return marked


def _title(found: Lines, limit: Limit | None) -> str:
    """`An unknown costs one_pass 6.10 ns an iteration at level 7, 1.2 × what 85 bytes take from memory`"""
    of = {v: line for v, line in found.items() if methods.method(v) == methods.PUBLISHED} or found
    level = max(v for line in of.values() for v in line)
    best = ranking.best(line[level] for line in of.values() if level in line)
    if best is None:
        return "Time per unknown and iteration"
    value = best.estimate.median
    title = f"An unknown costs {best.identity.variant} {quantity(value, best.unit)} an iteration at level {level}"
    if limit is not None:
        model = 1e9 * MODEL / limit.value
        title += f", {sentence.ratio2(value / model)} what {MODEL} bytes take from memory ({quantity(model, 'ns')})"
    slow = [line[level] for line in of.values() if level in line and line[level] is not best]
    worst = max(slow, key=lambda f: f.estimate.median, default=None)
    if worst is not None and worst.estimate.median > 1.1 * value:
        title += f"; {worst.identity.variant} costs {sentence.ratio2(worst.estimate.median / value)} that"
    return title


def _caption(limit: Limit | None, marked: bool) -> str:
    parts = [
        "One core; both axes are logarithmic; a line is the best toolchain of its variant, bars are 95 % intervals."
    ]
    if limit is None:
        parts.append("No memory bandwidth was measured in this run: ./fl run stream fem2d draws the limit, too.")
    else:
        parts.append(
            f"Dashed: {MODEL} bytes an unknown and iteration (two passes over the finest level and the coarser levels) "
            f"at the {quantity(limit.value / 1e9, 'GB/s')} that one core gets from memory in this run; what fits a "
            "cache may be faster."
        )
    if marked:
        parts.append("Dotted verticals: where the vectors outgrow a cache.")
    return " ".join(parts)
