"""Ranking: the best of several verified figures, and all that are statistically the same as the best.

Every page uses two words for figures that do not differ: ANY for a tie, UNCLEAR if the launches support no choice.

Only `Verified` is accepted; oversubscribed figures are left out. Two figures are the same if the interval of their
ratio touches 1, or if they differ by less than a practical threshold. A figure with two states is better than
another only in both of them (`states.spanning`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from firstlight.analysis.interval import Ratio, quotient
from firstlight.analysis.states import least, ratio
from firstlight.analysis.verdict import Figure, Verified
from firstlight.core.confidence import LAUNCHES, LEVEL
from firstlight.results.record import Run

ANY = "any"  # no difference within the intervals that matters
UNCLEAR = "unclear"  # the medians or the ends of their ratio's interval are far apart, but show no difference
PRACTICAL = 0.03  # a smaller difference is none that a user would act on
TOUCHING = 0.005  # pages print a ratio that is closer to 1 as 1.00
WIDE = 0.15  # medians this far apart are not called the same, even where no difference can be shown
LOOSE = 1.5  # nor are figures whose ratio may be this large or its inverse


class Group(msgspec.Struct, frozen=True):
    """Figures with neighbouring medians that are the same as their first, which is the best of them.

    `behind`: how many times better the best figure of all is.
    """

    figures: tuple[Verified, ...]
    behind: float

    @property
    def best(self) -> Verified:
        return self.figures[0]


def best(figures: Iterable[Verified]) -> Verified | None:
    """Return the figure with the best median, None if there is none. Raises ValueError for figures of two metrics."""
    ordered = _ordered(figures)
    return ordered[0] if ordered else None


def presentable(run: Run, figures: Iterable[Figure]) -> list[Verified]:
    """Return the verified figures; if the budget ended the run, those with an interval."""
    good = [f for f in figures if isinstance(f, Verified)]
    ended = run.state == "budget" and run.launches >= LAUNCHES
    return [f for f in good if f.estimate.low is not None] if ended else good


def rank(figures: Iterable[Verified]) -> list[Group]:
    """Return groups from best to worst, by the medians: a group ends before the first figure that its best one beats.

    A figure behind that one is in a later group even if its scatter hides how far behind: no group contains a figure
    whose median is worse than that of a loser.
    """
    groups: list[list[Verified]] = []
    for f in _ordered(figures):
        if groups and alike(groups[-1][0], f):
            groups[-1].append(f)
        else:
            groups.append([f])
    return [Group(tuple(some), advantage(groups[0][0], some[0])) for some in groups]


def alike(a: Verified, b: Verified) -> bool:
    """Return whether no difference can be shown, or the difference is too small to matter."""
    shift = ratio(a, b, LEVEL)
    if abs(shift.value - 1) < PRACTICAL and abs(advantage(a, b) - 1) < PRACTICAL:
        return True
    return touches(shift)


def touches(shift: Ratio) -> bool:
    """Return whether the interval of a ratio includes 1 or ends at 1 as pages print it, or whether there is none."""
    return shift.low is None or shift.high is None or (shift.low < 1 + TOUCHING and shift.high > 1 / (1 + TOUCHING))


def standing(best: Verified, other: Verified) -> str:
    """Return ANY if a figure ties with the best one, UNCLEAR if launches support no conclusion, "" if it is worse."""
    if not alike(best, other):
        return ""
    few = best.estimate.low is None or other.estimate.low is None
    a, b = best.estimate.median, other.estimate.median
    shift = ratio(best, other, LEVEL)
    loose = (shift.high is not None and shift.high >= LOOSE) or (shift.low is not None and shift.low <= 1 / LOOSE)
    apart = max(quotient(a, b), quotient(b, a)) >= 1 + (PRACTICAL if few else WIDE)
    return UNCLEAR if apart or loose else ANY


def unclear(rivals: Sequence[Verified]) -> bool:
    """Return whether no choice among these figures, best first, is supported although their medians are far apart."""
    few = any(f.estimate.low is None for f in rivals)
    apart = any(standing(rivals[0], f) == UNCLEAR for f in rivals[1:])
    return apart and (few or len(rank(rivals)) == 1)


def recommended(rivals: Sequence[Verified], label: Callable[[Verified], str]) -> str:
    """Return what to choose among these figures, best first: the words of `choice`, or UNCLEAR."""
    return UNCLEAR if unclear(rivals) else choice(rank(rivals), label)


def advantage(a: Verified, b: Verified) -> float:
    """Return how many times better a is than b (> 1: a is better), for either direction, by the medians.

    If either has two states, the nearer of them count: a median of two states depends on how many launches had
    each state.
    """
    return least(b, a) if a.better == "higher" else least(a, b)


def choice(groups: Sequence[Group], label: Callable[[Verified], str]) -> str:
    """Return what to choose, in words: "any", "any native", "any but base", "gcc-native" or "gcc-native, clang-fast".

    `label` names the alternative (toolchain, MPI, variant). "any X" is used if exactly the labels `<compiler>-X` are
    the best. The result is "" if only one alternative was measured. If several follow no pattern, the best two are
    named.
    """
    everything = list(dict.fromkeys(label(f) for g in groups for f in g.figures))
    if len(everything) < 2:
        return ""
    winners = list(dict.fromkeys(label(f) for f in groups[0].figures))
    if len(winners) == len(everything):
        return ANY
    losers = [x for x in everything if x not in winners]
    won, lost = {_kind(w) for w in winners}, {_kind(x) for x in losers}
    if len(winners) > 1 and not won & lost:
        if len(won) == 1:
            return f"any {won.pop()}"
        if len(lost) == 1:
            return f"avoid {lost.pop()}"
    return ", ".join(winners[:2])


def _kind(label: str) -> str:
    """Return the flag set of a toolchain; another label as it is."""
    return label.rpartition("-")[2]


def _ordered(figures: Iterable[Verified]) -> list[Verified]:
    ranked = [f for f in figures if not f.oversubscribed]
    if len({(f.identity.metric, f.unit, f.better) for f in ranked}) > 1:
        raise ValueError("figures of different metrics cannot be ranked")
    return sorted(ranked, key=lambda f: f.estimate.median, reverse=bool(ranked) and ranked[0].better == "higher")
