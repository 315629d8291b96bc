"""The two pages of a profile: a summary in the terminal and an HTML page in the frame of the others."""

from __future__ import annotations

import math
import time
from pathlib import Path

from firstlight.commands.profile import plot as plots
from firstlight.commands.profile import waiting
from firstlight.core import shell
from firstlight.core.units import binary, count, percent, quantity
from firstlight.report import html, traffic_shape
from firstlight.report.ink import hanging
from firstlight.results.store.durable import replace
from firstlight.results.traffic import Phase, Traffic, whole

_TOP = 8
_SHOWN_COMMAND = 200


def write(traffic: Traffic, path: Path) -> None:
    """Write the page, whole or not at all. Raises OSError."""
    replace(path, render(traffic).encode())


def render(traffic: Traffic) -> str:
    """Return the HTML page."""
    drawings = plots.drawings(traffic, "profile")
    page = {
        "traffic": traffic,
        "command": shell.line(traffic.command),
        "date": date(traffic),
        "sentences": sentences(traffic),
        "warnings": warnings(traffic),
        "drawings": drawings,
    }
    return html.page_of(Path(__file__).with_suffix(".html.j2"), page, drawings)


def date(traffic: Traffic) -> str:
    """Return when the program ran, by the name of the profile; the page may be written again later."""
    try:
        began = time.strptime(traffic.id[:15], "%Y%m%d-%H%M%S")
    except ValueError:
        return "date unknown"
    return time.strftime("%d %b %Y %H:%M", began).lstrip("0")


def sentences(traffic: Traffic) -> list[str]:
    """Return what the profile shows, most important first."""
    total = whole(traffic)
    crowded = waiting.crowds(traffic.times)
    lines = [
        _share(traffic)
        + (", but ranks share processors, so this share does not measure communication" if crowded else "")
    ]
    if not crowded:
        lines += splits(traffic)
    if total.pairs:
        lines.append(traffic_shape.title(total, traffic.ranks))
        lines.append(
            f"{count(total.messages, 'message')}, {binary(total.bytes)}; {traffic_shape.symmetry_sentence(total)}"
        )
        if total.sizes:
            lines.append(plots.sizes_title(total))
        heavy = traffic_shape.imbalance(total, traffic.ranks)
        if heavy >= 1.2:
            lines.append(f"the busiest rank sends {heavy:.2g} times as much as the mean")
    else:
        lines.append(
            "no message names its receiver: all communication is collective, and MPI prescribes no route for "
            "collectives"
        )
    return [s[:1].upper() + s[1:] + "." for s in lines]


def _share(traffic: Traffic) -> str:
    """Return `46 % of the recorded time is spent in MPI (34 % to 59 % by rank), 87 % of it in MPI_Sendrecv`."""
    shares = [r.mpi / r.recorded for r in traffic.times if r.recorded]
    ends = [percent(end) for end in (min(shares, default=0.0), max(shares, default=0.0))]
    by_rank = f" ({ends[0]} to {ends[1]} by rank)" if ends[0] != ends[1] else ""
    some = whole(traffic).kinds
    total, first = sum(k.seconds for k in some), max(some, key=lambda k: k.seconds, default=None)
    most = f", {percent(first.seconds / total)} of it in {first.name}" if first is not None and total > 0 else ""
    return f"{percent(traffic_shape.mpi_share(traffic))} of the recorded time is spent in MPI{by_rank}{most}"


def splits(traffic: Traffic) -> list[str]:
    """Return what the times of calls show about waiting and moving data, with the evidence."""
    lines = []
    together = waiting.in_collectives(whole(traffic))
    if together is not None and together.inside > 0:
        lines.append(
            f"synchronising collectives last {quantity(together.inside, 's')}; at least {_at_least(together)} of this "
            f"time is waiting for later ranks"
        )
    two, why = waiting.between_two(traffic)
    if two is not None and traffic.cost is not None and two.waiting == 0:
        lines.append(
            f"{quantity(two.inside, 's')} in sends, receives and waits may be data transfer entirely "
            f"({traffic.cost.source})"
        )
    elif two is not None and two.transfer is not None and traffic.cost is not None:
        lines.append(
            f"sends, receives and waits last {quantity(two.inside, 's')}. Data transfer is at most "
            f"{quantity(two.transfer, 's')} ({traffic.cost.source}), so at least "
            f"{_at_least(two)} is waiting for a partner, or contention between messages"
        )
    elif why:
        lines.append(f"the waiting time in sends, receives and waits is unknown: {why}")
    return lines


