"""Draw the measured memory growth of a process, compared with the bytes that the messenger itself counts."""

from __future__ import annotations

from firstlight.analysis import provenance
from firstlight.analysis.verdict import Verified
from firstlight.core import confidence
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import answers, frame, observed
from firstlight.report.frame import Drawing, Trace, View

COUNTED = "buffers"
Line = list[tuple[float, Verified]]


def memory(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Draw a line per variant and MPI library over the processes, dashed for the messenger's own count. Return nothing
    if fewer than two numbers of processes were measured.
    """
    grown = _lines(answers.verified(view.selected(workload, plot)))
    if len({x for line in grown.values() for x, _ in line}) < 2:
        return []
    drawn: list[Trace] = []
    shown: list[Verified] = []
    for (variant, mpi), line in sorted(grown.items()):
        label, look = f"{variant}, {answers.label(view.judgement.run, 'mpi', mpi)}", view.palette.colour(variant)
        drawn.append(frame.line(line, label, {"color": look}))
        shown += [f for _, f in line]
        own = [(x, o) for x, f in line if (o := observed.other(view, f, COUNTED)) is not None]
        if own:
            drawn.append(frame.line(own, f"{label}: buffers", {"color": look, "dash": "dash"}))
            shown += [f for _, f in own]
    most = max((line[-1] for line in grown.values()), key=lambda point: (point[0], point[1].estimate.median))[1]
    ranks = provenance.placed(f"{most.identity.placement.ranks} ranks", most)
    return [
        Drawing(
            name,
            f"The memory of a {most.identity.variant} process grows by up to {provenance.median(most)} with {ranks}",
            "Growth of resident memory since the first message, in the process with the largest growth. Medians over "
            f"launches with {confidence.INTERVALS}. Dashed: bytes of buffers in use, as the messenger counts them.",
            frame.HEAD,
            frame.table(shown),
            drawn,
            frame.layout(frame.log_axis("processes"), frame.log_axis("MiB")),
        )
    ]


def _lines(figures: list[Verified]) -> dict[tuple[str, str], Line]:
    """Return the lines by variant and MPI library, ascending; the largest figure of placements with as many ranks."""
    found: dict[tuple[str, str], dict[int, Verified]] = {}
    for f in figures:
        who = f.identity
        line = found.setdefault((who.variant, who.mpi or ""), {})
        ranks = who.placement.ranks
        if ranks not in line or f.estimate.median > line[ranks].estimate.median:
            line[ranks] = f
    return {key: sorted((float(n), f) for n, f in line.items()) for key, line in found.items()}
