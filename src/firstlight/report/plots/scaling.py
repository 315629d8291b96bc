"""Scaling: one problem on more and more cores (strong), problems that grow with the cores (weak), and the ideal.

`x` is the parameter that makes the problem larger; `where` fixes the others. A line is one team: threads, the ranks of
an MPI library, or its ranks of threads. It shows the best of several variants and toolchains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from msgspec.structs import replace

from firstlight.analysis import provenance, ranking
from firstlight.analysis.formatting import listing
from firstlight.analysis.verdict import Identity, Verified
from firstlight.core import confidence
from firstlight.core.units import count, percent, quantity
from firstlight.model.catalogue import Plot, Workload, needs
from firstlight.report import answers, frame, sentence, wording
from firstlight.report.frame import Drawing, Trace, View
from firstlight.report.ghosts import ghosts
from firstlight.results.record import Run
from firstlight.system.machine.cores import runner

Points = dict[int, Verified]  # by cores
IDEAL = "ideal"
MOST_REFINEMENTS = 64  # more are a defect of the record


class Team(NamedTuple):
    """The workers that share the work: threads of one process (no MPI), ranks, or ranks of threads."""

    mpi: str
    hybrid: bool

    def words(self, run: Run) -> str:
        name = wording.mpi_name(run, self.mpi) if self.mpi else "threads"
        return f"{name}, ranks of threads" if self.hybrid else name


def team(identity: Identity) -> Team:
    capabilities = needs(identity.variant)
    return Team(identity.mpi or "", "mpi" in capabilities and "openmp" in capabilities)


def draw(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Draw strong and weak scaling, if figures of several numbers of cores form lines."""
    figures = [f for f in answers.verified(view.selected(workload, plot)) if _x(f, plot) is not None]
    return _strong(view, plot, name, figures) + _weak(view, workload, plot, f"{name}-weak", figures)


def cores(figure: Verified) -> int:
    return figure.identity.placement.ranks * figure.identity.placement.threads


def strong(figures: Sequence[Verified], plot: Plot) -> tuple[int | str, dict[Team, Points]]:
    """Return the largest x that was measured on several numbers of cores, and each team's best figure on each number.

    If x is a name, the last one is used. A team begins at one core with its own figure there. Lines of a single point
    are left out; without lines the result is (0, {}).
    """
    for x in sorted({v for f in figures if (v := _x(f, plot)) is not None}, key=_order, reverse=True):
        lines: dict[Team, Points] = {}
        for f in figures:
            if _x(f, plot) == x:
                _take(lines.setdefault(team(f.identity), {}), f)
        alone = [f for p in lines.values() for n, f in p.items() if n == 1]
        for points in lines.values():
            if alone:  # threads of a process and ranks of threads begin with the best of one core
                points.setdefault(1, min(alone, key=_behind))
        several = {t: dict(sorted(p.items())) for t, p in sorted(lines.items()) if len(p) > 1}
        if several:
            return x, several
    return 0, {}


def weak(figures: Sequence[Verified], workload: Workload, plot: Plot) -> dict[tuple[Team, Fraction], Points]:
    """Return lines by team and one core's share of the elements, for shares measured on several numbers of cores."""
    sizes = workload.sizes
    if sizes is None or sizes.parameter != plot.x:
        return {}
    at: dict[tuple[Team, Fraction], Points] = {}
    for f in figures:
        x = _x(f, plot)
        if isinstance(x, int) and not (sizes.growth and x > MOST_REFINEMENTS):
            elements = Fraction(sizes.elements(x))
            _take(at.setdefault((team(f.identity), elements / cores(f)), {}), f)
    return {key: dict(sorted(p.items())) for key, p in sorted(at.items()) if len(p) > 1}


def _x(figure: Verified, plot: Plot) -> int | str | None:
    """Return the value of x; None if the record has no value that could be a size or the name of a case."""
    found = dict(figure.identity.parameters).get(plot.x)
    return found if isinstance(found, str) or (isinstance(found, int) and found >= 0) else None


def _order(x: int | str) -> tuple[int, str]:
    return (x, "") if isinstance(x, int) else (-1, x)


def _take(points: Points, f: Verified) -> None:
    """Store the better figure; a figure that may be ranked precedes one that may not."""
    known = points.get(cores(f))
    if known is None or _behind(f) < _behind(known):
        points[cores(f)] = f


def _behind(f: Verified) -> tuple[bool, float]:
    return f.oversubscribed, f.estimate.median if f.better == "lower" else -f.estimate.median


def _strong(view: View, plot: Plot, name: str, figures: Sequence[Verified]) -> list[Drawing]:
    x, lines = strong(figures, plot)
    if not lines:
        return []
    base = min((p[min(p)] for p in lines.values()), key=lambda f: (cores(f), _behind(f)))
    first, least = cores(base), base.estimate.median
    xs = sorted({n for p in lines.values() for n in p})
    ideal = [least * first / n if base.better == "lower" else least * n / first for n in xs]
    law = f"{quantity(least, base.unit)} {'/' if base.better == 'lower' else 'x'} cores"
    data = [_ideal(xs, ideal, f"{IDEAL}: {law}" if first == 1 else IDEAL)]
    data += [_line(view, t.words(view.judgement.run), p, k) for k, (t, p) in enumerate(lines.items())]
    of_x = replace(plot, where={**plot.where, plot.x: x})
    data += ghosts(view, base.identity.workload, of_x, base, xs[0], xs[-1], by_ranks=True)
    drawn = frame.layout(_axis_of_cores(view, lines), _axis(plot, base))
    title = sentence.capital(f"{_subject(plot)}, {plot.x} = {x}: {_gains(view, lines, base)}")
    caption = (
        "Strong scaling: the same problem on more cores. Each point is the best variant and toolchain; bars are "
        f"{confidence.INTERVALS}. The dashed line is ideal scaling from the fewest cores." + _crowded(lines)
    )
    used = [f for f in figures if _x(f, plot) == x]
    return [Drawing(name, title, caption, frame.HEAD, frame.table(used), data, drawn)]


