"""The plan: which programs are launched with which arguments, in which order, within which budget."""

from __future__ import annotations

from firstlight.model.plan.choice import order, select
from firstlight.model.plan.effort import EFFORT, MOST_LAUNCHES, effort
from firstlight.model.plan.fitting import unfit
from firstlight.model.plan.planner import beside, plan, suite_of
from firstlight.model.plan.requirements import family, library_names, programs, variant_names
from firstlight.model.plan.selectors import same_work
from firstlight.model.plan.sizes import resolve_size
from firstlight.model.plan.types import AS_IT_IS, Cell, ExternalCommand, Likeness, Placement, Plan, Program

__all__ = [
    "AS_IT_IS",
    "EFFORT",
    "MOST_LAUNCHES",
    "Cell",
    "ExternalCommand",
    "Likeness",
    "Placement",
    "Plan",
    "Program",
    "beside",
    "effort",
    "family",
    "library_names",
    "order",
    "plan",
    "programs",
    "resolve_size",
    "same_work",
    "select",
    "suite_of",
    "unfit",
    "variant_names",
]
