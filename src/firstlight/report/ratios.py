"""Ratios: how one command compares with another: `1.02 [1.01, 1.03]`, and whether the difference matters."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from firstlight.analysis import provenance
from firstlight.analysis.compare import BETTER, SAME, WORSE, Outcome, compare_figures
from firstlight.analysis.verdict import Verified
from firstlight.core.confidence import LEVEL
from firstlight.core.units import significant


class Ratio(msgspec.Struct, frozen=True):
    """How many times larger `b` is than `a`, by the medians; `low`, `high`: None from too few launches."""

    a: Verified
    b: Verified
    value: float
    low: float | None
    high: float | None
    outcome: Outcome
    threshold: float

    @property
    def text(self) -> str:
        """Return `1.02 [1.01, 1.03]` with the sources of its numbers."""
        of = (self.a, self.b)
        value = provenance.number(significant(self.value), "ratio(a, b)", of=of)
        if self.low is None or self.high is None:
            return f"{value} [too few launches]"
        low = provenance.number(significant(self.low), "ratio_low(a, b)", of=of)
        return f"{value} [{low}, {provenance.number(significant(self.high), 'ratio_high(a, b)', of=of)}]"

    @property
    def difference(self) -> str:
        """Return `faster`, `slower`, `better`, `worse`, `same within 5 %` or `inconclusive`, of `b`."""
        if self.outcome == SAME:
            return f"same within {provenance.number(f'{100 * self.threshold:g} %', 'threshold()')}"
        if self.outcome not in (BETTER, WORSE):
            return "inconclusive"
        time = self.a.unit == "s"
        return {BETTER: "faster" if time else "better", WORSE: "slower" if time else "worse"}[self.outcome]


def ratio(a: Verified, b: Verified, threshold: float) -> Ratio:
    """Compare two figures of one run, whose launches were interleaved."""
    x, y = (replace(f, estimate=replace(f.estimate, times=())) for f in (a, b))  # prevents pooling
    found = compare_figures(x, y, threshold, LEVEL, drift=0)
    return Ratio(a, b, found.ratio, found.low, found.high, found.outcome, threshold)
