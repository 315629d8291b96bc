"""Checkpoints in words: the best interval between them, and a table by number of nodes."""

from __future__ import annotations

from firstlight.analysis.checkpoints import YEAR, Level, Plan
from firstlight.core.units import binary, count, duration, percent, quantity, significant

HEAD = ("nodes", "MTBF of job", "save every", "work", "local every", "global every", "work, 2 levels")


def lines(plan: Plan) -> list[str]:
    """Return the costs, the assumptions and the interval on the fewest and on the most nodes."""
    first, last = plan.rows[0], plan.rows[-1]
    found = [
        f"save every {span(row.interval)} on {count(row.nodes, 'node')}: {work(row.efficiency)} of the time is useful "
        f"work"
        for row in dict.fromkeys((first, last))
    ]
    if last.global_every == 1:
        found.append(
            f"with two levels on {count(last.nodes, 'node')}: no gain, because a global checkpoint is as fast as a "
            f"local one"
        )
    elif last.efficiency_of_two is not None and last.local is not None:
        found.append(
            f"with two levels on {count(last.nodes, 'node')}: save locally every {span(last.local)}, and globally "
            f"every {last.global_every}th time: {work(last.efficiency_of_two)} of the time is useful work"
        )
    found.append(f"a checkpoint that survives the loss of any node: {_costs(plan.whole)}")
    if plan.local is not None:
        found.append(
            f"a checkpoint on local storage: {_costs(plan.local)}; assumed to survive {percent(plan.survived)} of "
            f"failures"
        )
    found.append(
        f"a node fails once in {significant(plan.node_mtbf / YEAR)} years on average; the time of a checkpoint is "
        f"assumed to be independent of the number of nodes"
    )
    return found


def _costs(level: Level) -> str:
    source = f", {binary(level.bytes)} with {level.program}" if level.program else ""
    return f"{quantity(level.checkpoint, 's')}, and {quantity(level.restart, 's')} for a restart{source}"


def span(seconds: float) -> str:
    """Return a time as `21 s`, `2 h 10 min` or `12 days`."""
    return duration(seconds) if seconds < 100 * 3600 else f"{significant(seconds / 86400)} days"


def work(share: float) -> str:
    """Return a share as `94 %`; near one as `99.95 %`, because the rest counts."""
    return f"{100 * share:.2f} %" if share > 0.99 else percent(share)


def table(plan: Plan) -> list[tuple[str, ...]]:
    """Return a row of cells for each number of nodes, as HEAD names them."""
    return [
        (
            f"{row.nodes:,}",
            span(row.mtbf),
            span(row.interval),
            work(row.efficiency),
            "–" if row.local is None else span(row.local),
            "–" if row.global_every is None else str(row.global_every),
            "–" if row.efficiency_of_two is None else work(row.efficiency_of_two),
        )
        for row in plan.rows
    ]


def text_table(plan: Plan) -> list[str]:
    """Return the table in aligned columns."""
    rows = [HEAD, *table(plan)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(HEAD))]
    return ["  ".join(f"{cell:>{w}}" for cell, w in zip(row, widths, strict=True)) for row in rows]
