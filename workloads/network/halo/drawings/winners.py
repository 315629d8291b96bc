"""Name the fastest strategies at each size, in one sentence and as a table."""

from __future__ import annotations

from collections.abc import Sequence

from firstlight.analysis import provenance, ranking
from firstlight.analysis.formatting import listing
from firstlight.analysis.verdict import Verified
from firstlight.core import confidence
from firstlight.core.units import interval, quantity
from firstlight.model.catalogue import Plot
from firstlight.report import sentence
from firstlight.report.frame import Drawing

from .strategies import Contest, Win, short

MOST_NAMES, MOST_STRETCHES = 3, 3


class Stretch:
    """Neighbouring x at which the same strategies win: `winners` are those that win at all of them, best first."""

    def __init__(self, first: Win) -> None:
        self.wins = [first]
        self.winners = [f.identity.variant for f in first.winners]

    def takes(self, w: Win) -> bool:
        """Add the next x if its winners are the same; return False if they are not."""
        first = self.wins[0]
        common = [s for s in self.winners if s in {f.identity.variant for f in w.winners}]
        if (w.all_alike, w.known) != (first.all_alike, first.known) or not common:
            return False
        self.wins.append(w)
        self.winners = common
        return True


def stretches(wins: Sequence[Win]) -> list[Stretch]:
    found: list[Stretch] = []
    for w in wins:
        if not found or not found[-1].takes(w):
            found.append(Stretch(w))
    return found


def title(plot: Plot, contest: Contest) -> str:
    """Return `shared_flags wins up to N = 128 (2.1 × over sendrecv); from N = 256 all are equal`."""
    wins = contest.wins
    if contest.crowded or not wins:
        return "measured with more processes or threads than processors, so not ranked"
    if len(contest.times) == 1:
        first, last = wins[0].winners[0], wins[-1].winners[0]
        ends = [provenance.median(f) for f in (first, last)]
        only = short(next(iter(contest.times)))
        return f"{only} lasts {ends[0]} at {_at(plot, wins[0])}" + (
            f" and {ends[1]} at {_at(plot, wins[-1])}" if len(wins) > 1 else ""
        )
    wins = [w for w in wins if len(w.everyone) > 1]
    if not wins:
        return "no two strategies were measured at one size"
    some = stretches(wins)
    if len(some) > MOST_STRETCHES:
        return _mostly(plot, contest, wins)
    return "; ".join(_clause(plot, contest, s, k == 0, k == len(some) - 1) for k, s in enumerate(some))


def _at(plot: Plot, w: Win) -> str:
    x = provenance.parameter(f"{w.x:g}", w.winners[0], f"a[{plot.x!r}]")
    return f"{plot.x.upper() if len(plot.x) == 1 else plot.x} = {x}"


def _clause(plot: Plot, contest: Contest, s: Stretch, first: bool, last: bool) -> str:
    where = _where(plot, s, first, last)
    w = s.wins[0]
    if w.all_alike:
        same = "all are equal" if w.known else "no difference can be shown"
        if not w.known:
            where = where.replace("at every", "at any")
        return f"{same} {where}" if first else f"{where} {same}"
    names = [short(x, contest.times) for x in s.winners]
    everyone = max(len(x.everyone) for x in s.wins)
    if len(names) > MOST_NAMES:
        who, verb = f"{len(names)} of {everyone} strategies", "lead"
    else:
        who, verb = listing(names), "wins" if len(names) == 1 else "lead"
        if any({f.identity.variant for f in x.winners} != {*s.winners} for x in s.wins):  # others are as good somewhere
            verb = f"{'is' if len(names) == 1 else 'are'} among the best"
    by = _by(contest, s)
    return f"{who} {verb} {where}" + (f" ({by})" if by else "")


def _where(plot: Plot, s: Stretch, first: bool, last: bool) -> str:
    low, high = s.wins[0].x, s.wins[-1].x
    begin, end = _at(plot, s.wins[0]), _at(plot, s.wins[-1])
    if first and last:
        return "at every " + (plot.x.upper() if len(plot.x) == 1 else plot.x) if low < high else f"at {begin}"
    if low == high:
        return f"at {begin}"
    if first:
        return f"up to {end}"
    return f"from {begin}" + ("" if last else f" to {end.partition(' = ')[2]}")


def _by(contest: Contest, s: Stretch) -> str:
    """Return `2.1 × over sendrecv` or `up to 2.1 × over sendrecv`; over the next one if the reference leads itself."""
    reference = contest.reference
    if reference and reference not in s.winners:
        over = [(w.winners[0], f) for w in s.wins if (f := w.loser(reference)) is not None]
        return _range(over, f"over {short(reference, contest.times)}", len(over) < len(s.wins))
    behind = [(w.winners[0], w.next) for w in s.wins if w.next is not None]
    return _range(behind, "faster than the next") if behind else ""


