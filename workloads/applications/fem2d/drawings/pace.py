"""Draw pace: time per unknown and iteration on one core against the size, compared with its ceiling."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from firstlight.analysis import provenance, ranking
from firstlight.analysis.verdict import Verified
from firstlight.core import confidence
from firstlight.report import frame, sentence
from firstlight.report.frame import Drawing, View

from . import methods

METRIC = "time_per_unknown_iteration"
Lines = dict[str, dict[int, Verified]]  # by variant and level
Floors = dict[int, tuple[float, float, float]]  # by level: value, low, high in the unit of the lines


def drawings(view: View, name: str, figures: Sequence[Verified]) -> list[Drawing]:
    """Draw the results of one core; return nothing if no program ran on one core alone."""
    wanted = {replace(f.identity, metric=METRIC) for f in figures if methods.cores(f) == 1 and not f.identity.mpi}
    here = [f for f in view.judgement.figures if isinstance(f, Verified) and f.identity in wanted]
    found = lines(here)
    if not found:
        return []
    levels = sorted({level for line in found.values() for level in line})
    xs = [methods.unknowns(v) for v in levels]
    drawn = frame.layout(methods.axis(levels), frame.log_axis("time per unknown and iteration (ns)"))
    published = {v: line for v, line in found.items() if methods.method(v) == methods.PUBLISHED}
    floor = floors(published, figures)
    data = frame.ceiling_trace(_model(floor), "ceiling measured in this run") if floor else []
    for k, (variant, line) in enumerate(found.items()):
        look = {"color": view.palette.colour(variant), "symbol": view.palette.symbol(k)}
        data.append(frame.line([(methods.unknowns(v), f) for v, f in line.items()], variant, look))
    marked = _mark_caches(view, drawn, found, xs)
    title = _title(found, figures)
    return [Drawing(name, title, _caption(floor, marked), frame.HEAD, frame.table(here), data, drawn)]


def lines(figures: Sequence[Verified]) -> Lines:
    """Return the figure of the best toolchain for each variant and level."""
    made: Lines = {}
    for f in figures:
        level = methods.level(f)
        if level is None or f.oversubscribed or f.estimate.median <= 0:
            continue
        line = made.setdefault(f.identity.variant, {})
        if level not in line or ranking.advantage(f, line[level]) > 1:
            line[level] = f
    return {v: dict(sorted(line.items())) for v, line in sorted(made.items())}


def floors(found: Lines, figures: Sequence[Verified]) -> Floors:
    """Return by level the least time per unknown and iteration that the measured ceilings allow any of these methods.

    It scales the ceiling of the time to the tolerance, so that a figure has the same share of its ceiling everywhere.
    """
    made: Floors = {}
    for level in sorted({level for line in found.values() for level in line}):
        ends = []
        for f in (line[level] for line in found.values() if level in line):
            whole = next((t for t in figures if t.identity == replace(f.identity, metric=t.identity.metric)), None)
            limit = whole.ceiling if whole is not None else None
            if whole is not None and limit is not None:
                each = f.estimate.median / whole.estimate.median
                ends.append((limit.value * each, limit.low * each, limit.high * each))
        if ends:
            made[level] = min(ends)
    return made


def _model(floor: Floors) -> list[frame.Limited]:
    points = [(float(methods.unknowns(v)), *ends) for v, ends in floor.items()]
    if len(points) > 1:
        return points
    return [(k * x, value, low, high) for x, value, low, high in points for k in (0.8, 1.25)]


def _mark_caches(view: View, drawn: frame.Trace, found: Lines, xs: Sequence[int]) -> bool:
    """Mark where vectors, proportional to the unknowns, outgrow each cache; return whether a mark is in the plot."""
    some = next(iter(next(iter(found.values())).values()))
    level = methods.level(some)
    if level is None or some.working_set <= 0:
        return False
    each = some.working_set / methods.unknowns(level)
    ends = [(cache.capacity / each, cache.label) for cache in view.levels.levels]
    frame.marks(drawn, ends, xs[0], xs[-1])
    return any(xs[0] < at < xs[-1] for at, _ in ends)


def _title(found: Lines, figures: Sequence[Verified]) -> str:
    """Return `one_pass needs 6.10 ns per unknown and iteration at level 7, 83 % of its ceiling`."""
    of = {v: line for v, line in found.items() if methods.method(v) == methods.PUBLISHED} or found
    level = max(v for line in of.values() for v in line)
    best = ranking.best(line[level] for line in of.values() if level in line)
    if best is None:
        return "Time per unknown and iteration"
    value = best.estimate.median
    title = f"{best.identity.variant} needs {provenance.median(best)} per unknown and iteration at level {level}"
    whole = next((t for t in figures if t.identity == replace(best.identity, metric=t.identity.metric)), None)
    if whole is not None and whole.of_ceiling is not None:
        title += f", {provenance.share(whole)} of its ceiling"
    slow = [line[level] for line in of.values() if level in line and line[level] is not best]
    worst = max(slow, key=lambda f: f.estimate.median, default=None)
    if worst is not None and worst.estimate.median > 1.1 * value:
        title += f"; {worst.identity.variant} needs {sentence.ahead(best, worst)} this time"
    return title


def _caption(floor: Floors, marked: bool) -> str:
    parts = [f"One core, the best toolchain of each variant; error bars are {confidence.INTERVALS}."]
    if floor:
        parts.append(
            "Dashed: the time to move the bytes of the published method's finest level (56 per unknown and "
            "iteration) at the bandwidth of the level of memory that contains them. The limit does not include "
            "coarser levels, which may be in a cache."
        )
    else:
        parts.append("This run did not measure the memory bandwidth: ./fl run stream fem2d also draws the limit.")
    if marked:
        parts.append("Dotted verticals: where the vectors exceed a cache.")
    return " ".join(parts)