def _gains(view: View, lines: Mapping[Team, Points], base: Verified) -> str:
    """Return `2 cores gain 1.9 × with threads and 1.8 × with Open MPI`, compared with the best on the fewest cores."""
    first = cores(base)
    gains: dict[int, list[tuple[float, str, Verified]]] = {}
    for t, p in lines.items():
        last = max((n for n, f in p.items() if not f.oversubscribed), default=0)
        if last > first:
            gains.setdefault(last, []).append((ranking.advantage(p[last], base), t.words(view.judgement.run), p[last]))
    worse = "as long" if base.better == "lower" else "slower"
    parts = []
    for _, some in sorted(gains.items(), reverse=True):
        ordered = sorted(some, key=lambda one: one[:2], reverse=True)
        won = [f"{sentence.ahead(f, base)} with {who}" for gain, who, f in ordered if gain > 1]
        lost = [f"{who} ({sentence.ahead(base, f)} {worse})" for gain, who, f in ordered if gain <= 1]
        outcomes = [f"gain {listing(won)}"] * bool(won) + [f"are not faster with {listing(lost)}"] * bool(lost)
        parts.append(f"{_runners(view, some[0][2])} " + ", ".join(outcomes))
    return "; ".join(parts) or "more ranks and threads than processors, so not ranked"


def _weak(view: View, workload: Workload, plot: Plot, name: str, figures: Sequence[Verified]) -> list[Drawing]:
    chains = weak(figures, workload, plot)
    if not chains:
        return []
    largest: dict[Team, tuple[Fraction, Points]] = {}
    for (t, share), points in chains.items():
        known = largest.get(t)
        if known is None or (max(points), share) > (max(known[1]), known[0]):
            largest[t] = (share, points)
    run = view.judgement.run
    data: list[Trace] = []
    kept = []
    for k, (t, (_, p)) in enumerate(largest.items()):
        first, last = p[min(p)], p[max(p)]
        label = f"{t.words(run)}, {plot.x} = {_x(first, plot)} on {_runners(view, first)}"
        data.append(_line(view, label, p, k, t.words(run)))
        grow = [n / min(p) if first.better == "higher" else 1.0 for n in p]
        data.append(
            _ideal(
                list(p),
                [first.estimate.median * g for g in grow],
                "ideal: same speed per core as on the fewest cores",
                k == 0,
            )
        )
        beyond = ", more than there are processors" if last.oversubscribed else ""
        relative = last.estimate.median / (first.estimate.median * grow[-1])
        formula = f"b / a * {min(p)} / {max(p)}" if first.better == "higher" else "a / b"
        pace = provenance.number(
            percent(relative if first.better == "higher" else 1 / relative), formula, of=(first, last)
        )
        kept.append(f"{t.words(run)} keeps {pace} of its speed per core on {_runners(view, last)}{beyond}")
    some = next(iter(next(iter(largest.values()))[1].values()))
    drawn = frame.layout(_axis_of_cores(view, {t: p for t, (_, p) in largest.items()}), _axis(plot, some))
    caption = (
        "Weak scaling: the same number of elements per core on more cores. The ideal is the rate per core on "
        "the fewest cores; error "
        f"bars are {confidence.INTERVALS}." + _crowded({t: p for t, (_, p) in largest.items()})
    )
    used = [f for points in chains.values() for f in points.values()]
    title = sentence.capital(f"{_subject(plot)}: {'; '.join(kept)}")
    return [Drawing(name, title, caption, frame.HEAD, frame.table(used), data, drawn)]


def _runners(view: View, figure: Verified) -> str:
    """Return `64 cores`; `128 hardware threads` if there are more threads than cores."""
    return count(cores(figure), _runner(view, figure))


def _runner(view: View, figure: Verified) -> str:
    return runner(cores(figure), view.judgement.run.machine, figure.identity.placement.nodes)


def _subject(plot: Plot) -> str:
    return plot.subject or plot.metric.replace("_", " ")


def _axis(plot: Plot, like: Verified) -> dict[str, object]:
    return frame.log_axis(frame.title_of_values(plot.metric.replace("_", " "), like))


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


def _axis_of_cores(view: View, lines: Mapping[Team, Points]) -> dict[str, object]:
    xs = sorted({n for p in lines.values() for n in p})
    step = -(-len(xs) // 12)
    on_cores = all(_runner(view, f) == "core" for p in lines.values() for f in p.values())
    return {
        "title": {"text": f"{'cores' if on_cores else 'threads'} (ranks x threads)"}, "type": "log",
        "tickvals": list(xs)[::step],
        "ticktext": [str(n) for n in xs][::step],
    }  # fmt: skip


def _crowded(lines: Mapping[Team, Points]) -> str:
    some = any(f.oversubscribed for p in lines.values() for f in p.values())
    return " Open symbols have more ranks and threads than processors, and are never ranked." if some else ""
