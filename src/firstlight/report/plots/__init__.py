"""Plots: one drawing a file. A workload's `[[plots]]` names it by `kind`."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import cast

from firstlight.catalogue import Plot, Workload
from firstlight.errors import UsageError
from firstlight.report.plots import roofline
from firstlight.report.plots.frame import Drawing, View

Draw = Callable[[View, Workload, Plot, str], list[Drawing]]


def draw(view: View, workload: Workload) -> list[Drawing]:
    """All drawings that a workload declares. Raises UsageError for a kind that no file here draws."""
    drawings: list[Drawing] = []
    for number, plot in enumerate(workload.plots):
        drawings += kind(plot.kind, workload)(view, workload, plot, f"plot-{workload.name}-{number}")
    return drawings


def overview(view: View, chapter: str) -> list[Drawing]:
    """What belongs to a chapter and to no workload of it: the node's roofline, unless a workload declares it."""
    declared = any(p.kind == "roofline" for w in view.workloads.values() for p in w.plots)
    if chapter != "node" or declared:
        return []
    return roofline.draw_limits(view, "plot-roofline")


def kind(name: str, workload: Workload) -> Draw:
    known = {m.name for m in pkgutil.iter_modules(__path__)}
    function = getattr(import_module(f"{__name__}.{name}"), "draw", None) if name in known else None
    if function is None:
        raise UsageError(
            f"{workload.folder}/workload.toml: no drawing of kind {name!r}; see src/firstlight/report/plots"
        )
    return cast(Draw, function)
