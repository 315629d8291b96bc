"""Splitting: the cases that rows of the report need become cells of their own if a launch of all cases lasts long.

A row then waits for its own cases only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from firstlight.model.catalogue import Value

Box = dict[str, list[Value]]
"""Values of parameters: the cases are all combinations."""

SHARE, SAVED = 0.5, 0.3
"""A part is split off if it needs at most this share of the whole, and if this saves at least SAVED seconds."""


def split(whole: Box, asked: Iterable[Box], seconds: Callable[[Box], float]) -> list[Box]:
    """Return disjoint boxes that together are the whole: requested ones first, if that saves enough, then the rest."""
    parts: list[Box] = []
    for box in asked:
        rest = [box]
        for part in parts:
            rest = [left for one in rest for left in without(one, part)]
        for one in rest:
            parts = _merged(parts, one)
    dear = seconds(whole)
    needed = sum(seconds(part) for part in parts)
    if not parts or needed > SHARE * dear or dear - needed < SAVED:
        return [whole]
    rest = [whole]
    for part in parts:
        rest = [left for one in rest for left in without(one, part)]
    return parts + rest


def without(box: Box, part: Box) -> list[Box]:
    """Return disjoint boxes with the cases of `box` that are not in `part`, which has the same parameters."""
    common = {name: [v for v in values if v in part[name]] for name, values in box.items()}
    if not all(common.values()):
        return [box]
    left, fixed = [], dict(box)
    for name, values in box.items():
        others = [v for v in values if v not in common[name]]
        if others:
            left.append({**fixed, name: others})
        fixed[name] = common[name]
    return left


def _merged(parts: Sequence[Box], box: Box) -> list[Box]:
    """Merge the box with the first part that differs in a single parameter, else append it."""
    for k, part in enumerate(parts):
        differing = [name for name in box if part[name] != box[name]]
        if len(differing) == 1:
            (name,) = differing
            together = {**part, name: [*part[name], *(v for v in box[name] if v not in part[name])]}
            return [*parts[:k], together, *parts[k + 1 :]]
    return [*parts, box]
