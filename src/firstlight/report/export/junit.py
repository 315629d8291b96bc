"""JUnit XML: the verdicts of a run as a continuous-integration server shows them (the dialect of Jenkins and GitLab).

A suite is a workload, a test is a case of a program. It is red if the exit status of the run is 1: a case of a
variant that is wrong with every toolchain is a failure, or an error if every launch was lost. A result that is wrong
with one toolchain and right with another is a finding about the toolchain. It is skipped with this reason, as are
unverified and unavailable results, and what another tool reported. The time of a test is the median time of one step.

Compared with an accepted run a test is a figure, and it is red only if the machine, or its software, became worse:
a verified figure is worse or wrong now, or a new variant is right under no toolchain. A test is skipped, with the
reason, if the figure was already wrong in the accepted run, is inconclusive, or differs in a disturbed run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from xml.etree import ElementTree

from firstlight.analysis import Judgement, states
from firstlight.analysis.absence import absences
from firstlight.analysis.compare import SAME, UNCLEAR, WORSE, Changed, Compared, Comparison
from firstlight.analysis.formatting import values, where
from firstlight.analysis.outcome import Correctness, outcome
from firstlight.analysis.verdict import Failed, Figure, Identity, Numbered, Reported, Untimed, Unverified, Verified
from firstlight.core.shell import as_typed, printable
from firstlight.core.units import quantity, significant
from firstlight.report.export.figures import OVERSUBSCRIBED
from firstlight.results.record import Run

NOT_AVAILABLE = "not available"  # the suite of what could not be tried
_LONGEST = 2000  # characters of a foreign text


def to_junit(judgement: Judgement) -> str:
    """Return one document with a suite for each workload, and one for what was not available if there is any."""
    run, came = judgement.run, outcome(judgement)
    root = ElementTree.Element("testsuites", name=_clean(f"firstlight {run.id}"))
    measured = [figure.identity.workload for figure in judgement.figures]
    for workload in dict.fromkeys([*measured, *(w for w, _ in came.failed)]):
        suite = _suite(root, workload, run)
        for figures in _cases(f for f in judgement.figures if f.identity.workload == workload):
            _test(suite, figures, run, came)
        for variant in (v for w, v in came.failed if w == workload):
            _unproved(suite, f"{workload}.{variant}")
        _notes(suite, [line for line in judgement.lost if line.startswith(f"{workload}.")])
    absent_here = absences(judgement)
    if absent_here:
        suite = _suite(root, NOT_AVAILABLE, run)
        for absent in absent_here:
            test = ElementTree.SubElement(suite, "testcase", classname=NOT_AVAILABLE, name=_clean(absent.what))
            _mark(test, "skipped", absent.why)
    return _document(root)


def against(found: Comparison, judgement: Judgement) -> str:
    """Return one document on a run compared with another; `found` is its comparison with the accepted run."""
    run, came = judgement.run, outcome(judgement)
    root = ElementTree.Element("testsuites", name=_clean(f"firstlight {run.id} compared with {found.a}"))
    compared = {f.identity: f for f in found.figures}
    changed = {c.identity: c for c in found.changed}
    known = {*compared, *changed, *found.not_compared}
    suites: dict[str, ElementTree.Element] = {}
    for who in (*(f.identity for f in judgement.figures), *found.only_a):
        if who.workload not in suites:
            suites[who.workload] = _suite(root, who.workload, run)
    for figure in judgement.figures:
        who = figure.identity
        test = _named(suites[who.workload], who)
        if who in compared:
            _compared(test, compared[who], found)
        elif who in changed:
            _verdict(test, changed[who])
        elif who in known:
            why = OVERSUBSCRIBED if isinstance(figure, Verified) else figure.reason
            _mark(test, "skipped", f"not compared, as in the accepted run: {why}")
        elif isinstance(figure, Failed) and (who.workload, who.variant) in came.failed:
            _mark(test, "failure", figure.reason, figure.cause)
        elif isinstance(figure, Failed):
            _mark(test, "skipped", _expected(figure, came.right.get((who.workload, who.variant), ())))
        elif isinstance(figure, Unverified | Untimed | Reported):
            _mark(test, "skipped", figure.reason)
        else:
            ElementTree.SubElement(test, "system-out").text = _clean(f"not in {found.a}; {_figure(figure)}")
    for who in found.only_a:
        _mark(_named(suites[who.workload], who), "skipped", f"measured in {found.a} but not in this run")
    return _document(root)


def _compared(test: ElementTree.Element, one: Compared[Identity], found: Comparison) -> None:
    """Record the outcome of a figure that both runs verified."""
    span = "too few" if one.low is None or one.high is None else f"{significant(one.low)} - {significant(one.high)}"
    values = " and ".join(quantity(e.median, one.unit) for e in (one.a, one.b))
    text = f"{one.outcome}: {values}, {significant(one.ratio)} times ({span})"
    text += f"; {one.two_states}" if one.two_states else ""
    if one.observed and one.outcome != SAME:
        _mark(test, "skipped", f"an observed value, which does not affect the result: {text}")
    elif found.disturbed and one.different:
        _mark(test, "skipped", f"inconclusive: {'; '.join(found.disturbed)}; {text}")
    elif one.outcome == WORSE:
        _mark(test, "failure", text, WORSE)
    elif one.outcome == UNCLEAR:
        _mark(test, "skipped", text if one.reason == one.two_states else f"{text}: {one.reason}")
    else:
        ElementTree.SubElement(test, "system-out").text = _clean(text)


def _verdict(test: ElementTree.Element, changed: Changed[Identity]) -> None:
    text = f"{changed.before} in the accepted run, {changed.after} now" + (
        f": {changed.reason}" if changed.reason else ""
    )
    if changed.regression:
        _mark(test, "failure", text, "verdict")
    elif changed.after == "unverified":
        _mark(test, "skipped", text)
    else:
        ElementTree.SubElement(test, "system-out").text = _clean(text)


def _named(suite: ElementTree.Element, who: Identity) -> ElementTree.Element:
    """Add the test of one figure to a suite and return it."""
    return ElementTree.SubElement(
        suite,
        "testcase",
        classname=_clean(f"{who.workload}.{who.variant}"),
        name=_clean(" ".join(x for x in (who.metric, _name(who)) if x)),
    )


def _document(root: ElementTree.Element) -> str:
    """Return the text of all suites, with the number of tests, failures and errors."""
    for suite in root:
        _count(suite)
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _clean(text: str) -> str:
    """Return text, with hints that work as typed, as XML can contain it: without control characters, and cut."""
    kept = printable(as_typed(text[:_LONGEST]))
    return kept if len(text) <= _LONGEST else kept + "…"


def _suite(root: ElementTree.Element, name: str, run: Run) -> ElementTree.Element:
    """Add an empty suite with the properties that its figures depend on: the machine, the toolchains."""
    began = datetime.fromtimestamp(run.started, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    suite = ElementTree.SubElement(
        root, "testsuite", name=_clean(name), timestamp=began, hostname=_clean(run.machine.name)
    )
    tools = run.toolbox
    properties = {
        "run": run.id,
        "state": run.state,
        "suite": run.suite,
        "firstlight": run.firstlight,
        "machine": run.machine.name,
        "processor": run.machine.processor,
        "toolchains": ", ".join(f"{t.name} ({t.version})" for t in tools.toolchains),
        "mpi": ", ".join(f"{m.name} ({m.version})" for m in tools.mpis),
    }
    element = ElementTree.SubElement(suite, "properties")
    for key, value in properties.items():
        ElementTree.SubElement(element, "property", name=key, value=_clean(value))
    return suite


def _cases(figures: Iterable[Figure]) -> list[list[Figure]]:
    """Group the figures of one case of one program: they share their launches and their checks."""
    found: dict[tuple[object, ...], list[Figure]] = {}
    for figure in figures:
        i = figure.identity
        found.setdefault((i.variant, i.toolchain, i.mpi, i.placement, i.parameters), []).append(figure)
    return list(found.values())


def _unproved(suite: ElementTree.Element, name: str) -> None:
    """Add a failure for a variant that was tried and has neither a wrong nor a verified case."""
    tests = [test for test in suite.findall("testcase") if test.get("classname") == _clean(name)]
    if not any(test.find(kind) is not None for test in tests for kind in ("failure", "error")):
        test = ElementTree.SubElement(suite, "testcase", classname=_clean(name), name="(any toolchain)")
        _mark(test, "failure", "ran, but no result passed verification with any toolchain", "unverified")


def _test(suite: ElementTree.Element, figures: Sequence[Figure], run: Run, came: Correctness) -> None:
    who = figures[0].identity
    failed = (who.workload, who.variant) in came.failed
    right = came.right.get((who.workload, who.variant), ())
    test = ElementTree.SubElement(
        suite, "testcase", classname=_clean(f"{who.workload}.{who.variant}"), name=_clean(_name(who))
    )
    seconds = next((t for t in (_seconds(figure, run) for figure in figures) if t is not None), None)
    if seconds is not None:
        test.set("time", f"{seconds:.9f}")
    for figure in figures:
        match figure:
            case Failed() if not failed:
                _mark(test, "skipped", _expected(figure, right))
            case Failed(cause="lost"):
                _mark(test, "error", figure.reason, "lost")
            case Failed():
                _mark(test, "failure", figure.reason, figure.cause)
            case Unverified() | Reported():
                _mark(test, "skipped", figure.reason)
    lines = [_figure(figure) for figure in figures if isinstance(figure, Verified | Reported)]
    lines += [f"{figure.identity.metric}: {figure.reason}" for figure in figures if isinstance(figure, Untimed)]
    if lines:
        ElementTree.SubElement(test, "system-out").text = _clean("\n".join(lines))


def _expected(figure: Failed, right: Sequence[str]) -> str:
    """Return the reason, worded as a finding about the toolchain."""
    where = f"correct with {right[0]}" + (f" and {len(right) - 1} more" if len(right) > 1 else "") if right else ""
    why = "; ".join(filter(None, (figure.expected, where)))
    return f"expected, a finding about {figure.identity.toolchain} ({why}): {figure.reason}"


def _name(who: Identity) -> str:
    """Return `n = 1000, 2 ranks (gcc-native, mpich)`."""
    what = ", ".join(x for x in (values(who.parameters), where(who.placement)) if x)
    tools = who.toolchain + (f", {who.mpi}" if who.mpi else "")
    return f"{what} ({tools})" if what else f"({tools})"


def _mark(test: ElementTree.Element, kind: str, reason: str, cause: str = "") -> None:
    """Mark a test at most once per kind: the metrics of a case fail together."""
    if test.find(kind) is None:
        element = ElementTree.SubElement(test, kind, message=_clean(reason))
        if cause:
            element.set("type", _clean(cause))


def _figure(figure: Numbered) -> str:
    """Return `rate: 39.3 Gflop/s [22.6 - 40.2], 7 launches, 99 % of ceiling`."""
    e = figure.estimate
    interval = "too few" if e.low is None or e.high is None else f"{significant(e.low)} - {significant(e.high)}"
    share = note = ""
    if isinstance(figure, Verified):
        share = "" if figure.of_ceiling is None else f", {100 * figure.of_ceiling:.0f} % of ceiling"
        note = f" ({OVERSUBSCRIBED})" if figure.oversubscribed else ""
    number = f"{significant(e.median)} {figure.unit} [{interval}]"
    two = f"; bimodal: {states.describe_states(figure.states, figure.unit)}" if figure.states else ""
    return f"{figure.identity.metric}: {number}, {len(e.launches)} launches{share}{two}{note}"


def _seconds(figure: Figure, run: Run) -> float | None:
    """Return the median time of one step in seconds; None without a verified time, or if processors were shared."""
    if not isinstance(figure, Verified) or figure.oversubscribed:
        return None
    metric = run.metric(f"{figure.identity.workload}.{figure.identity.variant}", figure.identity.metric)
    work = figure.cost.get(metric.quantity, 0.0) if metric else 0.0
    median = figure.estimate.median
    if (
        metric is None
        or metric.phase
        or metric.form not in ("rate", "time")
        or not work
        or not metric.scale
        or not median
    ):
        return None
    seconds = metric.scale * work / median if metric.form == "rate" else median * work / metric.scale
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _notes(suite: ElementTree.Element, lost: Sequence[str]) -> None:
    if lost:
        ElementTree.SubElement(suite, "system-err").text = _clean("\n".join(lost))


def _count(suite: ElementTree.Element) -> None:
    tests = suite.findall("testcase")
    suite.set("tests", str(len(tests)))
    for name, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(sum(test.find(kind) is not None for test in tests)))
