"""The terminal page: the answer, its certainty, unusual results, and what to do next. 80 columns, no boxes."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from firstlight.analysis import Finding, Judgement, formatting
from firstlight.analysis.absence import absences
from firstlight.analysis.placing import of_one_core
from firstlight.analysis.provenance import settle
from firstlight.analysis.states import describe_states
from firstlight.analysis.steadiness import disturbances
from firstlight.analysis.verdict import Failed, Reported, Untimed, Unverified, Verified
from firstlight.core import confidence
from firstlight.core.units import binary, count, duration, interval, percent, quantity
from firstlight.model.catalogue import Workload
from firstlight.report import answers as answering
from firstlight.report import energy, external_table, verdict, wording
from firstlight.report import failures as failing
from firstlight.report.answers import Answer, Front
from firstlight.report.failures import Failure
from firstlight.report.ink import Ink, wrap
from firstlight.report.unmeasured import unanswered, unbegun, unmeasured
from firstlight.results.record import Run
from firstlight.system.machine import UNTIMED, cores

_MOST_FINDINGS = 4
UNBOUNDED = "?"  # replaces a share of a ceiling that was not measured
OWN = "*"  # marks a share of the best launch, which exceeded what was measured of the resource
POSSIBLE = "what is possible: explicit vectors, tuned loops, libraries, firstlight's own algorithms"
_NARROW = 20  # columns of a title next to its numbers, at least


def summary(
    judgement: Judgement,
    workloads: Mapping[str, Workload],
    width: int = 80,
    colour: bool = False,
    report: Path | str | None = None,
) -> str:
    """Return the page, without a final newline. `report`: the location of the HTML page, None if there is none."""
    ink, run = Ink(colour), judgement.run
    answered = answering.answers(judgement, workloads)
    machine = _machine(judgement, width) + _warnings(judgement, workloads, width, ink)
    verdicts = _verdict(judgement, workloads, width, ink)
    if run.brought:
        parts = [header(run, width, ink), verdicts, *external_table.tables(judgement, width, ink), machine]
    else:
        table = _table(answering.front(run, answered), width, ink)
        parts = [header(run, width, ink), machine, verdicts, table]
    if judgement.findings:
        parts.append(_findings(judgement.findings, width, ink))
    suite = [(u.workload.name, u.command) for u in unmeasured(run, workloads)]
    budget = [(f"{u.workload} ({u.cells} of {u.of} cells)", u.command) for u in unbegun(judgement)]
    without = unanswered(judgement, workloads, {a.row.title for a in answered})
    left_out = _left_out("not in this suite", suite, width) + _left_out("not started in this budget", budget, width)
    left_out += _left_out("no figure in this budget", [(title, verdict.state(run)[1]) for title in without], width)
    parts.append(_counts(judgement, ink) + left_out + ([f"  report: {report}"] if report else []))
    return "\n\n".join(ink.page(part) for part in parts if part)


def header(run: Run, width: int, ink: Ink) -> list[str]:
    """Return the header: one line, or two if one would be too long."""
    date = wording.date(run)
    took = wording.took(run)
    effort = ", ".join(filter(None, (wording.effort(run), "" if took is None else duration(took))))
    title = wording.title(run)
    whose, when = (
        f" · {title[:1].lower() + title[1:] if not run.brought else title}",
        f"{date} · {effort}" if effort else date,
    )
    if len("firstlight" + whose + " · " + when) <= width:
        return [ink("strong", "firstlight") + f"{whose} · {when}"]
    return [ink("strong", "firstlight") + whose, "  " + when]


def machine_line(judgement: Judgement) -> str:
    """Return `AMD EPYC (Zen 3), 2 cores, 1 NUMA node, L3 32 MiB, 24 GiB · Linux 6.18, virtual machine`."""
    machine, levels = judgement.run.machine, judgement.hierarchy.levels
    if not machine.cpus:  # of an imported run: firstlight did not see it
        return wording.unseen(judgement.run)
    architecture = f" ({machine.core})" if machine.core else ""
    sockets = f"{machine.sockets} sockets, " if machine.sockets > 1 else ""
    cache = ""
    if levels:
        acts = f" (effective {binary(levels[-1].acts)})" if levels[-1].acts else ""
        cache = f"{levels[-1].name} {binary(levels[-1].size)}{acts}, "
    virtual = ", virtual machine" if machine.virtual else ""
    virtual += f" · {UNTIMED}" if machine.emulated else ""
    return (
        f"{machine.processor}{architecture}, {sockets}{count(machine.cores, 'core')}{_kinds(judgement)}, "
        f"{count(len(machine.numa) or 1, 'NUMA node')}, {cache}{binary(machine.memory)} · "
        f"Linux {'.'.join(machine.kernel.split('.')[:2])}{virtual}"
    )


def _kinds(judgement: Judgement) -> str:
    """Return ` (6 performance cores and 8 efficiency cores; 1 core: performance core)` if cores differ, else ""."""
    kinds, one = cores.kinds(judgement.run.machine), of_one_core(judgement)
    return f" ({kinds}{f'; 1 core: {one}' if one else ''})" if kinds else ""


def _machine(judgement: Judgement, width: int) -> list[str]:
    run = judgement.run
    taken = wording.answered(run.answered, run.toolbox)
    metered = energy.sentence(judgement) if run.energy is not None and run.energy.meter is not None else ""
    texts = filter(None, (machine_line(judgement), wording.chains(run), metered, wording.verified(run), *taken))
    return [line for text in texts for line in wrap(text, width, "  ", "    ")]


def _verdict(judgement: Judgement, workloads: Mapping[str, Workload], width: int, ink: Ink) -> list[str]:
    """Return the lines of the verdict: one per question, with its subject on the left."""
    lines = []
    for advice in verdict.verdict(judgement, workloads):
        first, *rest = wrap(advice.sentence, width, f"  {advice.subject:<9}", " " * 11)
        lines += [ink("strong", first[:11]) + first[11:], *rest]
        lines += [f"           {advice.command}"] if advice.command else []  # not wrapped, to be copied
    return lines


def _warnings(judgement: Judgement, workloads: Mapping[str, Workload], width: int, ink: Ink) -> list[str]:
    """Return what may have disturbed the measurement, without what the verdict shows."""
    shown = settle(verdict.health(judgement, workloads)).casefold()
    some = [*judgement.run.machine.warnings, *disturbances(judgement.steadiness)]
    lines = [line for text in some if text.casefold() not in shown for line in wrap(text, width, "  ! ", "    ")]
    return [ink("warn", line) for line in lines]


def _table(front: Front, width: int, ink: Ink) -> list[str]:
    rows = [*front.rows, *front.possible]
    if not rows:
        return ["  No row of the summary was measured; see ./fl figures"]
    cells = [_cells(a) for a in rows]
    long = sum(_widths(cells, "launches")) + 12 <= width
    heads = ("best figure", "median", confidence.INTERVAL, "of ceiling" if long else "ceiling", "launches", "choose")
    if not long:
        heads = (*heads[:4], "n", "choose")
    sizes = [max(len(h), *(len(c[k]) for c in cells)) for k, h in enumerate(heads)]
    titles = min(sizes[0], width - sum(sizes[1:]) - 12)
    if titles < _NARROW:  # the numbers stand below their title
        titles, below = max(_NARROW, min(sizes[0], width - 2)), True
    else:
        sizes, below = [titles, *sizes[1:]], False
    lines = [ink("dim", x) for x in _row(heads, sizes, titles, below)]
    for k, (answer, cell) in enumerate(zip(rows, cells, strict=True)):
        lines += [ink("dim", x) for x in wrap(POSSIBLE, width, "  ", "  ") if k == len(front.rows)]
        row = _row(cell, sizes, titles, below)
        lines += row if answer.best or answer.untimed else [ink("bad", x) for x in row]
        if answer.best is not None and answer.best.states is not None:
            lines += wrap(
                f"bimodal: {describe_states(answer.best.states, answer.best.unit)}", width, "      ", "      "
            )
        lines += [ink("warn", x) for x in wrap(answer.not_measured, width, "    ! ", "      ") if answer.not_measured]
        why = wrap(answer.reason, width, "      ", "      ")
        lines += [] if answer.best else [ink("dim" if answer.untimed else "bad", x) for x in why]
    legend = [] if long else ["n: launches"]
    legend += [f"{word}: {meaning}" for word, meaning in wording.MEANINGS.items() if any(c[-1] == word for c in cells)]
    legend += [f"{UNBOUNDED}: the ceiling was not measured in this run"] if any(a.unbounded for a in rows) else []
    legend += (
        [f"{OWN}: compared with the best launch, which exceeded the measured ceiling"] if any(map(_own, rows)) else []
    )
    lines += [ink("dim", x) for x in wrap(f"({'; '.join(legend)})", width, "  ", "  ") if legend]
    return lines + ([ink("dim", f"  {more_rows(front)}")] if front.others else [])


def more_rows(front: Front) -> str:
    """Return `5 more rows in the report`, and how many of them are headlines without room on the front page."""
    cut = f"; {front.cut} of them are headlines for which the terminal has no room" if front.cut else ""
    rows = {(a.workload, a.row.title) for a in front.others}
    return f"{count(len(rows), 'more row')} in the report{cut}"


def _left_out(what: str, some: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Return one line: what is left out, as much as fits, and the command that measures the first."""
    if not some:
        return []
    names, command = [name for name, _ in some], some[0][1]
    for shown in range(len(names), 0, -1):
        more = f" and {len(names) - shown} more" if shown < len(names) else ""
        line = f"  {what}: {', '.join(names[:shown])}{more}; {command}"
        if len(line) <= width:
            break
    return [line]


