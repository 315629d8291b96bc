"""Steadiness: a changing machine is distinguished from launches that draw their own state; neither is steady."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from firstlight.analysis.interval import estimate
from firstlight.analysis.provenance import settle
from firstlight.analysis.states import states
from firstlight.analysis.steadiness import Kind, disturbances, kind, restless, steadiness
from firstlight.analysis.verdict import Ceiling, Identity, Steadiness, Together, Verified
from firstlight.model.plan import Placement
from firstlight.report import terminal, verdict
from firstlight.report.plots import spread
from report_samples import sample, view_of
from synthetic_machine import machine


def figure(
    variant: str, times: list[float], slow: list[bool], ranks: int = 2, working_set: float = 64.0, apart: float = 3.0
) -> Verified:
    r = random.Random(variant)
    values = [r.lognormvariate(0, 0.02) * (apart if s else 1.0) for s in slow]
    identity = Identity("pingpong", variant, "gcc-native", "openmpi", Placement(1, ranks), (("bytes", 8),), "latency")
    e = replace(estimate(values), times=tuple(times))
    return Verified(identity, "us", "lower", e, working_set, {"messages": 1.0}, None, 0.0, states=states(values))


def run(draw: Callable[[random.Random, float], bool], programs: int = 6, rounds: int = 13, seed: int = 1) -> Steadiness:
    """Return programs interleaved for some rounds, one launch per second; `draw` decides by time which launches are
    slow.
    """
    r = random.Random(seed)
    at: dict[str, list[tuple[float, bool]]] = {f"v{k}": [] for k in range(programs)}
    now = 0.0
    for _ in range(rounds):
        for name in r.sample(sorted(at), programs):
            at[name].append((now, draw(r, now)))
            now += 1.0
    figures = [figure(name, [t for t, _ in some], [s for _, s in some]) for name, some in at.items()]
    (found,) = steadiness(figures, {}, machine())
    return found


def stretches(r: random.Random, now: float) -> bool:
    return int(now / 11) % 3 == 1


def test_a_machine_that_changes_for_a_while_is_told_as_such() -> None:
    for seed in range(20):
        found = run(stretches, seed=seed)
        assert found.together == "together"
        assert found.slow == sum(stretches(random.Random(), float(t)) for t in range(78))
        assert found.slower == pytest.approx(3, rel=0.05)


def test_launches_that_draw_their_own_are_told_as_such() -> None:
    found = [run(lambda r, now: r.random() < 0.35, seed=seed).together for seed in range(40)]
    assert found.count("together") <= 2  # 1 % each
    assert found.count("each") >= 36


def test_from_few_launches_nothing_is_said_of_their_order() -> None:
    assert run(lambda r, now: r.random() < 0.35, programs=1, rounds=8).together == "unclear"
    assert run(lambda r, now: now in (3.0, 40.0)).together == "unclear"


def test_a_steady_machine_disturbs_nothing() -> None:
    found = run(lambda r, now: False)
    assert (found.slow, found.slower, found.together) == (0, 1.0, "unclear")
    assert restless([found]) is None and disturbances([found]) == []


def test_sentences() -> None:
    some = Steadiness("several ranks", 161, 55, 2.946, 138, 104, "together")
    assert disturbances([some, Steadiness("one core", 546, 2, 1.33, 193, 1, "each")]) == [
        "55 of 161 launches of several ranks were 2.9 x slower than other launches of the same programs. They were "
        "clustered in time, so something outside these programs slowed them"
    ]
    (sentence,) = disturbances([Steadiness("memory", 93, 16, 1.493, 8, 0, "each")])
    alone = (
        "16 of 93 launches beyond the caches were 1.5 x slower than other launches of the same programs. They were not "
        "clustered in time"
    )
    assert sentence == alone
    (sentence,) = disturbances([Steadiness("memory", 93, 16, 1.493, 8, 6, "each")])
    assert sentence == f"{alone}, so perhaps ranks or pages were placed differently"


@pytest.mark.parametrize("kind", ["one core", "several cores", "several ranks", "memory", "a GPU"])
@pytest.mark.parametrize("together", ["together", "each", "unclear"])
def test_the_health_of_a_machine_is_whole_sentences_of_30_words(kind: Kind, together: Together) -> None:
    judgement, workloads = sample()
    some = (Steadiness(kind, 161, 55, 2.9, 138, 104, together),)
    busy = replace(judgement.run, machine=replace(judgement.run.machine, load=5.24))
    health = settle(verdict.health(replace(judgement, steadiness=some, run=busy), workloads))
    first, *others = health.split(". ")
    assert (
        first == "usable with care"
        and others[-1] == "Rely on the choices of this page, not on the order of the medians"
    )
    assert "The processors were not idle before the run: load average 5.2 on 2 CPUs" in others
    assert all(len(x.split()) <= 30 and (x[0].isupper() or x[0].isdigit()) for x in others), health


def test_classes_come_from_placement_and_the_binding_ceiling() -> None:
    here, known = machine(), sample()[1]
    last = here.last_cache()
    assert last is not None
    plain = figure("v", [0.0, 1.0], [False, False], ranks=1)
    beyond = replace(plain, working_set=4.0 * last.size)
    by_flops = replace(beyond, ceiling=Ceiling(1, 1, 1, "flops_64"))
    by_memory = replace(beyond, ceiling=Ceiling(1, 1, 1, "load_bandwidth"))
    threads = replace(plain, identity=replace(plain.identity, placement=Placement(1, 1, 2)))
    ranks = replace(by_memory, identity=replace(plain.identity, placement=Placement(1, 2, 1)))
    found = [kind(f, known, here) for f in (plain, beyond, by_flops, by_memory, threads, ranks)]
    assert found == ["one core", "memory", "one core", "memory", "several cores", "several ranks"]


@pytest.mark.parametrize("slow", [0, 2])
def test_held_still_is_not_said_when_launches_of_a_class_were_slower(slow: int) -> None:
    judgement, workloads = sample()
    quiet = Steadiness("one core", 100, 0, 1.0, 10, 0, "unclear")
    judged = replace(judgement, steadiness=(quiet, replace(quiet, name="memory", slow=slow, slower=1.4)))
    drawn = spread.drift(view_of(judged, workloads))
    assert drawn is not None
    found = "The machine was steady" if slow == 0 else "2 of 100 launches beyond the caches were 1.4 x slower"
    assert drawn.title.startswith(found)
    page = terminal.summary(replace(judged, steadiness=(replace(quiet, slow=30, slower=2.0),)), workloads)
    care = "health usable with care. 30 of 100 launches on one core were 2.0 x slower"
    assert care in " ".join(page.split())
