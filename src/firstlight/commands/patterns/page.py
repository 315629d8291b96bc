"""The pages of a pattern: a list and a summary in the terminal, and the matrix as HTML."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from firstlight import __version__
from firstlight.commands.patterns.generator import Pattern, Phase, Shown
from firstlight.core.units import binary, count
from firstlight.report import html
from firstlight.report.ink import hanging, wrap
from firstlight.report.traffic_matrix import matrices
from firstlight.results.store.durable import replace
from firstlight.results.traffic import Phase as Recorded


def listed(known: Iterable[Pattern], width: int) -> str:
    """Return a text that lists every pattern with its applications and parameters."""
    lines = ["firstlight · communication patterns of applications", ""]
    for p in known:
        lines.append(f"  {p.pattern:<16} {p.applications}")
        defaults = ", ".join(f"{each.name}={each.value}" for each in p.parameters)
        for text in filter(None, (p.title, defaults)):
            lines += wrap(text, max(width, 60), " " * 19, " " * 19)
    return "\n".join([*lines, "", "  ./fl patterns PATTERN --processes P -p NAME=VALUE shows its messages and bytes"])


def sentences(shown: Shown) -> list[str]:
    """Return the properties of the pattern as sentences, the most important first."""
    least, middle, most = shown.partners
    lines = [shown.title]
    if shown.messages:
        lines.append(
            f"each of {count(shown.iterations, 'iteration')} sends {count(shown.messages, 'message')} "
            f"({binary(shown.bytes)}) between ranks"
        )
        lines.append(
            f"each rank sends to {count(most, 'other')}"
            if least == most
            else f"ranks send to {least} to {count(most, 'other')} (half of them to at most {middle})"
        )
    together = [p for p in shown.phases if p.together is not None]
    if together:
        lines.append(
            f"{count(len(together), 'phase')} of {len(shown.phases)} {'is' if len(together) == 1 else 'are'} collective"
        )
    return [s[:1].upper() + s[1:] + "." for s in lines]


def summary(shown: Shown, place: Path | None, width: int) -> str:
    """Return the page for the terminal."""
    sizes = ", ".join(f"{k}={v}" for k, v in shown.parameters.items())
    lines = [f"firstlight · {shown.pattern} of {count(shown.processes, 'process', 'processes')}"]
    lines += [*(wrap(sizes, max(width, 60), "  ", "  ") if sizes else []), ""]
    for line in (*sentences(shown), f"Represents {shown.applications}. Source: {shown.source}."):
        lines += hanging(line, max(width, 60))
    lines += ["", f"  {'times':>6} {'messages':>12} {'bytes':>12} {'each':>24}  phase"]
    lines += [_phase(p) for p in shown.phases]
    if place is not None:
        lines += ["", f"  matrix: {place}"]
    return "\n".join(lines)


def _phase(p: Phase) -> str:
    if p.together is not None:
        t = p.together
        each = _span(*t.bytes)
        members = f"{t.members[0]}" if t.members[0] == t.members[1] else f"{t.members[0]} to {t.members[1]}"
        groups = f"all {members}" if t.groups == 1 else f"{t.groups} groups of {members}"
        return f"  {p.repetitions:>6} {'-':>12} {'-':>12} {each:>24}  {p.name}: {t.collective}, {groups}"
    return f"  {p.repetitions:>6} {p.messages:>12,} {binary(p.bytes):>12} {_span(p.shortest, p.longest):>24}  {p.name}"


def _span(least: int, most: int) -> str:
    """Return a range of sizes, as `18.3 KiB` or `8 to 16 B`."""
    if binary(least) == binary(most):
        return binary(most)
    return f"{binary(least)} to {binary(most)}"


def write(shown: Shown, matrix: Recorded, path: Path) -> None:
    """Write the page, whole or not at all. Raises OSError."""
    replace(path, render(shown, matrix).encode())


def render(shown: Shown, matrix: Recorded) -> str:
    """Return the HTML page."""
    drawings = matrices(matrix, shown.processes, "pattern", "") if matrix.pairs else []
    page = {
        "shown": shown,
        "firstlight": __version__,
        "date": time.strftime("%d %b %Y %H:%M").lstrip("0"),
        "sentences": sentences(shown),
        "rows": [_phase(p) for p in shown.phases],
        "drawings": drawings,
    }
    return html.page_of(Path(__file__).with_suffix(".html.j2"), page, drawings)