def _widths(cells: Sequence[Sequence[str]], heading: str) -> list[int]:
    heads = ("best figure", "median", confidence.INTERVAL, "of ceiling", heading, "choose")
    return [max(len(h), *(len(c[k]) for c in cells)) for k, h in enumerate(heads)]


def _row(cell: Sequence[str], sizes: Sequence[int], titles: int, below: bool) -> list[str]:
    """Format a row of the table: a long title continues below, or all numbers are below their title."""
    title, *numbers, choose = (*cell,)
    first, *rest = textwrap.wrap(title, titles) or [""]
    middle = "  ".join(text.rjust(size) for text, size in zip(numbers, sizes[1:-1], strict=True))
    values = f"{middle}  {choose}".rstrip()
    if below:
        return [f"  {x}" for x in (first, *rest)] + ([f"    {values}"] if values else [])
    return [f"  {first.ljust(sizes[0])}  {values}".rstrip(), *(f"    {x}" for x in rest)]


def _cells(answer: Answer) -> tuple[str, ...]:
    best = answer.best
    if best is None:
        verdict = "✓" if answer.untimed else "✗ failed" if answer.failed else "✗ none"
        return (answer.row.title, verdict, "", "", "", "")
    e, share = best.estimate, best.of_ceiling
    return (
        f"{answer.row.title} ({answer.program_and_library})",
        _short(quantity(e.median, best.unit)),
        interval(e.low, e.high, e.median, best.unit, " - "),
        (UNBOUNDED if answer.unbounded else "-") if share is None else percent(share) + OWN * _own(answer),
        str(len(e.launches)),
        "" if answer.tuned else answer.choose,
    )


