"""The terminal page of tuned loops: golden and best time, what made it faster, which candidates failed and why."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from firstlight.commands.loops.judging import Judged
from firstlight.commands.loops.source import Refused
from firstlight.commands.loops.tuner import Tried, TunedLoop
from firstlight.core.units import count, quantity, significant


def page(
    outcomes: Sequence[TunedLoop], refused: Sequence[tuple[str, Refused]], html: Path | None, width: int = 100
) -> str:
    kept = sum(bool(o.written) for o in outcomes)
    lines = [f"firstlight · tuned loops · {count(len(outcomes), 'loop')}, {kept} faster than golden"]
    for one in outcomes:
        lines += ["", *_loop(one, width)]
    for file, what in refused:
        lines += ["", f"  {file}:{what.line}: {what.why}; the golden loop is used"]
    if kept:
        lines += [
            "",
            "  next: touch these files, compile the programs that use them with CC=fl-cc, and commit tuned/",
        ]
    if html is not None:
        lines += [*([] if kept else [""]), f"  page: {html}"]
    return "\n".join(lines)


def _loop(one: TunedLoop, width: int) -> Iterator[str]:
    yield f"  {one.file}:{one.line}  {one.loop}  {one.compiler}"
    for j in one.judged:
        yield "    " + _row(j)
    if one.written:
        for k in one.kept:
            yield f"    {k.low} to {k.high} turns: {k.label}"
        yield f"    in {one.written}"
    else:
        yield f"    the golden loop is used: {one.why}"
    wrong = [t for t in one.tried if t.wrong]
    yield f"    {count(len(one.tried), 'candidate')} tried, {len(wrong)} rejected as wrong" + (":" if wrong else "")
    for t in wrong:
        yield from _wrong(t, width)


def _row(j: Judged) -> str:
    between = f" ({significant(1 / j.high)} - {significant(1 / j.low)})" if j.low and j.high else ""
    times = f"golden {quantity(j.golden, 's'):>9}   tuned {quantity(j.mine, 's'):>9}"
    return f"{j.trip:>8} turns   {times}   {significant(1 / j.ratio)} x{between} {j.outcome}, {j.label}"


def _wrong(t: Tried, width: int) -> list[str]:
    return textwrap.wrap(f"{t.label}: {t.rejected}", width - 6, initial_indent="      ", subsequent_indent="        ")
