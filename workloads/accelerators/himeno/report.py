"""Sizes: the rate on each of the benchmark's grids, by cores or by GPU variant, beside what R4 published."""

from __future__ import annotations

from firstlight.catalogue import Plot, Workload
from firstlight.judge import sourced
from firstlight.judge.verdict import Identity, Verified
from firstlight.judge.words import listing
from firstlight.plan import same_work
from firstlight.report import answers, frame, ghosts, sentence
from firstlight.report.frame import Drawing, View

NAMES = ("XS", "S", "M", "L", "XL")
Lines = dict[str, dict[float, Verified]]  # by inner points


def points(size: object) -> float | None:
    """Inner points of a grid of the benchmark; None for sizes of the user's own."""
    if size not in NAMES:
        return None
    n = 32 << NAMES.index(str(size))
    return float((n - 2) ** 2 * (2 * n - 2))


def sizes(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """`plot.x` is the parameter that names the grid. None where no line has two of them."""
    every = [f for f in view.selected(workload, plot) if same_work(f.identity.variant, plot, workload)]
    found = {k: line for k, line in lines(answers.verified(every), plot).items() if len(line) > 1}
    if not found:
        return []
    some = next(iter(next(iter(found.values())).values()))
    xs = sorted({x for line in found.values() for x in line})
    ticks = {"tickmode": "array", "tickvals": xs, "ticktext": [_grid(x) for x in xs]}
    drawn = frame.layout(
        frame.log_axis("grid") | ticks,
        frame.log_axis(
            f"{plot.metric} ({some.unit})", [f.estimate.median for line in found.values() for f in line.values()]
        ),
    )
    data = [
        frame.line(
            sorted(line.items()), key, {"color": view.palette.colour(key), "symbol": view.palette.symbol(number)}
        )
        for number, (key, line) in enumerate(list(found.items())[: frame.MOST_LINES])
    ]
    data += ghosts.ghosts(view, workload.name, plot, some, xs[0], xs[-1])
    caption = (
        "Logarithmic axes; each grid has eight times the points of the one before; bars are 95 % intervals of the "
        "median over launches. Grey: what R4 published, on grids that it does not name."
    )
    return [Drawing(name, _title(found), caption, frame.HEAD, frame.table(every), data, drawn)]


def lines(figures: list[Verified], plot: Plot) -> Lines:
    """The best figure of each line on each grid, oversubscribed ones left out; the best line first."""
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
    """`1 core reaches 12.3 Gflop/s on XS and 8.1 Gflop/s on M; 2 cores ...`"""
    said = []
    for key, line in list(found.items())[:2]:
        ends = (min(line), max(line))
        who = sourced.placed(key, line[ends[0]]) if key.endswith(("core", "cores")) else sourced.name(key)
        verb = "reach" if key.endswith("cores") else "reaches"
        said.append(f"{who} {verb} " + listing([f"{sourced.median(line[x])} on {_grid(x)}" for x in ends]))
    return sentence.capital("; ".join(said))