def _own(answer: Answer) -> bool:
    ceiling = answer.best.ceiling if answer.best else None
    return ceiling is not None and ceiling.own


def _short(text: str) -> str:
    return text.replace("flop/s", "F/s")


def _findings(findings: Sequence[Finding], width: int, ink: Ink) -> list[str]:
    ordered = sorted(findings, key=lambda f: -f.weight)
    lines = [ink("dim", "  findings")]
    for number, finding in enumerate(ordered[:_MOST_FINDINGS], 1):
        lines += wrap(finding.sentence, width, f"  {number}  ", "     ")
        lines += [ink("dim", "     " + e) for e in finding.evidence if len(e) <= width - 5][:1]
        lines += [f"     to see it: {finding.command}"] if finding.command else []  # not wrapped, to be copied
    if len(ordered) > _MOST_FINDINGS:
        lines.append(f"     and {len(ordered) - _MOST_FINDINGS} more in the report")
    return lines


class Counts(NamedTuple):
    """Numbers of figures: verified (or untimed), failed, failed as expected, unverified, reported; of absent things."""

    verified: int
    failed: int
    expected: int
    unverified: int
    absent: int
    reported: int


def counted(judgement: Judgement) -> Counts:
    kinds = (Verified | Untimed, Failed, Unverified, Reported)
    good, failed, unverified, reported = (sum(isinstance(f, kind) for f in judgement.figures) for kind in kinds)
    expected = sum(isinstance(f, Failed) and bool(f.expected) for f in judgement.figures)
    return Counts(good, failed - expected, expected, unverified, len(absences(judgement)), reported)