def _at_least(split: waiting.Split) -> str:
    """Return the share of waiting, never rounded up."""
    return f"{math.floor(100 * split.waiting / split.inside)} %"


def warnings(traffic: Traffic) -> list[str]:
    """Return the warnings that a reader needs before trusting the figures."""
    lines = []
    crowded = waiting.crowds(traffic.times)
    if crowded:
        worst = max(crowded, key=lambda c: c.ranks / c.processors)
        on = "" if len(crowded) == 1 else f" (and similarly on {count(len(crowded) - 1, 'other node')})"
        lines.append(
            f"{count(worst.ranks, 'rank')} share {count(worst.processors, 'processor')} of a node{on}. Ranks wait for "
            f"a processor inside MPI calls, so these times do not measure communication. Use at most "
            f"{worst.processors} ranks per node, and check the binding"
        )
    lines += traffic.notes
    if traffic.missing:
        shown = ", ".join(map(str, traffic.missing[:8])) + (", ..." if len(traffic.missing) > 8 else "")
        lines.append(
            f"no record of {count(len(traffic.missing), 'rank')} ({shown}): the ranks were killed or could not write "
            f"their records"
        )
    early = [r for r in traffic.times if not r.complete]
    if early:
        lines.append(
            f"{count(len(early), 'rank')} ended early (rank {early[0].rank}: {early[0].how}); their figures end there"
        )
    return lines


def summary(traffic: Traffic, place: Path | None, width: int = 80) -> str:
    """Return the page for the terminal."""
    command = shell.line(traffic.command)
    shown = command if len(command) <= _SHOWN_COMMAND else command[: _SHOWN_COMMAND - 3] + "..."
    lines = [f"firstlight · profile of {count(traffic.ranks, 'rank')} · {traffic.mpi}", f"  {shown}", ""]
    for mark, some in (("! ", warnings(traffic)), ("", sentences(traffic))):
        for text in some:
            lines += hanging(f"{mark}{text}", max(width, 40))
    total = whole(traffic)
    if total.pairs:
        lines += ["", *_pairs(total)]
    lines += ["", *_kinds(total)]
    if len(traffic.phases) > 1:
        lines += ["", *_phases(traffic)]
    if place is not None:
        lines += ["", f"  report: {place}"]
    return "\n".join(line.rstrip()[: max(width, 80) * 3] for line in lines)


def _pairs(phase: Phase) -> list[str]:
    top = sorted(phase.pairs, key=lambda p: (-p.bytes, -p.messages, p.source, p.target))
    lines = [f"  {'from':>8} {'to':>8} {'messages':>12} {'bytes':>12}"]
    lines += [f"  {p.source:>8} {p.target:>8} {p.messages:>12} {binary(p.bytes):>12}" for p in top[:_TOP]]
    return lines + ([f"  and {len(top) - _TOP} more pairs"] if len(top) > _TOP else [])


def _kinds(phase: Phase) -> list[str]:
    top = sorted(phase.kinds, key=lambda k: -k.seconds)
    lines = [f"  {'call':<30} {'calls':>12} {'bytes':>12} {'time':>10}"]
    lines += [f"  {k.name:<30} {k.calls:>12} {binary(k.bytes):>12} {quantity(k.seconds, 's'):>10}" for k in top[:_TOP]]
    return lines + ([f"  and {len(top) - _TOP} more kinds of calls"] if len(top) > _TOP else [])


def _phases(traffic: Traffic) -> list[str]:
    lines = [f"  {'phase':>8} {'time':>10} {'messages':>12} {'bytes':>12}"]
    return lines + [
        f"  {p.level:>8} {quantity(p.seconds, 's'):>10} {p.messages:>12} {binary(p.bytes):>12}"
        for p in traffic.phases[:_TOP]
    ]
