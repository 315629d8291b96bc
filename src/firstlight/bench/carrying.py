"""Carrying out: a request becomes a plan, and the plan a run as any other."""

from __future__ import annotations

from pathlib import Path

from firstlight import conduct, machine, store
from firstlight.bench import describing, planning
from firstlight.bench.request import Request
from firstlight.catalogue.brought import together
from firstlight.conduct import guests
from firstlight.conduct.interrupt import leaving_nothing
from firstlight.conduct.progress import Progress
from firstlight.judge import Judgement
from firstlight.judge.verdict import Failed
from firstlight.plan import EFFORT, LAUNCHES, Cell, Plan
from firstlight.plan.effort import GUESTS
from firstlight.units import parse_duration


def order(request: Request, results: Path, name: str | None) -> conduct.Order:
    """Raises UsageError for times that are none."""
    effort = EFFORT[GUESTS]
    return conduct.Order(
        suite=GUESTS,
        budget=parse_duration(request.budget, "budget") if request.budget else effort.budget,
        launches=LAUNCHES if request.launches is None else request.launches,
        results=results,
        timeout=parse_duration(request.timeout, "timeout") if request.timeout else None,
        name=name,
    )


def prepare(request: Request, folder: Path, progress: Progress) -> tuple[conduct.Prepared, conduct.Made]:
    """What is here, the plan, and what is built for it. Raises UsageError and BuildError."""
    for word in planning.unknown(request):
        progress.note(f"{{{word}}} is no placeholder here and stays as it is")
    parallel = any(planning.launched(request, name) for name in request.commands)
    here, toolbox = conduct.discover(progress, set_up=parallel)
    some = planning.choices(request, here, toolbox, folder)
    made = list(planning.built(some, request.build, folder, machine.cache_directory()))
    cells = planning.cells(request, some, made)
    brought = (describing.brought(request, cells),)
    plan = Plan(tuple(cells), some.absent)
    prepared = conduct.Prepared(here, toolbox, together({}, brought), plan, brought=brought)
    return prepared, _made(cells, request)


def _made(cells: list[Cell], request: Request) -> conduct.Made:
    there = guests.builds(cells)
    executables = {b.program: guests.OBSERVER for b in there}
    return conduct.Made(there, executables, describing.descriptions(request))


def run(request: Request, folder: Path, results: Path, name: str | None, progress: Progress) -> conduct.Result:
    """Carry out a request. `folder`: where commands are started. Raises UsageError and BuildError."""
    asked = order(request, results, name)
    if name is not None:
        store.free_name(results, name)
    with leaving_nothing():
        prepared, made = prepare(request, folder, progress)
    guests.remember(prepared.plan.cells)
    return conduct.carry_out(asked, prepared, made, progress)


def failures(judgement: Judgement) -> list[str]:
    """Of each command that failed one line with the first reason."""
    reasons: dict[str, str] = {}
    for figure in judgement.figures:
        if isinstance(figure, Failed):
            reasons.setdefault(figure.identity.variant, figure.reason)
    return [f"{variant} failed: {reason}" for variant, reason in reasons.items()]
