"""Draw the operator of a lattice field theory, as R5 reports it.

The drawings show one core with and without SIMD in 32 and 64 bits, in cache and from memory. They compare lattices and
process grids with and without communication, and show its efficiency with R5's model through the measured points.
"""

from __future__ import annotations

from firstlight.model.catalogue import Plot, Workload
from firstlight.report import answers, frame
from firstlight.report.frame import Drawing, View

from .drawings import efficiency, grids, layouts, sites


def lattice(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Draw layouts, process grids and the efficiency of communication; `plot.metric` is the speed of a core."""
    every = view.selected(workload, plot)
    figures = [f for f in answers.verified(every) if sites.case(f) is not None]
    if not figures:
        return []
    several = [f for f in figures if sites.parallel(f.identity)]
    exchanges = efficiency.measured(view, several)
    drawn = layouts.drawings(view, workload, plot, f"{name}-layouts", figures)
    drawn += grids.drawings(view, workload, plot, f"{name}-grids", several, exchanges)
    drawn += efficiency.drawings(view, workload, f"{name}-efficiency", exchanges)
    if drawn:
        shown = {f.identity for f in figures if sites.cores(f) == 1 and not sites.parallel(f.identity)}
        drawn[0].rows += frame.table(f for f in every if f.identity not in shown)
    return drawn