def _counts(judgement: Judgement, ink: Ink) -> list[str]:
    n = counted(judgement)
    parts = [
        ink("good", f"{count(n.verified, 'figure')} verified"),
        ink("bad" if n.failed else "dim", f"{n.failed} failed"),
        *([f"{n.expected} failed as expected"] if n.expected else []),
        *([ink("warn", f"{n.unverified} unverified")] if n.unverified else []),
        *([f"{n.reported} reported by other tools"] if n.reported else []),
        *([f"{n.absent} not available"] if n.absent else []),
        *([ink("bad", f"{count(len(judgement.lost), 'launch', 'launches')} lost")] if judgement.lost else []),
    ]
    return ["  " + " · ".join(parts)]


def failures(judgement: Judgement, width: int = 80, colour: bool = False) -> str:
    """Return all failures: figures with the reason, builds with the compiler's output, lost launches, absent things."""
    ink, run = Ink(colour), judgement.run
    lines: list[str] = []
    for kind in failing.ORDER:
        some = [f for f in failing.failures(judgement) if f.kind == kind]
        title = "failed as expected" if kind == "expected" else kind
        lines += _titled(f"{title}: {count(sum(len(f.figures) for f in some), 'figure')}", some, ink)
        lines += [x for f in some for x in _failure(f, width, ink)]
    broken = [b for b in run.builds if not b.ok]
    lines += _titled(f"not built: {count(len(broken), 'program')}", broken, ink)
    for b in broken:
        lines += [ink("bad", "  ✗ ") + b.program.key, *("      " + x for x in b.error.rstrip().splitlines())]
    lines += _titled(f"lost: {count(len(judgement.lost), 'launch', 'launches')}", judgement.lost, ink)
    lines += [x for text in judgement.lost for x in wrap(text, width, "  ✗ ", "      ")]
    absent = absences(judgement)
    lines += _titled(f"not available: {len(absent)}", absent, ink)
    for a in absent:
        lines += wrap(f"{a.what}: {a.why}; {a.fix}", width, "  - ", "    ")
    return ink.page(lines).strip("\n") or "Nothing failed."


def _failure(failure: Failure, width: int, ink: Ink) -> list[str]:
    """Return a program with the first reason, then its figures, each with its own reason if that differs."""
    style, mark = {"failed": ("bad", "✗"), "unverified": ("warn", "?"), "expected": ("dim", "-")}[failure.kind]
    lines = [ink(style, f"  {mark} ") + failure.title, *wrap(failure.reason, width, "      ", "      ")]
    lines += wrap(failure.why, width, "      ", "      ") if failure.why else []
    lines += [f"      to see it: {failure.command}"]
    for f in failure.figures:
        lines += wrap(formatting.name(f.identity), width, "      - ", "        ")
        lines += wrap(f.reason, width, "        ", "        ") if f.reason != failure.reason else []
    return lines


def _titled(title: str, some: Sequence[object], ink: Ink) -> list[str]:
    return ["", ink("strong", title)] if some else []
