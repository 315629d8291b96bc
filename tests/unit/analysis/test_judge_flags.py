"""Flags that harm are a finding, with the medians that are shown; flags that help and noise are none."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

import synthetic
from firstlight.analysis import Finding, Judgement
from firstlight.analysis.findings import flags_harm
from firstlight.analysis.findings._common import gain, shown
from firstlight.analysis.interval import estimate
from firstlight.analysis.provenance import settle
from firstlight.analysis.states import states
from firstlight.analysis.verdict import Identity, Verified
from firstlight.model.plan import Placement


@pytest.fixture(scope="module")
def judged() -> Judgement:
    return synthetic.judgement(1, 2, only=["dot"])


def figure(toolchain: str, level: float, noise: float = 0.02, n: int = 13, **parameters: int) -> Verified:
    r = random.Random(f"{toolchain} {level} {parameters}")
    return of(toolchain, [level * r.lognormvariate(0, noise) for _ in range(n)], **parameters)


def of(toolchain: str, values: list[float], **parameters: int) -> Verified:
    at = tuple(sorted({"n": 1000, **parameters}.items()))
    identity = Identity("dot", "unrolled_8", toolchain, None, Placement(), at, "rate")
    e = estimate(values)
    return Verified(identity, "Gflop/s", "higher", e, 16e3, {"flops": 2e3}, None, 0.0, states=states(values))


def flag_findings(judged: Judgement, *figures: Verified) -> list[Finding]:
    return flags_harm.find(replace(judged, figures=figures), {})


def test_fast_flags_that_are_slower_than_native(judged: Judgement) -> None:
    native, fast = figure("clang-native", 18.4), figure("clang-fast", 3.2)
    (found,) = flag_findings(judged, figure("clang-base", 3.0), native, fast, figure("gcc-native", 18.0))
    slow, quick = (f.estimate.median for f in (fast, native))
    assert found.sentence == (
        f"fast flags make dot.unrolled_8 {quick / slow:.1f} x slower than native with clang: "
        f"{slow:.2f} Gflop/s against {quick:.1f} Gflop/s (n = 1000)"
    )
    assert found.command == "./fl run dot.unrolled_8 --toolchain 'clang-*'"
    assert found.about == (fast.identity, native.identity)


def test_native_flags_that_are_slower_than_base_in_the_worst_case(judged: Judgement) -> None:
    (found,) = flag_findings(
        judged,
        *(figure("gcc-base", 4.0, n=13), figure("gcc-native", 3.0)),
        *(figure("gcc-base", 4.0, m=2), figure("gcc-native", 2.0, m=2)),
    )
    assert found.sentence.startswith("native flags make dot.unrolled_8 2.0 x slower than base with gcc: ")
    assert found.sentence.endswith("(m = 2, n = 1000)") and len(found.about) == 4


def test_flags_that_help_or_differ_little_harm_nobody(judged: Judgement) -> None:
    assert flag_findings(judged, figure("gcc-base", 3.0), figure("gcc-native", 18.0), figure("gcc-fast", 19.0)) == []
    assert flag_findings(judged, figure("gcc-base", 3.0), figure("gcc-native", 2.8)) == []  # less than 15 %
    assert flag_findings(judged, figure("gcc-base", 9.0), figure("clang-native", 3.0)) == []  # another compiler
    assert flag_findings(judged, figure("gcc-base", 9.0, n=4), figure("gcc-native", 3.0, n=4)) == []  # too few launches


def test_noise_alone_is_no_harm(judged: Judgement) -> None:
    r = random.Random(5)
    found = 0
    for _ in range(200):
        base, native = ([10 * r.lognormvariate(0, 0.3) for _ in range(8)] for _ in "ab")
        found += bool(flag_findings(judged, of("gcc-base", base), of("gcc-native", native)))
    assert found <= 2


def test_states_that_fell_otherwise_are_no_harm(judged: Judgement) -> None:
    base, native = of("gcc-base", [10.0, 10.1] * 6 + [3.0] * 3), of("gcc-native", [10.0] * 3 + [3.0, 3.1] * 6)
    assert base.states and native.states
    assert flag_findings(judged, base, native) == []


def test_a_gain_is_the_ratio_of_the_medians_shown_and_of_the_nearer_states() -> None:
    a, b = figure("gcc-base", 3.0, 0.2), figure("gcc-native", 9.0, 0.2)
    assert gain(b, a).value == b.estimate.median / a.estimate.median
    two, other = of("gcc-base", [1.0] * 6 + [3.0] * 6), of("gcc-native", [4.0] * 6 + [6.0] * 6)
    assert gain(other, two).value == pytest.approx(2.0)  # 4 / 1 in the lower, 6 / 3 in the upper states


def test_evidence_names_the_states_of_a_figure(judged: Judgement) -> None:
    two, one = of("gcc-base", [1.0] * 6 + [3.0] * 6), figure("gcc-base", 3.0)
    assert settle(shown(judged, two)).endswith("; bimodal: 1.00 or 3.00 Gflop/s, 6 of 12 in the lower)")
    assert "bimodal" not in shown(judged, one)
