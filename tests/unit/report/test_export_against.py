"""JUnit against an accepted run: red where the machine has become worse, and only there."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

import synthetic
from firstlight.analysis import Judgement
from firstlight.analysis.compare import compare
from firstlight.analysis.figures import judge
from firstlight.analysis.verdict import Failed, Unverified, Verified
from firstlight.report.export.junit import against


@pytest.fixture(scope="module")
def base() -> Judgement:
    return synthetic.judgement(1, 16)


def suites(base: Judgement, run: Judgement) -> ElementTree.Element:
    return ElementTree.fromstring(against(compare(base, run), run))


def failures(root: ElementTree.Element) -> list[str]:
    return [str(test.get("classname")) for test in root.iter("testcase") if test.find("failure") is not None]


def renamed(judgement: Judgement) -> Judgement:
    return replace(judgement, run=replace(judgement.run, id="later"))


def test_a_healthy_machine_is_green_though_fast_flags_spoil_a_sum(base: Judgement) -> None:
    later = renamed(synthetic.judgement(2, 16))
    assert any(isinstance(f, Failed) and f.identity.variant == "kahan" for f in later.figures)
    root = suites(base, later)
    assert failures(root) == [] and root.get("failures") == root.get("errors") == "0"
    skipped = [t for t in root.iter("testcase") if t.get("classname") == "dot.kahan" and t.find("skipped") is not None]
    assert any("as in the accepted run" in str(t.find("skipped").get("message")) for t in skipped)  # type: ignore[union-attr]
    assert int(str(root.get("tests"))) == len({f.identity for f in (*base.figures, *later.figures)})


def test_what_is_worse_is_red_and_says_by_how_much(base: Judgement) -> None:
    root = suites(base, renamed(synthetic.judgement(2, 16, slower={"dot.simd": 1.4})))
    assert failures(root) and set(failures(root)) == {"dot.simd"}
    message = next(root.iter("failure")).get("message", "")
    assert "worse" in message and "times (" in message


def test_a_disturbed_run_is_skipped_and_never_red(base: Judgement) -> None:
    scene = synthetic.run(2, 16, slower={"dot.simd": 1.4})
    calm = judge(*scene)
    figures = tuple(replace(f, diverged=0.5) if isinstance(f, Verified) else f for f in calm.figures)
    root = suites(base, renamed(replace(calm, figures=figures)))
    assert failures(root) == []
    assert any("disturbed" in str(skipped.get("message")) for skipped in root.iter("skipped"))


@pytest.mark.parametrize("now", ["failed", "unverified"])
def test_what_was_verified_and_is_wrong_now_is_red_and_what_was_not_checked_is_skipped(
    base: Judgement, now: str
) -> None:
    one = next(f for f in base.figures if isinstance(f, Verified))
    kind = Failed if now == "failed" else Unverified
    figures = tuple(kind(f.identity, f.unit, f.better, "expected 1, found 2") if f is one else f for f in base.figures)
    root = suites(base, renamed(replace(base, figures=figures)))
    assert len(failures(root)) == (now == "failed")
    found = [e for e in root.iter() if "expected 1, found 2" in e.get("message", "")]
    assert len(found) == 1 and found[0].tag == ("failure" if now == "failed" else "skipped")


def test_a_new_variant_is_red_where_no_toolchain_gets_it_right(base: Judgement) -> None:
    gone = replace(base, figures=tuple(f for f in base.figures if f.identity.variant != "simd"))
    wrong = tuple(
        Failed(f.identity, f.unit, f.better, "expected 1, found 2") if f.identity.variant == "simd" else f
        for f in base.figures
    )
    assert set(failures(suites(gone, renamed(replace(base, figures=wrong))))) == {"dot.simd"}
    assert failures(suites(gone, renamed(base))) == []
    back = suites(base, renamed(gone))
    assert failures(back) == []
    assert any("not in this run" in str(s.get("message")) for s in back.iter("skipped"))
