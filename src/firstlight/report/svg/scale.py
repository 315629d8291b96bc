"""Scale: map values to pixels, and choose a few round ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from firstlight.report.svg.element import raised

Tick = tuple[float, str]
FAR = 1e300
"""Values beyond are not shown: a range with its margin must be a float."""


class Scale(msgspec.Struct, frozen=True):
    """A linear or logarithmic axis from `low` at the pixel `first` to `high` at the pixel `last`.

    A category's value is its position in `names`.
    """

    low: float
    high: float
    first: float = 0.0
    last: float = 1.0
    log: bool = False
    names: tuple[str, ...] = ()

    def at(self, value: float) -> float:
        """Return the pixel of a value. On a logarithmic axis the value must be positive."""
        low, high, v = (math.log10(x) if self.log else x for x in (self.low, self.high, value))
        return self.first + (v - low) / ((high - low) or 1) * (self.last - self.first)

    def shows(self, value: object) -> bool:
        """Return whether the axis can show a value, also outside of its range."""
        return isinstance(value, int | float) and (1 / FAR if self.log else -FAR) < value < FAR

    @staticmethod
    def finite(value: object) -> bool:
        """Return whether a linear axis can show a value."""
        return Scale(0, 1).shows(value)

    def contains(self, value: float, slack: float = 1e-9) -> bool:
        """Return whether a value is between the ends."""
        pixel, ends = self.at(value), sorted((self.first, self.last))
        return ends[0] - slack <= pixel <= ends[1] + slack

    def placed(self, first: float, last: float) -> Scale:
        """Return the same axis between other pixels."""
        return msgspec.structs.replace(self, first=first, last=last)


MOST_DECADES = 307.0
"""The largest exponent of an end of a logarithmic axis."""


def spread(values: Sequence[float], log: bool, margin: float = 0.05) -> tuple[float, float]:
    """Return a range that contains the values with a margin on both sides, also around equal values."""
    low, high = (min(values), max(values)) if values else (1.0, 1.0)
    if log:
        a, b = math.log10(low), math.log10(high)
        extra = max(margin * (b - a), 0.03) if b > a else 0.3
        return 10 ** max(a - extra, -MOST_DECADES), 10 ** min(b + extra, MOST_DECADES)
    extra = margin * (high - low) if high > low else 0.5 * abs(high) or 0.5
    return low - extra, high + extra


def ticks(low: float, high: float, log: bool, most: int = 7) -> list[Tick]:
    """Return at most `most` round values from low to high with their labels, in rising order."""
    low, high = min(low, high), max(low, high)
    if not log:
        return _linear(low, high, most)
    decades = math.log10(high / low)
    if decades < 0.75:
        return _linear(low, high, most)
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    for digits in ((1, 2, 5), (1, 3), (1,)):
        fine = [d * 10.0**k for k in range(first - 1, last + 1) for d in digits]
        inside = [v for v in fine if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]
        if 1 < len(inside) <= most:
            return _named(inside)
    step = max(1, -(-(last - first + 1) // most))
    return _named([10.0**k for k in range(first, last + 1) if k % step == 0]) or _linear(low, high, most)


def _linear(low: float, high: float, most: int) -> list[Tick]:
    raw = (high - low) / most
    if raw <= 0 or not math.isfinite(raw):
        return _named([low])
    power = 10.0 ** math.floor(math.log10(raw))
    for step in (power, 2 * power, 5 * power, 10 * power, 20 * power):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first + 1 <= most:
            break
    return _named([k * step for k in range(first, last + 1)])


def _named(values: Sequence[float]) -> list[Tick]:
    return list(zip(values, labels(values), strict=True))


def labels(values: Sequence[float]) -> list[str]:
    """Return the shortest labels that differ: `0.5`, `2,000`, `10⁶`."""
    largest = max((abs(v) for v in values), default=0.0)
    smallest = min((abs(v) for v in values if v), default=0.0)
    if largest >= 1e5 or 0 < smallest < 1e-3:
        found = [_power(v) for v in values]
        if len(set(found)) == len(found):
            return found
    for digits in range(3, 17):
        found = [_plain(v, digits) for v in values]
        if len(set(found)) == len(found):
            return found
    return found


def _plain(value: float, digits: int) -> str:
    text = f"{value:.{digits}g}"
    if "e" in text:
        text = f"{value:,.0f}" if abs(value) >= 1 else text
    elif abs(value) >= 10_000:
        whole, point, decimals = text.partition(".")
        text = f"{int(whole):,}{point}{decimals}"
    return "0" if text in ("-0", "0") else text.replace("-", "−")


def _power(value: float) -> str:
    if value == 0:
        return "0"
    exponent = max(math.floor(math.log10(abs(value)) + 1e-12), -300)
    factor = f"{value / 10**exponent:.3g}".replace("-", "−")
    return f"10{raised(exponent)}" if factor == "1" else f"{factor}·10{raised(exponent)}"
