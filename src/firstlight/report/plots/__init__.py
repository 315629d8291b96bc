"""Drawings that every workload may use, one per file.

A workload's `[[plots]]` selects it by `kind`, or one in its own `report.py`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import cast

from msgspec.structs import replace

from firstlight.core.errors import UsageError
from firstlight.model.catalogue import Plot, Workload
from firstlight.report import own
from firstlight.report.frame import Drawing, View
from firstlight.report.plots import roofline

Draw = Callable[[View, Workload, Plot, str], list[Drawing]]
"""A drawing function of the view of a run, the workload, its `[[plots]]` entry and the name of the (first) drawing.

It returns an empty list if the run has nothing to draw.
"""


def draw(view: View, workload: Workload) -> list[Drawing]:
    """Return all drawings that a workload declares. Raises UsageError for an unknown kind, or if drawing fails.

    A plot that differs from an earlier one only in its metric is folded: it shows the same data once more.
    """
    drawings: list[Drawing] = []
    seen: list[Plot] = []
    for number, plot in enumerate(workload.plots):
        draw_plot, data = kind(plot.kind, workload), replace(plot, metric="")
        with own.errors_located(workload):
            made = draw_plot(view, workload, plot, f"plot-{workload.name}-{number}")
        for drawing in made:
            drawing.folded |= data in seen
        seen += [data] if made else []
        drawings += made
    return drawings


def overview(view: View, chapter: str) -> list[Drawing]:
    """Return the drawings of a chapter as a whole: the node's roofline, unless a workload declares it."""
    declared = any(p.kind == "roofline" for w in view.workloads.values() for p in w.plots)
    if chapter != "node" or declared:
        return []
    return roofline.draw_limits(view, "plot-roofline")


def kind(name: str, workload: Workload) -> Draw:
    """Return the function that draws that kind, from the workload's `report.py` or this package. Raises UsageError."""
    function = own.function(workload, name) or _generic(name)
    if function is None:
        raise UsageError(
            f"{workload.folder}/workload.toml: unknown drawing {name!r}: report.py in this folder has no function of "
            f"this name, and firstlight itself provides {', '.join(generic())}"
        )
    return cast(Draw, function)


def generic() -> list[str]:
    """Return the kinds that every workload may declare."""
    return [m.name for m in pkgutil.iter_modules(__path__) if _generic(m.name) is not None]


def _generic(name: str) -> object:
    known = {m.name for m in pkgutil.iter_modules(__path__)}
    return getattr(import_module(f"{__name__}.{name}"), "draw", None) if name in known else None
