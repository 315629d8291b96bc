"""Draw an elliptic problem that is solved to a tolerance, as R1 reports its finite-element example.

The drawings show the time to tolerance by method and the time per unknown and iteration against memory bandwidth. R1's
table lists assembly, conjugate gradients, and the share of communication over the ranks.
"""

from __future__ import annotations

from firstlight.model.catalogue import Plot, Workload
from firstlight.report import answers, frame
from firstlight.report.frame import Drawing, View

from .drawings import methods, pace, shares, tolerance


def solver(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Draw `plot.metric`, the time to the tolerance, and the other metrics of the same cases."""
    every = view.selected(workload, plot)
    figures = [f for f in answers.verified(every) if methods.level(f) is not None]
    if not figures:
        return []
    drawn = tolerance.drawings(view, workload, plot, f"{name}-tolerance", figures)
    drawn += pace.drawings(view, f"{name}-pace", figures)
    drawn += shares.drawings(view, f"{name}-shares", figures)
    if drawn:  # its table has every figure, also those that are drawn nowhere
        drawn[0].rows = frame.table(every)
    return drawn
