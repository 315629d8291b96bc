"""Page: show golden and best times, the cause of a speed-up, and wrong candidates; `--json` prints all numbers, too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from firstlight import __version__
from firstlight.analysis.formatting import bare
from firstlight.commands.loops import drawings as plots
from firstlight.commands.loops.source import Source
from firstlight.commands.loops.tuner import Kept, Tried, TunedLoop
from firstlight.core.units import count, significant
from firstlight.report import html
from firstlight.report.frame import Drawing
from firstlight.results.store.durable import replace


class Side(NamedTuple):
    """A loop with one compiler. `stale`: the loop was changed since."""

    compiler: str
    date: str
    sentence: str
    stale: bool
    kept: list[Kept]
    wrong: list[tuple[str, str]]
    refused: list[tuple[str, str]]
    tried: list[tuple[str, list[str]]]
    trips: list[int]


class Loop(NamedTuple):
    name: str
    line: int
    pragma: str
    golden: str
    drawing: Drawing | None
    sides: list[Side]


def write(outcomes: Sequence[TunedLoop], source: Source, path: Path) -> None:
    """Write the page, whole or not at all. Raises OSError."""
    path.parent.mkdir(exist_ok=True)
    replace(path, render(outcomes, source).encode("utf-8", "replace"))


def render(outcomes: Sequence[TunedLoop], source: Source) -> str:
    """Return the HTML page of all results of a source; loops that have changed since are marked."""
    loops = _loops(outcomes, source.hashes)
    overview = plots.overview(outcomes)
    page = {
        "title": _title(outcomes),
        "file": source.path.name,
        "facts": facts(outcomes),
        "loops": loops,
        "overview": overview,
        "left": [(one.line, one.why) for one in source.refused],
        "firstlight": __version__,
    }
    drawings = [*overview, *(loop.drawing for loop in loops if loop.drawing)]
    return html.page_of(Path(__file__).with_suffix(".html.j2"), page, drawings)


def _title(outcomes: Sequence[TunedLoop]) -> str:
    names = dict.fromkeys(one.loop for one in outcomes)
    faster = {one.loop for one in outcomes if one.written}
    if not faster:
        return f"No loop is faster; {count(len(names), 'loop')} tried"
    gains = [1 / row.ratio for one in outcomes if one.written for row in one.judged if row.label != "golden"]
    verb = "run" if len(faster) > 1 else "runs"
    return f"{len(faster)} of {count(len(names), 'loop')} {verb} faster, {_between(gains)} times as fast"


def facts(outcomes: Sequence[TunedLoop]) -> list[str]:
    """Return facts about all loops: by compiler, how many are faster, and at how many trip counts one is slower."""
    lines = []
    for compiler in dict.fromkeys(one.compiler for one in outcomes):
        mine = [one for one in outcomes if one.compiler == compiler]
        kept = [one for one in mine if one.written]
        rows = [row for one in kept for row in one.judged]
        if not kept:
            lines.append(f"{compiler}: no loop is faster; compile the file unchanged")
            continue
        half = [one for one in kept if any(row.ratio <= 1 / 1.5 for row in one.judged)]
        slower = sum(row.slower for row in rows)
        lines.append(
            f"{compiler}: {len(kept)} of {count(len(mine), 'loop')} faster, {len(half)} of them by a factor of "
            "1.5 or more at one or more trip counts. The tuned code is significantly slower than golden at "
            f"{slower} of "
            f"{count(len(rows), 'trip count')}"
        )
    return lines


def _loops(outcomes: Sequence[TunedLoop], hashes: dict[str, str]) -> list[Loop]:
    found: dict[str, Loop] = {}
    for one in outcomes:
        if one.loop not in found:
            mine = [o for o in outcomes if o.loop == one.loop]
            found[one.loop] = Loop(one.loop, one.line, one.pragma, one.golden, plots.by_trip(mine), [])
        found[one.loop].sides.append(_side(one, stale=hashes.get(one.loop) != one.hash))
    return list(found.values())


def _side(one: TunedLoop, stale: bool) -> Side:
    trips = list(dict.fromkeys(t for tried in one.tried for t in tried.ratios))
    return Side(
        compiler=one.compiler,
        date=one.date,
        sentence=sentence(one),
        stale=stale,
        kept=one.kept,
        wrong=[(t.label, bare(t.rejected)) for t in one.tried if t.wrong],
        refused=[(t.label, bare(t.rejected)) for t in one.tried if t.rejected and not t.wrong],
        tried=[(t.label, _ratios(t, trips)) for t in one.tried if t.ratios],
        trips=trips,
    )


def sentence(one: TunedLoop) -> str:
    if not one.written:
        return f"the golden loop is used: {bare(one.why)}"
    gains = [1 / row.ratio for row in one.judged if row.label != "golden"]
    made = dict.fromkeys(kept.label for kept in one.kept if kept.label != "golden")
    return f"{_between(gains)} times as fast, by {'; '.join(made)}"


def _between(gains: Sequence[float]) -> str:
    """Return `1.32 to 2.20`, or one number if both ends are equal."""
    low, high = significant(min(gains)), significant(max(gains))
    return low if low == high else f"{low} to {high}"


def _ratios(tried: Tried, trips: Sequence[int]) -> list[str]:
    """Return the speed-up at each trip count."""
    return [significant(1 / tried.ratios[t]) if t in tried.ratios else "–" for t in trips]
