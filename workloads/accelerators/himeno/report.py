"""Draw Himeno's rates on each of the benchmark's grids, by cores or by GPU variant, alongside R4's published rates; and
list GOSA, the sum of residuals: as computed, exact, and as the official program adds it up.
"""

from __future__ import annotations

from firstlight.analysis import provenance
from firstlight.analysis.formatting import listing
from firstlight.analysis.verdict import Identity, Verified
from firstlight.core import confidence
from firstlight.core.units import factor
from firstlight.model.catalogue import Plot, Workload
from firstlight.model.plan import same_work
from firstlight.report import answers, frame, ghosts, observed, sentence
from firstlight.report.frame import Drawing, View

NAMES = ("XS", "S", "M", "L", "XL")
Lines = dict[str, dict[float, Verified]]  # by inner points


def points(size: object) -> float | None:
    """Return the number of inner points of a grid of the benchmark; None for a size of the user's own."""
    if size not in NAMES:
        return None
    n = 32 << NAMES.index(str(size))
    return float((n - 2) ** 2 * (2 * n - 2))


def sizes(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Draw rates by grid, which the parameter `plot.x` names; return nothing if no line has two grids."""
    every = [f for f in view.selected(workload, plot) if same_work(f.identity.variant, plot, workload)]
    found = {k: line for k, line in lines(answers.verified(every), plot).items() if len(line) > 1}
    if not found:
        return []
    some = next(iter(next(iter(found.values())).values()))
    xs = sorted({x for line in found.values() for x in line})
    ticks = {"tickvals": xs, "ticktext": [_grid(x) for x in xs]}
    drawn = frame.layout(
        frame.log_axis("grid") | ticks,
        frame.log_axis(frame.title_of_values(plot.metric, some)),
    )
    data = [
        frame.line(
            sorted(line.items()), key, {"color": view.palette.colour(key), "symbol": view.palette.symbol(number)}
        )
        for number, (key, line) in enumerate(list(found.items())[: frame.MOST_LINES])
    ]
    data += ghosts.ghosts(view, workload.name, plot, some, xs[0], xs[-1])
    caption = (
        f"Each grid has eight times the points of the previous grid. Both axes are logarithmic; bars are "
        f"{confidence.INTERVALS} of the median over launches. Grey: figures that R4 published without naming its grids."
    )
    return [Drawing(name, _title(found), caption, frame.HEAD, frame.table(every), data, drawn)]


def residuals(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Return a table of GOSA by grid and number of sweeps; nothing if no run of the official inputs was verified.

    The official sum is that of a single process: several processes each add their own part, so they are left out.
    """
    found: dict[tuple[float, int | float | str], tuple[Verified, Verified, Verified]] = {}
    for f in answers.verified(view.selected(workload, plot)):
        values = dict(f.identity.parameters)
        grid = points(values.get(plot.x))
        exact, official = (observed.other(view, f, f"{plot.metric}_{which}") for which in ("exact", "official"))
        if grid is None or exact is None or official is None or f.identity.placement.ranks > 1:
            continue
        if exact.estimate.median > 0 and official.estimate.median > 0:
            found.setdefault((grid, values.get("sweeps", "")), (f, exact, official))
    if not found:
        return []
    rows = [
        (_grid(grid), str(sweeps), *(f"{f.estimate.median:.6e}" for f in of), f"{_beside(of):.3f}")
        for (grid, sweeps), of in sorted(found.items(), key=lambda x: (x[0][0], str(x[0][1])))
    ]
    (grid, sweeps), worst = max(found.items(), key=lambda x: abs(_beside(x[1]) - 1))
    ratio = provenance.number(f"{factor(_beside(worst))} x", "a / b", of=(worst[2], worst[1]))
    after = provenance.parameter(str(sweeps), worst[1], "a['sweeps']")
    title = (
        f"{plot.subject or plot.metric}: after {after} sweeps on {_grid(grid)}, the official value is {ratio} the "
        f"exact value"
    )
    caption = (
        "GOSA of the benchmark's own inputs. Found: the verified sum, in 64 bits over the 32-bit fields of a variant. "
        "Exact: everything in 64 bits. Official: the sum in 32 bits in memory order, as in the benchmark's own "
        "program. "
        "The official sum stops growing once it is much larger than its terms."
    )
    head = ("grid", "sweeps", "found", "exact", "official", "official over exact")
    return [Drawing(name, sentence.capital(title), caption, head, rows)]


def _beside(sums: tuple[Verified, Verified, Verified]) -> float:
    """Return the official sum divided by the exact one."""
    return sums[2].estimate.median / sums[1].estimate.median


def lines(figures: list[Verified], plot: Plot) -> Lines:
    """Return the best figure of each line on each grid, without oversubscribed ones; the best line first."""
    by_grid: dict[float, list[Verified]] = {}
    for f in figures:
        x = points(dict(f.identity.parameters).get(plot.x))
        if x is not None:
            by_grid.setdefault(x, []).append(f)
    found: Lines = {}

    def key(who: Identity) -> str:
        return who.variant if plot.device else _cores(who)

    for x in sorted(by_grid, reverse=True):
        for f in answers.best_of_each(by_grid[x], key):
            found.setdefault(key(f.identity), {})[x] = f
    return found


def _cores(who: Identity) -> str:
    p = who.placement
    n = p.nodes * p.ranks * p.threads
    return f"{n} cores" if n > 1 else "1 core"


def _grid(x: float) -> str:
    return next(name for name in NAMES if points(name) == x)


def _title(found: Lines) -> str:
    """Return `1 core reaches 12.3 Gflop/s on XS and 8.1 Gflop/s on M; 2 cores ...`."""
    parts = []
    for key, line in list(found.items())[:2]:
        ends = (min(line), max(line))
        who = provenance.placed(key, line[ends[0]]) if key.endswith(("core", "cores")) else provenance.name(key)
        verb = "reach" if key.endswith("cores") else "reaches"
        parts.append(f"{who} {verb} " + listing([f"{provenance.median(line[x])} on {_grid(x)}" for x in ends]))
    return sentence.capital("; ".join(parts))
