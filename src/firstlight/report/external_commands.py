"""External commands: what both pages show first of a user's commands: a sentence with a ratio, and a table.

Both pages show these objects, so they cannot disagree. Commands are compared by their wall time, or by their CPU time
if wall and CPU time diverged. Commands that mostly wait (for a disk, a server, a clock) keep their wall time: their CPU
time shows little of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from firstlight.analysis import Judgement, provenance, ranking
from firstlight.analysis.disturbance import computes
from firstlight.analysis.formatting import listing
from firstlight.analysis.verdict import DISTURBED, Failed, Figure, Identity, Numbered, Reported, Unverified, Verified
from firstlight.core.roles import EXECUTION_CPU
from firstlight.core.shell import printable
from firstlight.core.units import count
from firstlight.model.catalogue.brought import Brought
from firstlight.report import ratios
from firstlight.report.answers import choice
from firstlight.report.ratios import Ratio
from firstlight.results.record import Run

MOST_TYPED = 200  # characters of a command that are shown
MOST_NAMED = 4  # commands in a sentence
FAILED = "failed"
_QUOTED = re.compile(r"(?<!\S)'([\w./:=,+{}-]+)'(?!\S)")  # a word that a shell reads the same without quotes
UNRANKED = "more ranks or threads than CPUs, so not ranked"


class Line(NamedTuple):
    """One command in one case of the sweep, with one toolchain, MPI library and placement.

    `typed`: the command as its user typed it; `case`: `n = 1000`, "" without a sweep. `figures`: by metric. `ratio`:
    compared with the first command of its case, whose label is `against`. `reason`: why it has no number or is not
    ranked, "" if it is.
    """

    label: str
    typed: str
    case: str
    figures: dict[str, Figure]
    ratio: Ratio | None
    against: str
    reason: str

    @property
    def compared(self) -> str:
        """Return `b / a = 1.02 [1.01, 1.03]`, "" for the first command and for what is not ranked."""
        return "" if self.ratio is None else f"{self.label} / {self.against} = {self.ratio.text}"

    def shown(self, metric: str) -> Numbered | None:
        """Return the figure of a metric if it has a number."""
        figure = self.figures.get(metric)
        if isinstance(figure, Verified | Reported):
            return figure
        return None

    def verified(self, metric: str) -> Verified | None:
        """Return the figure of a metric if it was verified."""
        figure = self.figures.get(metric)
        return figure if isinstance(figure, Verified) else None

    def ranked(self, metric: str) -> Verified | None:
        """Return the figure of a metric if it may be compared."""
        figure = self.verified(metric)
        return None if figure is None or figure.oversubscribed else figure

    @property
    def launches(self) -> Numbered | None:
        """Return a figure of the line, which counts its launches."""
        for metric in self.figures:
            if (figure := self.shown(metric)) is not None:
                return figure
        return None


class Table(NamedTuple):
    """All commands of a run. `metrics`: what was measured of each. `decides`: the metric by which they are compared;
    `disturbed`: the one that is left aside because other processes used the processors, "" if none did.
    """

    brought: Brought
    metrics: tuple[str, ...]
    decides: str
    disturbed: str
    lines: tuple[Line, ...]

    @property
    def note(self) -> str:
        """Return the sentences about figures that another tool reported, "" if firstlight measured them."""
        who = self.brought.reporter
        if who is None:
            return ""
        better = {m: line.figures[m].better for line in reversed(self.lines) for m in line.figures}
        text = f"Reported by {who} and not verified by firstlight. No ranking, ceiling or finding uses these figures."
        for way in ("lower", "higher"):
            if names := [self.brought.called(m) for m in self.metrics if better[m] == way]:
                text += f" {way.capitalize()} is better for {listing(names)}."
        return text

    @property
    def cases(self) -> dict[str, list[Line]]:
        """Return the lines by case, in the order of the sweep."""
        found: dict[str, list[Line]] = {}
        for line in self.lines:
            found.setdefault(line.case, []).append(line)
        return found

    @property
    def against(self) -> str:
        """Return the heading of the ratios, as `CPU time / first`; "" if nothing is compared."""
        first = {line.ratio.a.identity: None for line in self.lines if line.ratio is not None}
        return f"{self.brought.called(self.decides)} / first" if first else ""


def tables(judgement: Judgement) -> list[Table]:
    """Return a table for each workload that the run brought and measured."""
    return [table for one in judgement.run.brought if (table := _table(judgement, one)).lines]


def _table(judgement: Judgement, one: Brought) -> Table:
    groups: dict[Identity, dict[str, Figure]] = {}
    for f in judgement.figures:
        if f.identity.workload == one.name:
            groups.setdefault(replace(f.identity, metric=""), {})[f.identity.metric] = f
    wall = one.headlines[0] if one.headlines else next((m for some in groups.values() for m in some), "")
    cpu = one.metric(EXECUTION_CPU)
    timed = [found for some in groups.values() if isinstance(found := some.get(wall), Verified)]
    disturbed = max((found.diverged for found in timed), default=0.0) >= DISTURBED
    busy = all(_computes(judgement.run, some.get(wall), some.get(cpu)) for some in groups.values())
    moved = bool(cpu) and disturbed and busy
    decides, aside = (cpu, wall) if moved else (wall, "")
    order = list(one.commands)
    ordered = sorted(groups, key=lambda i: order.index(i.variant) if i.variant in order else len(order))
    lines = [_line(judgement, one, i, groups[i]) for i in ordered]
    declared = (d.metrics for d in judgement.run.descriptions.values() if d.workload == one.name)
    named = dict.fromkeys([wall, cpu, *(m.name for metrics in declared for m in metrics)])
    metrics = tuple(m for m in named if any(m in line.figures for line in lines))
    table = Table(one, metrics, decides, aside, tuple(lines))
    if one.reporter is not None:  # nothing is compared: benchmark by benchmark
        return table
    return table._replace(lines=tuple(line for some in table.cases.values() for line in _compared(table, some)))


def _computes(run: Run, wall: Figure | None, cpu: Figure | None) -> bool:
    """Return whether a command mostly computes, or is not verified and so is not compared."""
    if not isinstance(wall, Verified) or not isinstance(cpu, Verified):
        return True
    return computes(run, wall, cpu)


def _line(judgement: Judgement, one: Brought, identity: Identity, figures: dict[str, Figure]) -> Line:
    name, case = choice(judgement.run, one.choose, identity)
    typed = _QUOTED.sub(r"\1", printable(one.commands.get(identity.variant, "")))
    if len(typed) > MOST_TYPED:
        typed = typed[: MOST_TYPED - 1] + "…"
    return Line(name, typed, case, figures, None, "", _reason(figures))


def _reason(figures: dict[str, Figure]) -> str:
    for f in figures.values():
        if isinstance(f, Failed):
            return f"{FAILED}: {provenance.reason(f)}"
        if isinstance(f, Unverified):
            return f"unverified: {provenance.reason(f)}"
    return UNRANKED if any(isinstance(f, Verified) and f.oversubscribed for f in figures.values()) else ""


def _compared(table: Table, lines: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines of one case with their ratios to the first of them: as typed, or the best of other choices."""
    some = [f for line in lines if (f := line.ranked(table.decides)) is not None]
    first = some[0] if some and table.brought.choose == "variant" else ranking.best(some)
    against = next((line.label for line in lines if first is not None and line.ranked(table.decides) is first), "")
    for line in lines:
        f = line.ranked(table.decides)
        compared = None if f is None or first is None or f is first else ratios.ratio(first, f, table.brought.threshold)
        yield line._replace(ratio=compared, against=against)