def _range(pairs: Sequence[tuple[Verified, Verified]], over: str, alike: bool = False) -> str:
    """Return `2.1 × over sendrecv` or `up to 2.1 × over sendrecv`. `alike`: at another x there is no difference.

    If a figure has two states, the factors are those of the nearer ones: `at least 2.1 × over sendrecv`.
    """
    factors = [ranking.advantage(a, b) for a, b in pairs] or [1.0]
    low, high = min(factors), max(factors)
    if bound := provenance.at_least(*(f for pair in pairs for f in pair)):
        where = " where they differ" if alike else ""
        return f"{bound}{provenance.among(sentence.ratio2(low), pairs, 'min')} {over}{where}"
    most = provenance.among(sentence.ratio2(high), pairs)
    return f"{most} {over}" if high < 1.1 * low and not alike else f"up to {most} {over}"


def _mostly(plot: Plot, contest: Contest, wins: Sequence[Win]) -> str:
    """Return a title for frequent changes: the strategies that win most often, and the reference's largest ratio."""
    count: dict[str, int] = {}
    for w in wins:
        for f in w.winners:
            count[f.identity.variant] = count.get(f.identity.variant, 0) + 1
    most = max(count.values())
    best = [short(s, contest.times) for s, n in count.items() if n == most]
    who = listing(best) if len(best) <= MOST_NAMES else f"{len(best)} of {len(contest.times)} strategies"
    verb = "is" if len(best) == 1 else "are"
    every = "every size" if most == len(wins) else f"{most} of {len(wins)} sizes"
    over = [(o, w) for w in wins if (o := w.over(contest.reference)) is not None]
    costs = at = ""
    if over:
        pairs = [(w.winners[0], beaten) for _, w in over if (beaten := w.loser(contest.reference)) is not None]
        by, where = max(over, key=lambda one: one[0])
        bound = provenance.at_least(*(f for pair in pairs for f in pair)) or "up to "
        long = bound + provenance.among(sentence.ratio2(by), pairs)
        costs = f"; {short(contest.reference, contest.times)} lasts {long} as long"
        at = f" ({_at(plot, where)})"
    return f"{who} {verb} among the fastest at {every}{costs}{at}"


def drawings(plot: Plot, name: str, contests: Sequence[Contest]) -> list[Drawing]:
    """Return the table of winners; nothing if no figure may be ranked or only one strategy was measured."""
    some = [c for c in contests if not c.crowded and len(c.times) > 1]
    if not some:
        return []
    reference = next((c.reference for c in some if c.reference), "")
    x = plot.x.upper() if len(plot.x) == 1 else plot.x
    over = (f"{short(reference)} lasts",) if reference else ()
    head = (x, "MPI", "fastest", "time", confidence.INTERVAL, "the next lasts", *over)
    rows = [
        _row(c, w, reference) for at in sorted({w.x for c in some for w in c.wins}) for c in some for w in c.wins
        if w.x == at
    ]  # fmt: skip
    caption = (
        "Strategies that are statistically indistinguishable, or within 3 %, are tied; ties are ordered by "
        "median. 'Next' is the first strategy outside the tie."
    )
    return [Drawing(name, _table_title(plot, some), caption, head, rows)]


def _row(contest: Contest, w: Win, reference: str) -> tuple[str, ...]:
    best = w.winners[0]
    e = best.estimate
    names = [short(f.identity.variant, contest.times) for f in w.winners]
    who = names[0] if len(names) == 1 else f"{', '.join(names[:4])} (alike)"
    if w.all_alike and len(names) > 1:
        who = f"all {len(names)} alike" if w.known else f"no difference between all {len(names)} can be shown"
    elif len(names) > 4:
        who = f"{', '.join(names[:3])} and {len(names) - 3} more (tied)"
    following = [f for f in w.everyone if f not in w.winners]
    next_one = f"({short(following[0].identity.variant, contest.times)})" if following else ""
    then = f"{sentence.behind(best, following[0])} {next_one}" if following else "–"
    loser = w.loser(reference) if reference else None
    measured = any(f.identity.variant == reference for f in w.everyone)
    last = (sentence.behind(best, loser) if loser else "alike" if measured and w.known else "–",) if reference else ()
    time = quantity(e.median, best.unit)
    return (f"{w.x:g}", contest.label or "none", who, time, interval(e.low, e.high, e.median, best.unit), then, *last)


def _table_title(plot: Plot, contests: Sequence[Contest]) -> str:
    """Return `The fastest through Open MPI and MPICH: the same strategies win at 3 of 10 sizes`."""
    labels = [c.label for c in contests if c.label]
    if len(contests) < 2:
        return f"The fastest at each {plot.x.upper()}" + (f", {labels[0]}" if labels else "")
    by_x: dict[float, list[set[str]]] = {}
    for c in contests:
        for w in (w for w in c.wins if w.known and len(w.everyone) > 1):
            by_x.setdefault(w.x, []).append({f.identity.variant for f in w.winners})
    shared = [sets for sets in by_x.values() if len(sets) == len(contests)]
    if not shared:
        return f"The fastest through {listing(labels)}: no difference can be shown"
    same = sum(bool(set.intersection(*sets)) for sets in shared)
    every = "every size" if same == len(shared) else f"{same} of {len(shared)} sizes"
    suffix = "" if len(shared) == len({w.x for c in contests for w in c.wins}) else " where strategies differ"
    return f"The fastest through {listing(labels)}: the same strategies win at {every}{suffix}"
