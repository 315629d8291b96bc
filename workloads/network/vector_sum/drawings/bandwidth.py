"""Compute algorithm bandwidth, bytes of the vector over the time of its sum, from the rate that programs report.

That rate is R1's, 16 d L / t Mbit/s with d = log2 p, L the length in 2^20 bytes and a Mbit of 2^20 bits: the traffic of
recursive doubling, whatever the route. It stays in the records and in the table of earlier machines.
"""

from __future__ import annotations

import math

from msgspec.structs import replace

from firstlight.analysis import provenance
from firstlight.analysis.verdict import Estimate, Figure, Identity, Verified
from firstlight.core.heritage import Entry
from firstlight.core.units import binary, quantity
from firstlight.results.description import Metric

RATE = "rate"
METRIC = Metric("algorithm bandwidth", "GB/s", "vector", "rate", 1e-9, "higher")
_MBIT = 2**20 / 8  # bytes


def of(figure: Figure, size: float) -> Figure:
    """Return the figure of a rate as algorithm bandwidth in GB/s, for vectors of `size` bytes."""
    identity = replace(figure.identity, metric=METRIC.name)
    if not isinstance(figure, Verified):
        return replace(figure, identity=identity)
    by = METRIC.scale * size * _MBIT / figure.cost["flow"]
    ceiling = figure.ceiling
    if ceiling is not None:
        ceiling = replace(ceiling, value=by * ceiling.value, low=by * ceiling.low, high=by * ceiling.high)
    two = figure.states
    if two is not None:
        two = replace(two, lower=by * two.lower, upper=by * two.upper)
    estimate = _scaled(figure.estimate, by)
    return replace(figure, identity=identity, unit=METRIC.unit, estimate=estimate, ceiling=ceiling, states=two)


def _scaled(e: Estimate, by: float) -> Estimate:
    low, high = (None if v is None else by * v for v in (e.low, e.high))
    return replace(e, median=by * e.median, low=low, high=high, launches=tuple(by * v for v in e.launches))


def published(entry: Entry) -> float | None:
    """Return an earlier machine's rate in Mbit/s as algorithm bandwidth in GB/s; None for another unit or one rank."""
    if entry.unit != "Mbit/s" or not entry.ranks or entry.ranks < 2:
        return None
    return METRIC.scale * entry.value * _MBIT / (2 * math.log2(entry.ranks))


def format_median(f: Verified) -> str:
    """Format the median for a sentence; its source is the rate that the program reports, or the time."""
    text = quantity(f.estimate.median, f.unit)
    if f.identity.metric != METRIC.name:
        return provenance.median(f)
    formula = f"{METRIC.scale} * {_MBIT:.0f} * a / (2 * log2(a.ranks))"
    return provenance.number(text, formula, METRIC.unit, (_reported(f),))


def ahead(text: str, a: Verified, b: Verified) -> str:
    """Format how many times better a is than b; `at least` if one has two states."""
    over, under = (a, b) if a.better == "higher" else (b, a)
    formula = provenance.larger("a", "b", over, under)
    return provenance.at_least(a, b) + provenance.number(text, formula, of=(_reported(over), _reported(under)))


def _reported(f: Verified) -> Identity:
    return replace(f.identity, metric=RATE) if f.identity.metric == METRIC.name else f.identity


def size(n_bytes: float, f: Verified) -> str:
    """Format the bytes of the vector of a figure."""
    return provenance.parameter(binary(n_bytes), _reported(f), "8 * a['n']", "B")
