"""Draw cg: b - A x alongside the residual that a method's recurrence reports."""

from __future__ import annotations

from firstlight.analysis.verdict import Verified
from firstlight.model.catalogue import Plot, Workload
from firstlight.model.plan import same_work
from firstlight.report import answers, frame, observed, sentence
from firstlight.report.frame import Drawing, Trace, View

DRIFTS = 10.0
"""A recurrence has lost its residual if the true residual is more than this many times as large."""
HEAD = ("method", "iterations", "recurrence", "|b - A x| / |b|", "true / recurrence")
RECURRENCE, LEFT = "residual of the recurrence", "|b - A x| / |b|"


def drift(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Draw the recurrence's (`plot.metric`) and the true residual by method (`plot.lines`), if any method has both."""
    found: dict[str, tuple[Verified, Verified]] = {}
    for recurrence in answers.verified(view.selected(workload, plot)):
        left = observed.other(view, recurrence, f"true_{plot.metric}")
        if left is None or not same_work(recurrence.identity.variant, plot, workload):
            continue
        if recurrence.estimate.median > 0 and left.estimate.median > 0:
            found.setdefault(str(dict(recurrence.identity.parameters).get(plot.lines, "")), (recurrence, left))
    if not found:
        return []
    ratio = {method: left.estimate.median / recurrence.estimate.median for method, (recurrence, left) in found.items()}
    lost = [method for method in found if ratio[method] > DRIFTS]
    worst = max(ratio, key=ratio.__getitem__)
    message = f"the recurrence of {worst} drifts most" if lost else "no recurrence drifts from b - A x"
    rows = [
        (
            method, str(dict(recurrence.identity.parameters).get("iterations", "")),
            *(f"{f.estimate.median:.2e}" for f in (recurrence, left)), f"{ratio[method]:.3g}",
        )
        for method, (recurrence, left) in found.items()
    ]  # fmt: skip
    data: list[Trace] = [
        {
            "type": "scatter", "mode": "markers", "name": of, "x": list(found),
            "y": [both[which].estimate.median for both in found.values()],
            "marker": {"size": 11, "color": view.palette.colour(of), "symbol": view.palette.symbol(which)},
        }
        for which, of in enumerate((RECURRENCE, LEFT))
    ]  # fmt: skip
    layout = frame.layout({"type": "category"}, frame.log_axis("residual"))
    caption = "Residuals after more iterations than the tolerance requires. Medians over launches."
    return [Drawing(name, sentence.capital(f"{plot.subject}: {message}"), caption, HEAD, rows, data, layout)]
