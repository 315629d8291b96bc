"""Scaling: one problem on more and more cores (strong), problems that grow with the cores (weak), and the ideal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from firstlight.judge import ranking
from firstlight.judge.verdict import Verified
from firstlight.judge.words import listing
from firstlight.report import frame, sentence
from firstlight.report.frame import Drawing, Trace, View
from firstlight.units import percent, quantity

from . import methods
from .methods import Way

GROWTH = 4  # unknowns from one level to the next, and so cores along a weak line
Points = dict[int, Verified]  # by cores
IDEAL = "ideal"


def drawings(view: View, name: str, figures: Sequence[Verified]) -> list[Drawing]:
    """Strong and weak scaling of the published method, then of multigrid, where there are several numbers of cores."""
    drawn = []
    for method in (methods.PUBLISHED, methods.MULTIGRID):
        mine = [f for f in figures if methods.method(f.identity.variant) == method]
        drawn += _strong(view, f"{name}-{method.lower()}", method, mine)
        drawn += _weak(view, f"{name}-{method.lower()}-weak", method, mine)
    return drawn


def strong(figures: Sequence[Verified]) -> tuple[int, dict[Way, Points]]:
    """The largest level that was solved on several numbers of cores, and there by way the best on each number.

    A way begins at one core with its own time there; lines of a single point are left out, empty where none is left.
    """
    for level in sorted({v for f in figures if (v := methods.level(f)) is not None}, reverse=True):
        lines: dict[Way, Points] = {}
        for f in figures:
            if methods.level(f) == level:
                take(lines.setdefault(methods.way(f.identity), {}), methods.cores(f), f)
        one = methods.best(f for p in lines.values() for n, f in p.items() if n == 1)
        for points in lines.values():
            if one is not None:
                points.setdefault(1, one)  # threads of a process and ranks of threads begin with the best of one core
        several = {w: dict(sorted(p.items())) for w, p in sorted(lines.items()) if len(p) > 1}
        if several:
            return level, several
    return 0, {}


def weak(figures: Sequence[Verified]) -> dict[tuple[Way, int], Points]:
    """By way and the level of one core's share: (level + k) on 4^k cores, for chains of at least two."""
    at: dict[tuple[Way, int], Points] = {}
    for f in figures:
        level, n = methods.level(f), methods.cores(f)
        k = round(n.bit_length() / 2 - 0.5)
        if level is not None and n == GROWTH**k and level >= k:
            take(at.setdefault((methods.way(f.identity), level - k), {}), n, f)
    return {key: dict(sorted(p.items())) for key, p in sorted(at.items()) if len(p) > 1}


def take(points: Points, n: int, f: Verified) -> None:
    """Keep the better; a figure that may be ranked goes before one that may not."""
    known = points.get(n)
    if known is None or (f.oversubscribed, f.estimate.median) < (known.oversubscribed, known.estimate.median):
        points[n] = f


def _strong(view: View, name: str, method: str, figures: Sequence[Verified]) -> list[Drawing]:
    level, lines = strong(figures)
    if not lines:
        return []
    base = min((p[min(p)] for p in lines.values()), key=lambda f: (methods.cores(f), f.estimate.median))
    first = methods.cores(base)
    xs = sorted({n for p in lines.values() for n in p})
    ideal = [base.estimate.median * first / n for n in xs]
    data = [_ideal(xs, ideal, f"{IDEAL}: {quantity(base.estimate.median, base.unit)} / cores")]
    data += [_line(view, way.words(view.judgement.run), p, k) for k, (way, p) in enumerate(lines.items())]
    drawn = frame.layout(_cores(xs), frame.log_axis(f"time to tolerance ({base.unit})", [*ideal, *_values(lines)]))
    title = f"{method}, level {level} ({methods.amount(methods.unknowns(level))} unknowns): {_told(view, lines, base)}"
    caption = (
        "Strong scaling: the same problem on more cores. Both axes are logarithmic; a point is the best variant and "
        "toolchain, bars are 95 % intervals. Dashed: the best time on one core shared out ideally." + _crowded(lines)
    )
    used = [f for f in figures if methods.level(f) == level]
    return [Drawing(name, title, caption, frame.HEAD, frame.table(used), data, drawn)]


