"""The forecast: the rows that a run answers within its budget, what it leaves out, and commands that measure that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from firstlight.core.shell import command
from firstlight.core.units import count, duration, minutes
from firstlight.model.plan.settings import NONE, Setting, Settings
from firstlight.results.record import SPARE
from firstlight.runner.agenda import Item, RowCells, chosen

MOST_NAMED = 4
DOUBT = 3.0
"""Launches that were never timed on a machine last up to this many times their estimate."""


class Omission(NamedTuple):
    """The part of a workload that is left out: `cells` of `of`; `needed` seconds would measure all of it."""

    workload: str
    cells: int
    of: int
    needed: float


class Forecast(NamedTuple):
    """`chosen` of `cells` cells are launched in `seconds` of `room`; all need `needed`. `rows`: how many are answered,
    of how many; `surely`: how many are answered even if each launch that was never timed here lasts DOUBT times as long
    as estimated.
    """

    room: float
    seconds: float
    needed: float
    chosen: int
    cells: int
    rows: tuple[int, int]
    headlines: tuple[int, int]
    surely: int
    missing: tuple[Omission, ...]


def forecast(
    items: Sequence[Item], done: Collection[str], rows: Sequence[RowCells], room: float, answering: bool = False
) -> Forecast:
    """Forecast a run before its launches. `done`: the cells that need no more launches; `answering` as in `chosen`."""
    some = chosen(items, room, answering=answering)
    measured = {i.cell.id for i in some} | set(done)
    doubted = [i if i.sure else i._replace(seconds=DOUBT * i.seconds) for i in items]
    surely = {i.cell.id for i in chosen(doubted, room, answering=answering)} | set(done)
    answers = [(a.row.headline, not measured.isdisjoint(a.cells)) for a in rows]
    front = [good for headline, good in answers if headline]
    of: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        of[item.cell.program.workload].append(item)
    lacking = {name: sum(i.cell.id not in measured for i in mine) for name, mine in of.items()}
    return Forecast(
        room=room,
        seconds=sum(i.need for i in some),
        needed=sum(i.need for i in items),
        chosen=len(measured),
        cells=len(items) + len(done),
        rows=(sum(good for _, good in answers), len(answers)),
        headlines=(sum(front), len(front)),
        surely=min(sum(not surely.isdisjoint(a.cells) for a in rows), sum(good for _, good in answers)),
        missing=tuple(
            Omission(name, lacking[name], len(mine), sum(i.need for i in mine))
            for name, mine in of.items()
            if lacking[name]
        ),
    )


def summary(o: Forecast) -> str:
    """Return one line: the duration of the run, and the number of rows that it answers."""
    cells = count(o.cells, "cell") if o.chosen == o.cells else f"{o.chosen} of {count(o.cells, 'cell')}"
    known = f"plan: {cells}, about {duration(o.seconds)} of the {duration(o.room)}"
    good, every = o.rows
    if o.surely < good:
        rows = f"{o.surely} to {good} of {count(every, 'row')}, because some programs have never run on this machine"
        return f"{known}; figures for {rows}"
    answers = [
        f"{good} of {count(all_, noun)}" for (good, all_), noun in ((o.headlines, "headline"), (o.rows, "row")) if all_
    ]
    return "; ".join([known, *([f"figures for {', '.join(answers)}"] if answers else [])])


def left_out(o: Forecast, suite: str, settings: Settings = NONE, words: Sequence[Setting] = ()) -> list[str]:
    """Return a line for each workload that is not measured completely, with the command that measures it.

    `settings`: those of the run, by workload; `words`: the same, as the user typed them.
    """

    def whole(p: Omission) -> str:
        given = [word for word in words if word.name in settings.get(p.workload, {})]
        return command("run", p.workload, *given, f"--{suite}", "--budget", minutes(SPARE * p.needed))

    return [
        f"not in this budget: {p.workload}, {p.cells} of {count(p.of, 'cell')}: {whole(p)}"
        for p in sorted(o.missing, key=lambda p: (-p.cells, p.workload))
    ]


def in_short(o: Forecast) -> str:
    """Return one line with what is left out, or ""."""
    if not o.missing:
        return ""
    parts = sorted(o.missing, key=lambda p: (-p.cells, p.workload))
    named = ", ".join(f"{p.workload} ({p.cells} of {p.of} cells)" for p in parts[:MOST_NAMED])
    more = f" and {len(parts) - MOST_NAMED} more" if len(parts) > MOST_NAMED else ""
    return f"not in this budget: {named}{more}; --budget {minutes(SPARE * o.needed)} would suffice for all cells"
