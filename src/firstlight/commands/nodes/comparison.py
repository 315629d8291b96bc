"""Compare the nodes of a machine: the performance of each relative to the median, and the outliers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

import msgspec
from msgspec.structs import replace

from firstlight.analysis import Judgement, energy, environment, nodes, states
from firstlight.analysis.formatting import name as named_figure
from firstlight.analysis.interval import quotient
from firstlight.analysis.nodes import NodeSpread
from firstlight.analysis.verdict import Estimate, States, Verified
from firstlight.core.errors import INCONCLUSIVE, OK, REGRESSION
from firstlight.core.units import quantity, significant
from firstlight.model.catalogue import Workload
from firstlight.report import answers, chapters
from firstlight.results.description import Better


class Value(msgspec.Struct, frozen=True):
    """The result of a node or a pair. `members`: indices in the list of hosts. `share`: relative to the centre; 1 is
    equal, and more is better for every unit. `estimate` is None if the figure was not measured, with the
    `reason`. `states`: both groups of a bimodal figure.
    """

    members: tuple[int, ...]
    run: str
    estimate: Estimate | None = None
    states: States | None = None
    share: float | None = None
    named: bool = False
    reason: str = ""


class Line(msgspec.Struct, frozen=True):
    """One figure on all nodes or on all pairs. `spread` is None if fewer than two have a value."""

    chapter: str
    title: str
    unit: str
    better: Better
    values: tuple[Value, ...]
    spread: NodeSpread | None


class Fact(msgspec.Struct, frozen=True):
    """A property of the machine or its system that differs between nodes: its value on most nodes, and on the
    others.
    """

    what: str
    most: str
    others: dict[str, str]  # by host


class Outlier(msgspec.Struct, frozen=True):
    """An outlier: a node or the link between two nodes, with the figures that show the difference. `worse`: whether
    all of them are worse.
    """

    hosts: tuple[str, ...]
    worse: bool
    evidence: tuple[str, ...]


class Pairs(msgspec.Struct, frozen=True):
    """Counts of pairs of nodes: `all`, `measured`, and `failed` (attempted without a result). The other pairs were
    not attempted.
    """

    all: int = 0
    measured: int = 0
    failed: int = 0


class Nodes(msgspec.Struct, frozen=True):
    """The comparison of nodes. `missing`: by name of the run, why a node or a pair has no figures. `code`: 1 if there
    is an outlier, else 4 if any figure is missing, else 0.

    `left_out`: rounds of pairs that were not measured. `looked_at`: the number of figures in which chance could cause
    an outlier.
    """

    name: str
    hosts: tuple[str, ...]
    lines: tuple[Line, ...]
    links: tuple[Line, ...]
    facts: tuple[Fact, ...]
    outliers: tuple[Outlier, ...]
    missing: dict[str, str]
    no_pairs: str
    left_out: int
    looked_at: int
    code: int
    pairs: Pairs = Pairs()


class NodesResult(msgspec.Struct, frozen=True):
    """A run of some nodes: judged, or why there is none."""

    name: str
    members: tuple[int, ...]
    judgement: Judgement | None
    workloads: Mapping[str, Workload]
    why: str = ""


def nodes_of(
    name: str, hosts: Sequence[str], runs: Sequence[NodesResult], no_pairs: str = "", left_out: int = 0
) -> Nodes:
    """Return the result of all runs of a measurement, of single nodes and of pairs."""
    single = [r for r in runs if len(r.members) == 1]
    double = [r for r in runs if len(r.members) == 2]
    good = {frozenset(r.members) for r in double if r.judgement is not None}
    every = len(hosts) * (len(hosts) - 1) // 2
    pairs = Pairs(every, len(good), len({frozenset(r.members) for r in double} - good))
    lines, links = _lines(single) + _power(single), _lines(double)
    questions = len(lines) + 2 * len(links)  # of links, the nodes at their ends are looked at, too
    lines = [_judged(line, questions) for line in lines]
    facts = _facts(hosts, single)
    ends: list[tuple[int, bool, str]] = []
    judged = []
    for line in links:
        found, sentences = _link(line, questions)
        judged.append(found)
        ends += sentences
    outliers = _outliers(hosts, lines, judged, ends, facts)
    missing = {r.name: r.why for r in runs if r.judgement is None}
    code = REGRESSION if outliers else INCONCLUSIVE if missing else OK
    return Nodes(
        name,
        tuple(hosts),
        tuple(lines),
        tuple(judged),
        tuple(facts),
        tuple(outliers),
        missing,
        no_pairs,
        left_out,
        questions,
        code,
        pairs,
    )


Key = tuple[str, str]
_Questions = dict[Key, tuple[object, str, Verified | None, str]]  # (order, chapter, the answer, why there is none)


def _questions(run: NodesResult) -> _Questions:
    """Return the rows of its workloads; for a workload without rows, each figure."""
    assert run.judgement is not None
    found: _Questions = {
        (a.workload, a.row.title): (answers.place(a), a.chapter, a.best, a.reason)
        for a in answers.answers(run.judgement, run.workloads)
    }
    for figure in run.judgement.figures:
        workload = run.workloads.get(figure.identity.workload)
        if workload is not None and not workload.rows:
            title = f"{named_figure(figure.identity)}, {figure.identity.metric}"
            good = figure if isinstance(figure, Verified) and not figure.oversubscribed else None
            place = (chapters.place(workload.chapter), 0, title)
            found[workload.name, title] = (place, workload.chapter, good, getattr(figure, "reason", "oversubscribed"))
    return found


def _lines(runs: Sequence[NodesResult]) -> list[Line]:
    given = [_questions(run) if run.judgement is not None else {} for run in runs]
    keys: dict[Key, tuple[object, str, Verified]] = {}
    for some in given:
        for key, (place, chapter, best, _) in some.items():
            if best is not None:
                keys.setdefault(key, (place, chapter, best))
    lines = []
    for key, (_, chapter, like) in sorted(keys.items(), key=lambda item: item[1][0]):  # type: ignore[arg-type, return-value]
        values = tuple(_value(run, some.get(key), like) for run, some in zip(runs, given, strict=True))
        lines.append(Line(chapter, key[1], like.unit, like.better, values, None))
    return lines


def _power(runs: Sequence[NodesResult]) -> list[Line]:
    """Return one line: the power of each node in the case that needed the most on the first node; [] without energy."""
    most = next((f for r in runs if r.judgement is not None and (f := energy.most_power(r.judgement))), None)
    if most is None:
        return []
    values = []
    for run in runs:
        figures = run.judgement.figures if run.judgement is not None else ()
        same = next((f for f in figures if f.identity == most.identity), None)
        best = same if isinstance(same, Verified) else None
        found = None if same is None else (0, "", best, getattr(same, "reason", ""))
        values.append(_value(run, found, most))
    title = f"power, {named_figure(replace(most.identity, metric=''))}"
    return [Line("node", title, most.unit, most.better, tuple(values), None)]


def _value(run: NodesResult, found: tuple[object, str, Verified | None, str] | None, like: Verified) -> Value:
    if run.judgement is None:
        return Value(run.members, run.name, reason=run.why)
    if found is None:
        return Value(run.members, run.name, reason="not measured")
    best = found[2]
    if best is None:
        return Value(run.members, run.name, reason=found[3])
    if (best.unit, best.better) != (like.unit, like.better) or not best.estimate.median > 0:
        return Value(run.members, run.name, reason=f"measured as {quantity(best.estimate.median, best.unit)}")
    return Value(run.members, run.name, best.estimate, best.states)


def _measured(line: Line) -> list[tuple[int, Estimate]]:
    return [(k, v.estimate) for k, v in enumerate(line.values) if v.estimate is not None]


def _judged(line: Line, questions: int, but: frozenset[int] = frozenset()) -> Line:
    """Return the line with its spread, the share of each value and the outliers. `but`: nodes that are left out."""
    some = [(k, e) for k, e in _measured(line) if not but.intersection(line.values[k].members)]
    if len(some) < 2:
        return line
    found = nodes.spread([e.median for _, e in some], [e for _, e in some], questions)
    named = tuple(some[k][0] for k in found.named)
    values = [
        v
        if v.estimate is None
        else replace(v, share=_share(v.estimate.median, found.centre, line.better), named=k in named)
        for k, v in enumerate(line.values)
    ]
    return replace(line, values=tuple(values), spread=replace(found, named=named))


def _share(value: float, centre: float, better: Better) -> float:
    return quotient(value, centre) if better == "higher" else quotient(centre, value)


def _link(line: Line, questions: int) -> tuple[Line, list[tuple[int, bool, str]]]:
    """Judge the pairs. A node whose messages are all slow is reported as a node; links are compared without it."""
    first = _judged(line, questions)
    of: dict[int, list[float]] = {}
    for value in first.values:
        for member in value.members if value.share is not None else ():
            of.setdefault(member, []).append(value.share)  # type: ignore[arg-type]
    members = sorted(of)
    if len(members) < nodes.FEWEST:
        return first, []
    found = nodes.spread([median(of[k]) for k in members], [], questions)
    named = {members[k]: median(of[members[k]]) < found.centre for k in found.named}
    last = _judged(line, questions, frozenset(named))
    sentences = []
    for k, worse in named.items():
        share = median(v.share for v in last.values if k in v.members and v.share is not None)
        sentence = f"{line.title}, to the other nodes: {_of(share)} of the median pair"
        sentences.append((k, worse, sentence))
    return last, sentences


def _facts(hosts: Sequence[str], runs: Sequence[NodesResult]) -> list[Fact]:
    known = {hosts[r.members[0]]: environment.facts(r.judgement.run.machine) for r in runs if r.judgement is not None}
    found = []
    for what in dict.fromkeys(key for facts in known.values() for key in facts):
        values = {host: facts.get(what, "unknown") for host, facts in known.items()}
        most = Counter(values.values()).most_common(1)[0][0] if values else ""
        if others := {host: value for host, value in values.items() if value != most}:
            found.append(Fact(what, most, others))
    return found


def _outliers(
    hosts: Sequence[str],
    lines: Sequence[Line],
    links: Sequence[Line],
    ends: Sequence[tuple[int, bool, str]],
    facts: Sequence[Fact],
) -> list[Outlier]:
    """Return the nodes whose figures are outliers, worst first, with what else is different about each."""
    evidence: dict[tuple[int, ...], list[str]] = {}
    worse: dict[tuple[int, ...], list[bool]] = {}
    named = [(line, value) for line in (*lines, *links) for value in line.values if value.named]
    for line, value in sorted(named, key=lambda x: _distance(x[1]), reverse=True):
        evidence.setdefault(value.members, []).append(_evidence(line, value))
        worse.setdefault(value.members, []).append((value.share or 0) < 1)
    for k, slow, sentence in ends:
        evidence.setdefault((k,), []).append(sentence)
        worse.setdefault((k,), []).append(slow)
    for members, reasons in evidence.items():
        if len(members) == 1:
            host = hosts[members[0]]
            reasons += [f"{f.what}: {f.others[host]}, on most nodes {f.most}" for f in facts if host in f.others]
            reasons += _as_others(lines, members[0])
    found = [Outlier(tuple(hosts[k] for k in m), all(worse[m]), tuple(reasons)) for m, reasons in evidence.items()]
    return sorted(found, key=lambda o: (len(o.hosts), not o.worse, -len(o.evidence)))


def _distance(value: Value) -> float:
    """Return how far a value is from the others, as a factor of 1 or more."""
    share = value.share or 1.0
    return max(share, 1 / share)


def _evidence(line: Line, value: Value) -> str:
    assert value.estimate is not None and value.share is not None and line.spread is not None
    pairs = len(value.members) > 1
    return (
        f"{line.title}: {quantity(value.estimate.median, line.unit)}, {_of(value.share)} of the median "
        f"{'pair' if pairs else 'node'} ({quantity(line.spread.centre, line.unit)})"
        f"{two_states(value, line.unit)}"
    )


def two_states(value: Value, unit: str) -> str:
    return f"; bimodal: {states.describe_states(value.states, unit)}" if value.states is not None else ""


def _of(share: float) -> str:
    return f"{significant(share)} times" if share >= 1 else significant(share)


def _as_others(lines: Sequence[Line], node: int) -> list[str]:
    """Return what is normal on that node: it rules out causes."""
    alike = [
        line.title
        for line in lines
        if any(v.members == (node,) and not v.named and shade(v.share) == "alike" for v in line.values)
    ]
    return (
        [
            f"the same as on the other nodes: {', '.join(alike[:3])}"
            + (f" and {len(alike) - 3} more" if len(alike) > 3 else "")
        ]
        if alike
        else []
    )


def shade(share: float | None) -> str:
    """Return the class of a cell on the map, from its share of the centre."""
    if share is None:
        return "none"
    for name, least in (("more", 1.05), ("alike", 0.95), ("less", 0.8), ("low", 0.5)):
        if share >= least:
            return name
    return "lowest"
