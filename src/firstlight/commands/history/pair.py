"""Compare the newest run of a history with another run: the accepted one, or the first if the runs are too few."""

from __future__ import annotations

import math
from typing import NamedTuple

from firstlight.analysis.compare import BETTER, SAME, UNCLEAR, WORSE, Compared, Comparison
from firstlight.analysis.formatting import name
from firstlight.analysis.provenance import number
from firstlight.analysis.verdict import Identity
from firstlight.core.units import quantity, ratio
from firstlight.report.comparison import Group, groups


class Pair(NamedTuple):
    """The newest run compared with another one. `noun`: which; `key`: its name in the document of `--json`."""

    comparison: Comparison
    noun: str
    key: str


def accepted(comparison: Comparison) -> Pair:
    """Return the comparison with the accepted run."""
    return Pair(comparison, "the accepted run", "accepted")


def first(comparison: Comparison) -> Pair:
    """Return the comparison with the first run."""
    return Pair(comparison, "the first run", "first")


def disturbed(pair: Pair | None) -> list[str]:
    """Return a sentence for each of both runs that was disturbed, with the name of the run."""
    if pair is None:
        return []
    names = {"A": pair.comparison.a, "B": pair.comparison.b}
    return [
        f"{names[text[:1]]}{text[1:]}; differences from {pair.noun} may have no other cause"
        for text in pair.comparison.disturbed
    ]


def different(pair: Pair | None) -> list[Group]:
    """Return the figures that are worse or better in the newest run than in the other one.

    If there are none, return those that are inconclusive.
    """
    found = groups(pair.comparison, f"{pair.key}.") if pair is not None else []
    return [g for g in found if g.outcome in (WORSE, BETTER)] or [g for g in found if g.outcome == UNCLEAR]


def standing(pair: Pair | None) -> str:
    """Return a sentence that compares the newest run with the accepted or the first one."""
    if pair is None:
        return "no run is accepted yet; ./fl history --accept RUN accepts one"
    comparison, key = pair.comparison, pair.key
    if comparison.same_run:
        return f"the newest run, {comparison.b}, is {pair.noun}"
    n = comparison.counts
    wrong = sum(c.regression for c in comparison.changed)
    outcomes = {WORSE: "worse", BETTER: "better", UNCLEAR: "inconclusive", SAME: "the same"}
    words = [f"{number(str(n[what]), f'{key}.counts.{what}')} {text}" for what, text in outcomes.items() if n[what]]
    counted = f"sum(c.before == 'verified' and c.after == 'failed' for c in {key}.changed)"
    words += [f"{number(str(wrong), counted)} verified before and wrong now"] if wrong else []
    counts = ", ".join(words) or "no figure is in both runs"
    return f"the newest run, {comparison.b}, compared with {pair.noun}, {comparison.a}: {counts}{_largest(pair)}"


def _largest(pair: Pair) -> str:
    """Return `; the largest difference: latency: 1.60 to 2.54 ns, 1.58 × (lower is better)`, "" if there is none."""
    some = [(k, f) for k, f in enumerate(pair.comparison.figures) if f.different and not f.observed]
    if not some:
        return ""
    k, f = max(some, key=lambda x: far(x[1]))
    where = f"{pair.key}.figures[{k}]"
    before, after = (
        number(quantity(e.median, f.unit), f"{where}.{run}.median", f.unit) for run, e in (("a", f.a), ("b", f.b))
    )
    times = number(ratio(f.ratio), f"{where}.ratio")
    return f"; the largest difference: {name(f.identity)}: {before} to {after}, {times} ({f.better} is better)"


def far(f: Compared[Identity]) -> float:
    """Return how far a ratio is from 1, as the absolute value of its logarithm."""
    return abs(math.log(f.ratio)) if f.ratio > 0 else math.inf
