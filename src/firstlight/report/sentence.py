"""Sentences: a plot's title, computed from its data, with honest wording if choices do not differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from firstlight.analysis import provenance, ranking
from firstlight.analysis.formatting import listing
from firstlight.analysis.interval import quotient
from firstlight.analysis.verdict import Verified
from firstlight.core.units import ratio, significant
from firstlight.report.wording import NO_DIFFERENCE


class Winners(NamedTuple):
    """The best at one place: `winners` among `everything`, `by` how many times better than the next (1: all equal).

    `apart`: how far the medians of the winners are from each other; beyond the practical threshold they are only
    not known to differ.
    """

    where: str
    choice: str
    winners: tuple[str, ...]
    everything: tuple[str, ...]
    by: float
    apart: float
    pair: tuple[Verified, Verified] | None = None  # what `by` compares: the best, and the best of those behind


def outcome(where: str, figures: Sequence[Verified], label: Callable[[Verified], str]) -> Winners | None:
    """Rank the figures at one place; None if there are fewer than two to compare."""
    groups = ranking.rank(figures)
    if sum(len(g.figures) for g in groups) < 2:
        return None
    winners = tuple(sorted(dict.fromkeys(label(f) for f in groups[0].figures)))
    everything = tuple(sorted({label(f) for g in groups for f in g.figures}))
    by = groups[1].behind if len(groups) > 1 else 1.0
    pair = (groups[0].best, groups[1].best) if len(groups) > 1 else None
    apart = max(ranking.advantage(groups[0].best, f) for f in groups[0].figures)
    return Winners(where, ranking.choice(groups, label), winners, everything, by, apart, pair)


def equal(figures: Sequence[Verified]) -> bool:
    """Return whether the medians are within the practical threshold, so that they may be called equal."""
    best = ranking.best(figures)
    return best is None or max(ranking.advantage(best, f) for f in figures) < 1 + ranking.PRACTICAL


def compared(outcomes: Sequence[Winners]) -> str:
    """Return `at n = 1000 (L1) and n = 10000 (L2) native wins by 1.9 ×; at n = 1e7 (memory) all are equal`."""
    merged: list[list[Winners]] = []
    for o in outcomes:
        if merged and _alike(merged[-1][0], o):
            merged[-1].append(o)
        else:
            merged.append([o])
    return "; ".join(f"at {listing([o.where for o in some])} {_result(some)}" for some in merged)


def _alike(a: Winners, b: Winners) -> bool:
    return (a.winners, a.everything, _known(a)) == (b.winners, b.everything, _known(b))


def _known(o: Winners) -> bool:
    """Return whether the result is known; False if all seem equal only because no difference can be shown."""
    return len(o.winners) < len(o.everything) or o.apart < 1 + ranking.PRACTICAL


def _result(some: Sequence[Winners]) -> str:
    first = some[0]
    if not _known(first):
        return NO_DIFFERENCE
    if len(first.winners) == len(first.everything):
        return "both are equal" if len(first.everything) == 2 else "all are equal"
    by = span([o.pair for o in some if o.pair is not None])
    if first.choice.startswith("avoid "):
        return f"{first.choice.removeprefix('avoid ')} is {by} worse; the others are equal"
    if len(first.winners) == 1:
        return f"{first.winners[0]} wins by {by}"
    many = first.choice.replace("any ", "all of ") if first.choice.startswith("any ") else ""
    many = many or f"{len(first.winners)} of {len(first.everything)}"
    named = listing(first.winners) if len(first.winners) < 4 else many
    return f"{named} lead by {by}"


def span(pairs: Sequence[tuple[Verified, Verified]]) -> str:
    """Return `1.5 to 3.7 ×`, or one number if similar: how many times better the first of each pair is.

    If a figure has two states, the factors are those of the nearer ones: `at least 1.5 ×`.
    """
    factors = [ranking.advantage(a, b) for a, b in pairs] or [1.0]
    low, high = min(factors), max(factors)
    if bound := provenance.at_least(*(f for pair in pairs for f in pair)):
        return bound + provenance.among(ratio2(low), pairs, "min")
    most = provenance.among(ratio2(high), pairs)
    return most if high < 1.1 * low else f"{provenance.among(significant(low, 2), pairs, 'min')} to {most}"


def ahead(a: Verified, b: Verified) -> str:
    """Return `1.9 ×`: how many times better a is than b; `at least 1.9 ×` if one has two states."""
    return provenance.at_least(a, b) + provenance.advantage(ratio2(ranking.advantage(a, b)), a, b)


def behind(a: Verified, b: Verified) -> str:
    """Return the text of `ahead` for a cell of a table: `1.9 ×` or `≥ 1.9 ×`."""
    return ("≥ " if provenance.at_least(a, b) else "") + ratio2(ranking.advantage(a, b))


def ratio2(value: float) -> str:
    """Return a ratio with two digits, which suffice for a title, or with three if it is close to one."""
    return ratio(value) if value < 1.1 else f"{significant(value, 2)} ×"


def staircase(at: Mapping[str, Verified]) -> str:
    """Return `1.60 ns in L1, 5.00 ns in L2 and 98.0 ns in memory`; the keys are `in L1` and so on."""
    return listing([f"{provenance.median(f)} {where}" for where, f in at.items()])


def falls(ordered: Sequence[tuple[str, Mapping[str, Verified]]], lines: str) -> str:
    """Return `falls 9.8 × from 140 GB/s in L1 to 14.2 GB/s in memory (op = load)`.

    It is about one line: the best at the first place of those that are also at the last place that has any of them.
    Without one, it is `is 140 GB/s in L1 (op = load)`.
    """
    first, start = ordered[0]
    last, end = next(((p, found) for p, found in reversed(ordered[1:]) if found.keys() & start.keys()), (first, {}))
    both = {key: f for key, f in start.items() if key in end}
    a = ranking.best((both or start).values())
    if a is None:
        return ""
    name = next(key for key, f in start.items() if f is a)
    at_first = f"{provenance.median(a)} in {first}"
    if not both:
        return f"is {at_first} ({lines} = {name})"
    b = end[name]
    x, y = a.estimate.median, b.estimate.median
    over, under = (a, b) if y < x else (b, a)
    by = provenance.number(ratio2(max(quotient(x, y), quotient(y, x))), "a / b", of=(over, under))
    verb = "falls" if y < x else "rises"
    return f"{verb} {by} from {at_first} to {provenance.median(b)} in {last} ({lines} = {name})"


def capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
