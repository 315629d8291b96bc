"""Nominal peaks, computed again from `machine.hardware` of a run.json. Nothing of firstlight is imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Facts = dict[str, Any]


def _per_cycle(core: Facts) -> float:
    return float(2 * core["units"] * core["width"] / 64)


def nominal_flops(hardware: Facts, cores: int) -> float:
    """Return the peak of the core of serial programs, which is described first, or of all cores."""
    some = hardware["arithmetic"]
    rates = [_per_cycle(x) * x["clock"] for x in some]
    return float(rates[0] if cores == 1 else sum(r * x["cores"] for r, x in zip(rates, some, strict=True)))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "nominal_flops": nominal_flops,
    "clock": lambda hardware: hardware["arithmetic"][0]["clock"],
    "nominal_memory": lambda hardware: hardware["memory"],
    "link_rate": lambda hardware: hardware["links"][0]["rate"],
    "link_count": lambda hardware: hardware["links"][0]["count"],
}
