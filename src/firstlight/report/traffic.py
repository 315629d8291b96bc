"""The two pages of a profile: a summary in the terminal and an HTML page in the frame of the others."""

from __future__ import annotations

import time
from pathlib import Path

from firstlight.profile import shape
from firstlight.profile.traffic import Phase, Traffic, whole
from firstlight.report import html
from firstlight.report.plots import traffic as plots
from firstlight.store.durable import replace
from firstlight.units import binary, count, percent, quantity

_TOP = 8
_SHOWN_COMMAND = 200


def write(traffic: Traffic, path: Path) -> None:
    """Write the page, whole or not at all. Raises OSError."""
    replace(path, render(traffic).encode())


def render(traffic: Traffic) -> str:
    """The page as text."""
    drawings = plots.drawings(traffic, "profile")
    page = {
        "traffic": traffic,
        "command": " ".join(traffic.command),
        "date": time.strftime("%d %b %Y %H:%M").lstrip("0"),
        "sentences": sentences(traffic),
        "warnings": warnings(traffic),
        "drawings": drawings,
    }
    return html.page_of("traffic.html.j2", page, drawings)


def sentences(traffic: Traffic) -> list[str]:
    """What the profile says, most important first."""
    total = whole(traffic)
    said = [f"MPI takes {percent(shape.mpi_share(traffic))} of the recorded time"]
    if total.pairs:
        said.append(shape.title(total, traffic.ranks))
        said.append(f"{count(total.messages, 'message')}, {binary(total.bytes)}; {shape.symmetry_sentence(total)}")
        heavy = shape.imbalance(total, traffic.ranks)
        if heavy >= 1.2:
            said.append(f"the busiest sender sends {heavy:.2g} x the mean")
    else:
        said.append(
            "no message names its receiver: all communication is collective, and MPI prescribes no route for that"
        )
    return [s[:1].upper() + s[1:] + "." for s in said]


def warnings(traffic: Traffic) -> list[str]:
    """What a reader must know before trusting the figures."""
    said = list(traffic.notes)
    if traffic.missing:
        shown = ", ".join(map(str, traffic.missing[:8])) + (", ..." if len(traffic.missing) > 8 else "")
        said.append(
            f"no record of {count(len(traffic.missing), 'rank')} ({shown}): killed, or the record could not be written"
        )
    early = [r for r in traffic.times if not r.complete]
    if early:
        said.append(
            f"{count(len(early), 'rank')} ended early (rank {early[0].rank}: {early[0].how}): figures go up to there"
        )
    return said


def summary(traffic: Traffic, place: Path | None, width: int = 80) -> str:
    """The terminal page."""
    command = " ".join(traffic.command)
    shown = command if len(command) <= _SHOWN_COMMAND else command[: _SHOWN_COMMAND - 3] + "..."
    lines = [f"firstlight · profile of {count(traffic.ranks, 'rank')} · {traffic.mpi}", f"  {shown}", ""]
    lines += [f"  {s}" for s in sentences(traffic)]
    lines += [f"  ! {w}" for w in warnings(traffic)]
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
