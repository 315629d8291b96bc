"""Expected failures: declared with variant, flag set and reason, counted apart; nothing else is excused."""

from __future__ import annotations

from msgspec.structs import replace

from firstlight.analysis import Judgement
from firstlight.analysis.figures import judge
from firstlight.analysis.outcome import outcome
from firstlight.analysis.verdict import Failed
from firstlight.core import heritage
from firstlight.model.catalogue import ExpectedFailure, Workload
from firstlight.report import failures, html, terminal
from report_samples import sample

WHY = "-Ofast lets the compiler reorder sums"


def declared(*entries: ExpectedFailure) -> tuple[Judgement, dict[str, Workload]]:
    judgement, workloads = sample()
    some = workloads | {"dot": replace(workloads["dot"], expected_failures=entries)}
    return judge(judgement.run, list(judgement.records), some), some


def test_a_declared_failure_is_counted_apart() -> None:
    judgement, workloads = declared(ExpectedFailure(["kahan"], ["fast"], WHY))
    before = terminal.counted(sample()[0])
    after = terminal.counted(judgement)
    assert after.expected > 0 and after.failed == before.failed - after.expected
    assert f"{after.failed} failed · {after.expected} failed as expected" in terminal.summary(judgement, workloads)
    assert any(f.kind == "expected" and f.why == WHY for f in failures.failures(judgement))
    assert f"failed as expected: {after.expected} figures" in terminal.failures(judgement)
    page = html.render(judgement, workloads, heritage.load())
    assert "failed as expected" in page and WHY in page
    assert any(WHY in finding.sentence for finding in judgement.findings if finding.rule == "fast_but_wrong")


def test_another_flag_set_or_variant_excuses_nothing() -> None:
    for entry in (ExpectedFailure(["kahan"], ["native"], WHY), ExpectedFailure(["serial"], ["fast"], WHY)):
        judgement, _ = declared(entry)
        assert terminal.counted(judgement).expected == 0
        assert terminal.counted(judgement).failed == terminal.counted(sample()[0]).failed


def test_only_a_wrong_result_is_excused() -> None:
    """A program that does not build, or that is killed, has failed."""
    judgement, _ = declared(ExpectedFailure(["*"], ["base", "native", "fast"], WHY))
    some = [f for f in judgement.figures if isinstance(f, Failed)]
    assert all(bool(f.expected) == (f.cause == "check") for f in some) and len({f.cause for f in some}) > 1


def test_a_variant_that_ran_with_these_flags_alone_does_not_fail_the_run() -> None:
    def alone(judgement: Judgement) -> Judgement:
        cells = tuple(c for c in judgement.run.cells if c.program.toolchain.endswith("-fast"))
        names = {c.id for c in cells}
        records = tuple(r for r in judgement.records if r.start.cell in names)
        figures = tuple(f for f in judgement.figures if f.identity.toolchain.endswith("-fast"))
        return replace(judgement, run=replace(judgement.run, cells=cells), records=records, figures=figures)

    assert ("dot", "kahan") in outcome(alone(sample()[0])).failed
    assert ("dot", "kahan") not in outcome(alone(declared(ExpectedFailure(["kahan"], ["fast"], WHY))[0])).failed