# --- the sentences ---------------------------------------------------------------------------------------------------


def sentences(judgement: Judgement) -> list[str]:
    """Return the result of a run of a user's commands: a sentence for each metric that decides."""
    found = []
    for table in tables(judgement):
        if table.note:  # nothing is ranked
            continue
        metrics = dict.fromkeys([table.decides, *table.brought.headlines])
        found += [s for m in metrics if m != table.disturbed and (s := _result(table, m))]
        found += _left_out(table)
    return found


def _left_out(table: Table) -> list[str]:
    """Return `b failed and is not ranked`, for the commands without a verified figure."""
    lines = [line for line in table.lines if line.launches is None]
    if not lines:
        return []
    if len(lines) == len(table.lines):
        return ["no result was verified, so no command is ranked"]
    how = "failed" if all(line.reason.startswith(FAILED) for line in lines) else "no verified result"
    names = list(dict.fromkeys(line.label for line in lines))
    return [f"{_some(names)} {'is' if len(names) == 1 else 'are'} not ranked ({how})"]


def _result(table: Table, metric: str) -> str:
    """Return one sentence; with a sweep, for its first and its last case."""
    cases = [some for lines in table.cases.values() if (some := [x for x in lines if x.ranked(metric)])]
    ends = cases if len(cases) < 2 else [cases[0], cases[-1]]
    parts = [(f"at {some[0].case}: " if some[0].case else "") + _of_case(table, some, metric) for some in ends]
    aside = (
        f"; {table.brought.called(table.disturbed)} was disturbed"
        if table.disturbed and parts and metric == table.decides
        else ""
    )
    return "; ".join(parts) + aside


def _of_case(table: Table, lines: Sequence[Line], metric: str) -> str:
    what = table.brought.called(metric)
    of = {line.label: f for line in lines if (f := line.ranked(metric)) is not None}
    if len(of) == 1:
        name, f = next(iter(of.items()))
        span = "too few launches for an interval" if f.estimate.low is None else f"[{provenance.span(f, ', ')}]"
        return f"{name}: {provenance.median(f)} {span} in {what}, {provenance.launches(f)}"
    if len(of) == 2:
        (a, first), (b, second) = of.items()
        if table.brought.choose != "variant" and ranking.best(of.values()) is second:
            (a, first), (b, second) = (b, second), (a, first)
        found = ratios.ratio(first, second, table.brought.threshold)
        return f"{b} / {a} = {found.text} in {what}: {found.difference}"
    return _of_many(table, of, what)


def _of_many(table: Table, of: dict[str, Verified], what: str) -> str:
    """Return `c is the best of 10 commands in wall time; b follows: b / c = 1.32 [1.30, 1.35]`."""
    name = {f.identity: label for label, f in of.items()}
    noun = "commands" if table.brought.choose == "variant" else "combinations"
    many = f"{provenance.number(str(len(of)), 'len(each)', of=tuple(of.values()))} {noun}"
    groups = ranking.rank(of.values())
    if len(groups) == 1:
        few = ": too few launches" if any(f.estimate.low is None for f in of.values()) else ""
        return f"no difference between the {many} can be shown in {what}{few}"
    best, behind = groups[0].best, groups[1].best
    a, b = name[best.identity], name[behind.identity]
    winners = [name[f.identity] for f in groups[0].figures]
    lead = f"{_some(winners)} {'is' if len(winners) == 1 else 'are'} the best of {many} in {what}"
    return f"{lead}; {b} follows: {b} / {a} = {ratios.ratio(best, behind, table.brought.threshold).text}"


def _some(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return f"{', '.join(names[:MOST_NAMED])} and {count(more, 'other')}" if more > 0 else listing(names)
