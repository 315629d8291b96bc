"""The pages of a validation: predictions compared with the measurements of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from firstlight.analysis.loggops import Fitted
from firstlight.commands.simulate import validation_plot as plots
from firstlight.commands.simulate.reasons import CLOSE
from firstlight.commands.simulate.validate import Error, Validated
from firstlight.core.units import binary, quantity, significant
from firstlight.report import html
from firstlight.report.ink import hanging
from firstlight.results.store.durable import replace


def write(validated: Validated, path: Path) -> None:
    """Write the page, whole or not at all. Raises OSError."""
    replace(path, render(validated).encode())


def render(validated: Validated) -> str:
    """Return the HTML page."""
    drawings = plots.drawings(validated)
    page = {
        "validated": validated,
        "sentences": sentences(validated),
        "effects": effects(validated),
        "explained": explained(validated),
        "fits": [fitted(f) for f in validated.fits],
        "drawings": drawings,
    }
    return html.page_of(Path(__file__).with_suffix(".html.j2"), page, drawings)


def sentences(validated: Validated) -> list[str]:
    return [s[:1].upper() + s[1:] + "." for s in validated.sentences]


def effects(validated: Validated) -> list[str]:
    """Return how accurate predictions of exchanges and patterns are with each effect that is included."""
    return [
        f"exchanges and patterns from {e.of}: {e.close} of {e.predictions} within 10 %, {e.near} within a factor of 1.5"
        for e in validated.effects
    ]


def explained(validated: Validated) -> list[str]:
    """Return why predictions are off by more than 10 %: by reason, with two examples and the measurement."""
    by: dict[str, list[str]] = {}
    for p in validated.points:
        if p.off > CLOSE:
            of = f"{p.collective} {p.algorithm}" + ("" if p.algorithm.count(" ") else f" {binary(p.bytes)}")
            point = f"{of} ({significant(p.factor, 2)} x"
            for r in p.reasons:
                by.setdefault(r.name, []).append(f"{point}; {r.shown})")
            if not p.reasons:
                by.setdefault("no measurement explains the error", []).append(f"{point})")
    return [f"{name}: {len(some)}, as {', '.join(some[:2])}" for name, some in by.items()]


def fitted(fit: Fitted) -> list[str]:
    """Return the fitted parameters, the speed of messages of some sizes, and what could not be separated."""
    shortest = fit.L + 2 * fit.o
    rates = [r for k, r in enumerate(reversed(fit.rates)) if k % 4 == 0 and r.G > 0][:4]
    speeds = ", ".join(f"{quantity(1 / r.G, 'B/s')} at {binary(r.bytes)}" for r in reversed(rates))
    return [
        fit.source,
        f"L + 2 o = {quantity(shortest, 's')} (L {quantity(fit.L, 's')}, o {quantity(fit.o, 's')})",
        f"G by size, measured at {len(fit.rates)} sizes: {speeds or 'no measurable time per byte'}; if a longer "
        f"message was faster than a shorter one, both were adjusted by {significant(100 * fit.misfit, 2)} % "
        f"(root mean square)",
        *fit.separated,
    ]


def summary(validated: Validated, page: Path | None, width: int = 80) -> str:
    """Return the page for the terminal."""
    lines = [f"firstlight · predictions against run {validated.run}", ""]
    for sentence in sentences(validated):
        lines += hanging(sentence, width)
    lines += ["", *_table(validated.errors), ""]
    for line in effects(validated):
        lines += hanging(line, width)
    for line in explained(validated):
        lines += hanging(f"error above 10 %: {line}", width)
    for fit in validated.fits:
        for k, line in enumerate(fitted(fit)):
            lines += hanging(line if k == 0 else f"- {line}", width)
    for line in validated.unpredicted:
        lines += hanging(f"not predicted: {line}", width)
    if page is not None:
        lines.append(f"  page: {page}")
    return "\n".join(line.rstrip() for line in lines)


def _table(errors: Sequence[Error]) -> list[str]:
    rows = [f"  {'operation':<15}{'algorithm':<21}{'MPI':<10}{'ranks':>5}{'sizes':>6}{'median':>8}{'worst':>7} at"]
    for e in errors:
        name = e.algorithm if len(e.algorithm) <= 20 else e.algorithm[:19] + "…"
        rows.append(
            f"  {e.collective:<15}{name:<21}{e.mpi[:9]:<10}{e.ranks:>5}{e.sizes:>6}"
            f"{significant(e.median_factor, 2):>6} x{significant(e.worst_off, 2):>5} x {binary(e.worst_bytes)}"
        )
    return rows
