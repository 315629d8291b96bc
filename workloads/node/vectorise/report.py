"""Draw vectorise: the number of loops that the vectoriser makes faster, by class of loops and toolchain."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from firstlight.analysis import provenance
from firstlight.analysis.interval import quotient
from firstlight.analysis.verdict import Failed, Identity, Verified
from firstlight.core.units import count, significant
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import frame
from firstlight.report.frame import Drawing, Trace, View

ENOUGH = 1.15
"""A loop counts if the vectoriser makes it this many times faster, unless its object code has no vectors."""
PLAIN, WITHOUT = "serial", "serial_novec"
HEAD = ("toolchain", "class", "compared", "vectorised", "1.15 x and more", "median gain", "vectors", "wrong")


class Loop(NamedTuple):
    """One loop with one toolchain, verified with the vectoriser (`plain`) and without it (`without`)."""

    kind: str
    plain: Verified
    without: Verified
    width: int | None  # bits of the widest vector in its loops, 0 where there is none; None where no tool could look

    @property
    def counts(self) -> bool:
        return self.gain >= ENOUGH and self.width != 0

    @property
    def gain(self) -> float:
        return quotient(self.without.estimate.median, self.plain.estimate.median)


def vectorised(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Draw one matrix; return nothing if no loop was verified both with the vectoriser and without it."""
    every = view.selected(workload, plot)
    of = {(f.identity.variant, *_case(f.identity)): f for f in every}
    loops: dict[str, list[Loop]] = {}
    wrong: dict[str, list[str]] = {}
    for f in every:
        if f.identity.variant != PLAIN:
            continue
        other = of.get((WITHOUT, *_case(f.identity)))
        if isinstance(f, Failed):
            wrong.setdefault(f.identity.toolchain, []).append(_kind(f.identity, plot))
        elif isinstance(f, Verified) and isinstance(other, Verified):
            loop = Loop(_kind(f.identity, plot), f, other, _width(view, f.identity, plot))
            loops.setdefault(f.identity.toolchain, []).append(loop)
    if not loops:
        return []
    kinds = list(dict.fromkeys(loop.kind for some in loops.values() for loop in some))
    best = max((loop for some in loops.values() for loop in some), key=lambda loop: loop.gain)
    title = (
        f"The vectoriser gains most in {provenance.name(str(dict(best.plain.identity.parameters)[plot.x]))}: "
        f"{provenance.times(best.plain, best.without)} ({best.plain.identity.toolchain})"
    )
    caption = (
        "A loop is vectorised if its object code contains vector instructions and runs at least 1.15 x faster than "
        "without the vectoriser, with the same source and compiler. Only loops that were verified both with and "
        "without vectors "
        "count."
    )
    if any(loop.width is None for some in loops.values() for loop in some):
        caption += " For some loops, the object code was not inspected (not available: objdump); only the time decides."
    rows = [row for tool, some in loops.items() for row in _rows(tool, some, wrong.get(tool, []), kinds)]
    drawn = frame.layout({"title": {"text": "class"}}, {"title": {"text": "toolchain"}})
    return [Drawing(name, title, caption, HEAD, rows, [_matrix(loops, kinds)], drawn, _failed(wrong))]


def _case(i: Identity) -> tuple[object, ...]:
    return (i.toolchain, i.parameters, i.placement)


def _kind(i: Identity, plot: Plot) -> str:
    """Return the class of a loop: the word before the underscore."""
    return str(dict(i.parameters).get(plot.x, "")).partition("_")[0]


def _width(view: View, i: Identity, plot: Plot) -> int | None:
    """Return the bits of the widest vector that the loop has in the run's build of the program; None if unknown."""
    for build in view.judgement.run.builds:
        if (build.program.workload, build.program.variant, build.program.toolchain) == (
            i.workload,
            i.variant,
            i.toolchain,
        ):
            return build.widths.get(str(dict(i.parameters).get(plot.x, "")))
    return None


def _gaining(some: Sequence[Loop]) -> int:
    return sum(loop.counts for loop in some)


def _rows(tool: str, loops: Sequence[Loop], wrong: Sequence[str], kinds: Sequence[str]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for kind in (*kinds, ""):
        some = [loop for loop in loops if kind in ("", loop.kind)]
        lost = sum(kind in ("", one) for one in wrong)
        if some or lost:
            gain = significant(median(loop.gain for loop in some)) if some else "–"
            faster = sum(loop.gain >= ENOUGH for loop in some)
            seen = sorted({loop.width for loop in some if loop.counts and loop.width})
            vectors = ", ".join(f"{bits} bit" for bits in seen) or "–"
            numbers = (str(len(some)), str(_gaining(some)), str(faster), gain, vectors, str(lost))
            rows.append((tool, kind or "all", *numbers))
    return rows


def _matrix(loops: dict[str, list[Loop]], kinds: Sequence[str]) -> Trace:
    cells = [[[loop for loop in some if loop.kind == kind] for kind in kinds] for some in loops.values()]
    return {
        "type": "heatmap", "x": [frame.text(kind) for kind in kinds], "y": [frame.text(tool) for tool in loops],
        "z": [[_gaining(c) / len(c) if c else None for c in line] for line in cells], "zmin": 0, "zmax": 1,
        "showscale": False, "colorscale": [[0, "@paper"], [1, "#0072B2"]], "xgap": 2,
        "text": [[f"{_gaining(c)}/{len(c)}" if c else "" for c in line] for line in cells],
        "texttemplate": "%{text}", "hoverinfo": "text",
    }  # fmt: skip


def _failed(wrong: dict[str, list[str]]) -> tuple[str, ...]:
    """Return a note for each toolchain with wrong loops: their number and their classes."""
    return tuple(
        f"{tool}: {count(len(some), 'loop')} wrong, of the classes {', '.join(dict.fromkeys(some))}."
        for tool, some in wrong.items()
    )
