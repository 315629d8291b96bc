"""Sweep: find the best algorithm in each part of a sweep, and the size or scale at which the best one changes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from firstlight.core.units import binary
from firstlight.execute.network.prediction import Prediction

TIE = 0.02  # an algorithm stays the best one until another is faster by more than this


class Span(msgspec.Struct, frozen=True):
    """The range of swept values from `first` to `last` in which `algorithm` is the best. `until`: the value at which
    the next one becomes faster.

    This cross-over is interpolated between two swept values, on logarithmic axes (None: the end of the sweep).
    """

    algorithm: str
    first: float
    last: float
    until: float | None


Line = Mapping[float, float]
"""Seconds by size or by number of ranks."""


def lines(predictions: Sequence[Prediction], by_scale: bool = False) -> dict[str, dict[float, float]]:
    """Return the line of each algorithm with a time, by size in bytes or by number of ranks; noise is included."""
    found: dict[str, dict[float, float]] = {}
    for p in predictions:
        if p.usable and p.expected is not None:
            found.setdefault(p.algorithm, {})[float(p.ranks if by_scale else p.bytes)] = p.expected
    return found


def spans(some: Mapping[str, Line]) -> list[Span]:
    """Return the best algorithm over the sweep, ascending and without gaps.

    In a tie the previous best one stays; among new ones, the one that stays best for the most values wins.
    """
    xs = sorted({x for line in some.values() for x in line})
    tied = [_tied(some, x) for x in xs]
    best: list[tuple[float, str]] = []
    for k, x in enumerate(xs):
        if not best or best[-1][1] not in tied[k]:
            best.append((x, max(tied[k], key=lambda name: _lasting(name, tied[k:]))))
        else:
            best.append((x, best[-1][1]))
    found: list[Span] = []
    for k, (x, name) in enumerate(best):
        if found and found[-1].algorithm == name:
            found[-1] = Span(name, found[-1].first, x, None)
            continue
        if found:
            old = found[-1]
            found[-1] = Span(
                old.algorithm, old.first, old.last, _crossing(some, old.algorithm, name, best[k - 1][0], x)
            )
        found.append(Span(name, x, x, None))
    return found


def _tied(some: Mapping[str, Line], x: float) -> list[str]:
    """Return the algorithms whose time at `x` equals the shortest one, within TIE, the fastest first."""
    here = sorted((line[x], name) for name, line in some.items() if x in line)
    return [name for seconds, name in here if seconds <= (1 + TIE) * here[0][0]]


def _lasting(name: str, tied: Sequence[Sequence[str]]) -> int:
    """Return for how many values in a row the algorithm is among the best."""
    return next((k for k, names in enumerate(tied) if name not in names), len(tied))


def _crossing(some: Mapping[str, Line], old: str, new: str, low: float, high: float) -> float:
    """Return where `new` overtakes `old` between two swept values."""
    if low <= 0:
        return high
    middle = math.sqrt(low * high)
    if not all(some[name].get(x) for name in (old, new) for x in (low, high)):  # a single node needs 0 s
        return middle
    before = math.log(some[new][low] / some[old][low])
    after = math.log(some[new][high] / some[old][high])
    if before <= 0 or after >= 0:  # they were level at one end
        return low if before <= 0 else high
    share = before / (before - after)
    return math.exp(math.log(low) + share * math.log(high / low))


def crossings(some: Sequence[Span], kind: str) -> str:
    """Return text such as `up to 24 KiB binomial is the fastest, beyond that trinaryx3`; `kind` is size or scale."""
    shown = size_near if kind == "size" else ranks_near
    if not some:
        return "no algorithm has a prediction"
    if len(some) == 1:
        return f"{some[0].algorithm} is the fastest at every {kind}"
    parts = []
    for k, span in enumerate(some):
        if span.until is None:
            parts.append(f"beyond that {span.algorithm}")
        else:
            first, last = ("", " is the fastest") if k == 0 else ("then ", "")
            parts.append(f"{first}up to {shown(span.until)} {span.algorithm}{last}")
    return ", ".join(parts)


def size_near(value: float) -> str:
    """Return an interpolated size with two digits, as `24 KiB`."""
    return binary(value, 2)


def ranks_near(value: float) -> str:
    """Return an interpolated number of ranks with two digits, as `1,200 ranks`."""
    return f"{round(value, min(0, 2 - len(str(int(value))))):,.0f} ranks"
