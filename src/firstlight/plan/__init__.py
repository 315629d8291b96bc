"""The plan: which programs are launched with which arguments, in which order, within which budget."""

from __future__ import annotations

from firstlight.plan.choice import order, select
from firstlight.plan.effort import EFFORT, MOST_LAUNCHES, Effort, effort
from firstlight.plan.fitting import unfit
from firstlight.plan.planner import beside, plan, suite_of
from firstlight.plan.requirements import family, library_names, programs, variant_names
from firstlight.plan.serving import same_work
from firstlight.plan.sizes import MEMORY_SHARE, resolve_size
from firstlight.plan.types import AS_IT_IS, Cell, ExternalCommand, Likeness, Placement, Plan, Program

__all__ = [
    "AS_IT_IS",
    "EFFORT",
    "MEMORY_SHARE",
    "MOST_LAUNCHES",
    "Cell",
    "Effort",
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
