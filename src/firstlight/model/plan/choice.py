"""Choice: which workloads and variants the user named, and the order of a round."""

from __future__ import annotations

import random
from collections.abc import Sequence

from firstlight.core.errors import UsageError
from firstlight.model.catalogue import Workload
from firstlight.model.plan.types import Cell


def select(workloads: dict[str, Workload], names: Sequence[str]) -> dict[str, frozenset[str] | None]:
    """Return the workloads of `dot`, `dot.kahan` or a chapter as `network`, with the named variants or None for all.

    No names: every workload. Raises UsageError with the nearest names for one that does not exist.
    """
    if not names:
        return dict.fromkeys(workloads)
    chosen: dict[str, set[str] | None] = {}
    for name in names:
        if name not in workloads and (chapter := in_chapter(workloads, name)):
            chosen |= dict.fromkeys(chapter)
            continue
        workload, dot, variant = name.partition(".")
        if workload not in workloads or (dot and not _has_variant(workloads[workload], variant)):
            raise UsageError(_unknown(workloads, name))
        if not dot:
            chosen[workload] = None
        elif (wanted := chosen.setdefault(workload, set())) is not None:
            wanted.add(variant)
    return {name: None if wanted is None else frozenset(wanted) for name, wanted in chosen.items()}


def in_chapter(workloads: dict[str, Workload], name: str) -> list[str]:
    """Return the workloads of a chapter: a folder of workloads/."""
    return [w.name for w in workloads.values() if w.chapter == name]


def _has_variant(workload: Workload, name: str) -> bool:
    return any(v.makes(name) for v in workload.variants if not v.broken)


def _unknown(workloads: dict[str, Workload], name: str) -> str:
    from difflib import get_close_matches

    chapters = dict.fromkeys(w.chapter for w in workloads.values())
    known = [
        *workloads,
        *chapters,
        *(f"{w.name}.{v.name}" for w in workloads.values() for v in w.variants if not v.broken),
    ]
    within = [k for k in known if k.startswith(name.partition(".")[0] + ".")] if "." in name else []
    near = get_close_matches(name, within or known, n=3, cutoff=0.5)
    hint = f"did you mean {', '.join(near)}?" if near else "`./fl list` shows all"
    return f"no workload, variant or chapter named {name!r}; {hint}"


def order(cells: Sequence[Cell], seed: int, number: int) -> list[Cell]:
    """Return the cells of round `number` in random order, which depends on the seed, the round and the cells only.

    Each cell occurs once per round, so that a drift of the machine affects all cells alike.
    """
    arranged = sorted(cells, key=lambda cell: cell.id)
    random.Random(f"{seed}:{number}").shuffle(arranged)
    return arranged
