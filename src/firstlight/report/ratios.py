"""Ratios: compares the commands of a run as ratios with intervals: `B / A = 1.02 [1.01, 1.03]`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from firstlight.analysis import Judgement
from firstlight.analysis.compare import BETTER, SAME, WORSE, compare_figures
from firstlight.analysis.verdict import DISTURBED, Verified
from firstlight.core.confidence import LEVEL
from firstlight.core.roles import EXECUTION_CPU
from firstlight.core.units import interval, percent, quantity, significant
from firstlight.model.catalogue import Workload
from firstlight.report.answers import Answer, answers, chooser, label

MOST = 12  # largest number of lines


def lines(judgement: Judgement, workloads: Mapping[str, Workload], threshold: float) -> list[str]:
    """Return a line for each command compared with the first, for each case and quantity; after MOST lines, a count.

    CPU time is shown if wall and CPU time diverged: then it is the more reliable of the two.
    """
    found = [line for answer in _shown(judgement, workloads) for line in _of(judgement, answer, threshold)]
    more = len(found) - MOST
    return found[:MOST] + ([f"and {more} more like these; the report has the figures"] if more > 0 else [])


def _shown(judgement: Judgement, workloads: Mapping[str, Workload]) -> Iterator[Answer]:
    """Yield the rows that choose among all variations: the headlines, and CPU time if the run was disturbed."""
    choose = {one.name: one.rows[0].choose for one in judgement.run.brought if one.rows}
    cpu = {one.name: {r.metric for r in one.roles if r.role == EXECUTION_CPU} for one in judgement.run.brought}
    for answer in answers(judgement, workloads):
        if answer.row.choose == choose.get(answer.workload) and answer.rivals:
            disturbed = max(f.diverged for f in answer.rivals) >= DISTURBED
            if answer.row.headline or (disturbed and answer.row.metric in cpu[answer.workload]):
                yield answer


def _of(judgement: Judgement, answer: Answer, threshold: float) -> Iterator[str]:
    run, key = judgement.run, chooser(answer.row.choose)
    first, *others = _in_order(answer, [v for one in run.brought for v in one.commands])
    if not others and not answer.row.headline:
        e, share = first.estimate, percent(first.diverged)
        span = interval(e.low, e.high, e.median, first.unit, " - ")
        median = quantity(e.median, first.unit)
        yield f"{answer.row.title}: {median} [{span}]; it diverged from wall time in {share} of the samples"
    for other in others:
        b, a = (label(run, answer.row.choose, key(f.identity)) for f in (other, first))
        value, outcome = ratio(first, other, threshold)
        yield f"{b} / {a} = {value}, {answer.row.title}: {outcome}"


def _in_order(answer: Answer, commands: Sequence[str]) -> list[Verified]:
    """Return the best of each choice: commands in the order typed, other choices with the best first."""
    if answer.row.choose != "variant":
        return list(answer.rivals)
    return sorted(answer.rivals, key=lambda f: commands.index(f.identity.variant))


def ratio(a: Verified, b: Verified, threshold: float) -> tuple[str, str]:
    """Return `1.02 [1.01, 1.03]`, B / A of two figures of one run with interleaved launches, and the outcome."""
    x, y = (replace(f, estimate=replace(f.estimate, times=())) for f in (a, b))  # prevents pooling
    found = compare_figures(x, y, threshold, LEVEL, drift=0)
    ends = [significant(end) for end in (found.low, found.high) if end is not None]
    span = ", ".join(ends) or "too few launches"
    outcomes = {SAME: f"same within {100 * threshold:g} %", BETTER: "better", WORSE: "worse"}
    return f"{significant(found.ratio)} [{span}]", outcomes.get(found.outcome, "inconclusive")