def _told(view: View, lines: Mapping[Way, Points], base: Verified) -> str:
    """`2 cores gain 1.9 × with threads and 1.8 × with Open MPI`: the best way first, against the best time on one."""
    first = methods.cores(base)
    gains: dict[int, list[tuple[float, str]]] = {}
    for way, p in lines.items():
        last = max((n for n, f in p.items() if not f.oversubscribed), default=0)
        if last > first:
            gains.setdefault(last, []).append((ranking.advantage(p[last], base), way.words(view.judgement.run)))
    parts = []
    for last, some in sorted(gains.items(), reverse=True):
        ordered = sorted(some, reverse=True)
        won = [f"{sentence.ratio2(gain)} with {who}" for gain, who in ordered if gain > 1]
        lost = [f"{who} ({sentence.ratio2(1 / gain)} as long)" for gain, who in ordered if gain <= 1]
        said = [f"gain {listing(won)}"] * bool(won) + [f"gain nothing with {listing(lost)}"] * bool(lost)
        parts.append(f"{last} cores " + ", ".join(said))
    return "; ".join(parts) or "more ranks and threads than processors: shown, not ranked"


def _weak(view: View, name: str, method: str, figures: Sequence[Verified]) -> list[Drawing]:
    chains = weak(figures)
    if not chains:
        return []
    largest: dict[Way, tuple[int, Points]] = {}
    for (way, level), points in chains.items():
        known = largest.get(way)
        if known is None or (max(points), level) > (max(known[1]), known[0]):
            largest[way] = (level, points)
    run = view.judgement.run
    xs = sorted({n for _, p in largest.values() for n in p})
    data: list[Trace] = []
    told = []
    for k, (way, (level, p)) in enumerate(largest.items()):
        label = f"{way.words(run)}, {methods.amount(methods.unknowns(level))} unknowns a core"
        data.append(_line(view, label, p, k, way.words(run)))
        first, last = p[min(p)], p[max(p)]
        data.append(_ideal(list(p), [first.estimate.median] * len(p), "ideal: as long as on the fewest", k == 0))
        share = first.estimate.median / last.estimate.median
        beyond = ", more than there are processors" if last.oversubscribed else ""
        told.append(f"{way.words(run)} keeps {percent(share)} of its pace on {max(p)} cores{beyond}")
    some = next(iter(largest.values()))[1]
    unit = next(iter(some.values())).unit
    values = [f.estimate.median for _, p in largest.values() for f in p.values()]
    drawn = frame.layout(_cores(xs), frame.log_axis(f"time to tolerance ({unit})", values))
    caption = (
        "Weak scaling: four times the unknowns (one level more) on four times the cores. The ideal is flat, but for an "
        "iteration more or less; bars are 95 % intervals." + _crowded({w: p for w, (_, p) in largest.items()})
    )
    used = [f for points in chains.values() for f in points.values()]
    return [Drawing(name, f"{method}: {'; '.join(told)}", caption, frame.HEAD, frame.table(used), data, drawn)]


def _line(view: View, label: str, points: Points, k: int, key: str = "") -> Trace:
    look = {"color": view.palette.colour(key or label), "symbol": view.palette.symbol(k)}
    ordered = sorted(points.items())
    trace = frame.line([(float(n), f) for n, f in ordered], label, look)
    symbol = look["symbol"]
    trace["marker"]["symbol"] = [f"{symbol}-open" if f.oversubscribed else symbol for _, f in ordered]
    return trace


def _ideal(xs: Sequence[int], ys: Sequence[float], label: str, legend: bool = True) -> Trace:
    return {
        "type": "scatter", "mode": "lines", "name": frame.text(label), "x": list(xs), "y": list(ys),
        "hoverinfo": "name", "showlegend": legend, "legendgroup": IDEAL,
        "line": {"color": "@ghost", "width": 1.5, "dash": "dash"},
    }  # fmt: skip


def _cores(xs: Sequence[int]) -> dict[str, object]:
    step = -(-len(xs) // 12)
    return {
        "title": {"text": "cores (ranks x threads)"}, "type": "log", "tickvals": list(xs)[::step],
        "ticktext": [str(n) for n in xs][::step],
    }  # fmt: skip


def _values(lines: Mapping[Way, Points]) -> list[float]:
    return [f.estimate.median for p in lines.values() for f in p.values()]


def _crowded(lines: Mapping[Way, Points]) -> str:
    some = any(f.oversubscribed for p in lines.values() for f in p.values())
    return " Open symbols: more ranks and threads than processors; shown, never ranked." if some else ""
