"""Thrift: cases in which one choice of compiler, flags, ranks and threads is fastest and another needs least energy."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from firstlight.analysis import Judgement, energy, ranking
from firstlight.analysis.formatting import where
from firstlight.analysis.verdict import Identity, Verified

WORTH = 0.05
"""A smaller difference in energy is none that a user would act on."""


class Pair(NamedTuple):
    """One choice: the figure of its speed, and that of its speed per watt or of its joules."""

    speed: Verified
    thrift: Verified

    @property
    def label(self) -> str:
        """Return `gcc-fast, 2 threads`."""
        i = self.speed.identity
        return ", ".join(filter(None, (i.toolchain, i.mpi, where(i.placement) or "1 core")))


class Conflict(NamedTuple):
    """All choices of one case; the fastest is not the one with the least energy."""

    pairs: tuple[Pair, ...]
    fastest: Pair
    thriftiest: Pair

    @property
    def saved(self) -> float:
        """Return how many times less energy the thriftiest choice needs."""
        return ranking.advantage(self.thriftiest.thrift, self.fastest.thrift)


def conflicts(judgement: Judgement) -> list[Conflict]:
    """Return the cases in which both differences can be shown, the largest saving first."""
    cases: dict[tuple[object, ...], list[Pair]] = {}
    for pair in _pairs(judgement):
        i = pair.speed.identity
        cases.setdefault((i.workload, i.variant, i.parameters, i.metric, i.placement.nodes), []).append(pair)
    found = [one for pairs in cases.values() if len(pairs) > 1 and (one := _conflict(pairs)) is not None]
    return sorted(found, key=lambda one: -one.saved)


def _conflict(pairs: list[Pair]) -> Conflict | None:
    if len({(p.speed.unit, p.speed.better, p.thrift.unit) for p in pairs}) > 1:
        return None
    speed, thrift = ranking.best(p.speed for p in pairs), ranking.best(p.thrift for p in pairs)
    fastest = next(p for p in pairs if p.speed is speed)
    thriftiest = next(p for p in pairs if p.thrift is thrift)
    conflict = Conflict(tuple(pairs), fastest, thriftiest)
    if fastest is thriftiest or ranking.alike(fastest.speed, thriftiest.speed):
        return None
    return None if conflict.saved < 1 + WORTH or ranking.alike(thriftiest.thrift, fastest.thrift) else conflict


def _pairs(judgement: Judgement) -> list[Pair]:
    """Return the first speed of each case with its energy, if both are verified and no processors were shared."""
    known: dict[Identity, Verified] = {
        f.identity: f for f in judgement.figures if isinstance(f, Verified) and not f.oversubscribed
    }
    found: dict[Identity, Pair] = {}
    for identity, thrift in known.items():
        metric = judgement.run.metric(f"{identity.workload}.{identity.variant}", identity.metric)
        if metric is None or metric.form not in energy.SUFFIXES:
            continue
        speed = known.get(replace(identity, metric=metric.name.removesuffix(energy.SUFFIXES[metric.form])))
        if speed is not None:
            found.setdefault(replace(identity, metric=""), Pair(speed, thrift))
    return list(found.values())
