"""Draw file_io: a matrix of layouts and transfers by interface, as a table (`interfaces`)."""

from __future__ import annotations

from firstlight.analysis import provenance, ranking
from firstlight.analysis.formatting import where
from firstlight.analysis.verdict import Verified
from firstlight.core import confidence
from firstlight.core.units import binary
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import answers
from firstlight.report.frame import Drawing, View

Place = tuple[str, str, int]
"""Placement, layout and length of a transfer: a line of the matrix."""


def interfaces(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Draw the best bandwidth of each interface by placement, layout and transfer; nothing without verified figures."""
    found: dict[tuple[Place, str], list[Verified]] = {}
    for figure in answers.verified(view.selected(workload, plot)):
        found.setdefault((_place(figure), figure.identity.variant), []).append(figure)
    matrix = {key: best for key, some in found.items() if (best := ranking.best(some)) is not None}
    if not matrix:
        return []
    columns = sorted({variant for _, variant in matrix})
    rows: list[tuple[str, ...]] = []
    for place in sorted({place for place, _ in matrix}):
        cells = (matrix.get((place, variant)) for variant in columns)
        rows.append((place[0], place[1], _length(place[2]), *("" if f is None else _cell(f) for f in cells)))
    ordered = sorted(matrix, key=lambda key: matrix[key].estimate.median)
    high, low = (f"{provenance.median(matrix[key])} ({_words(*key)})" for key in (ordered[-1], ordered[0]))
    title = f"{plot.subject}: {high}" + (f"; lowest: {low}" if len(ordered) > 1 else "")
    caption = f"Medians over launches with their {confidence.INTERVALS}; no value: not measured or not verified."
    if view.judgement.run.machine.virtual and plot.where.get("operation") == "read":
        caption += " On a virtual machine, the host may cache data, so the device itself may be slower."
    return [Drawing(name, title, caption, ("placement", "layout", "transfer", *columns), rows)]


def _place(figure: Verified) -> Place:
    known = dict(figure.identity.parameters)
    return where(figure.identity.placement) or "1 core", str(known["layout"]), int(known["transfer"])


def _cell(figure: Verified) -> str:
    return f"{provenance.settle(provenance.median(figure))} ({provenance.settle(provenance.span(figure))})"


def _words(place: Place, variant: str) -> str:
    return f"{variant}, {place[1]}, {_length(place[2])}"


def _length(transfer: int) -> str:
    """Return the length of a transfer, exactly: records of 47,008 bytes are no multiple of 1 KiB."""
    return f"{transfer:,} B" if transfer % 1024 else binary(transfer)
