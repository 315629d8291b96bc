"""Listing: the runs of a results folder in the order of time."""

from __future__ import annotations

import re
import time
from pathlib import Path

from firstlight.core.errors import RecordError
from firstlight.core.shell import is_text
from firstlight.results import store
from firstlight.results.store import layout


def identifiers(results: Path) -> list[str]:
    """Return the names of the runs in a results folder, oldest first."""
    if not results.is_dir():
        return []
    return sorted(
        (p.parent.name for p in results.glob(f"*/{layout.RUN}") if is_text(p.parent.name)),
        key=lambda name: _age(results, name),
    )


def _age(results: Path, name: str) -> tuple[str, str, int]:
    """Return a sort key: the time with which a name begins, or that in run.json for a name that the user chose.

    `20261121-201400-quick-2` comes after `20261121-201400-quick` of the same second, and -10 after -2.
    """
    stem, _, last = name.rpartition("-")
    number = int(last) if last.isdigit() and stem.count("-") == 2 else 0
    whole = stem if number else name
    began = re.match(r"[0-9]{8}-[0-9]{6}(?=-)", name)
    return (began[0] if began else _started(results / name), whole, number)


def _started(path: Path) -> str:
    """Return when a run was begun, in local time as in names; "" (the oldest) if its run.json cannot be read."""
    try:
        return time.strftime("%Y%m%d-%H%M%S", time.localtime(store.open(path).run().started))
    except (RecordError, OverflowError, ValueError, OSError):
        return ""
