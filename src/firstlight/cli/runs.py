"""Runs as the user names them: a directory, an identifier under the results folder, or `latest`."""

from __future__ import annotations

import contextlib
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.errors import UsageError
from firstlight.shell import is_text

if TYPE_CHECKING:
    from firstlight.judge.stored import Judged

RESULTS = Path("results")


def named(text: str, results: Path) -> Path | None:
    """The directory of the run that is a folder or has a name, if it is one."""
    with contextlib.suppress(OSError, ValueError):  # longer than names are, or with what no name has: no run's
        return next((place for place in (Path(text), results / text) if (place / "run.json").is_file()), None)
    return None


def find(text: str, results: Path = RESULTS) -> Path:
    """The directory of a run. Raises UsageError naming the newest runs where there is no such one."""
    if text == "latest":
        known = identifiers(results)
        if not known:
            raise UsageError(f"no run in {results}/ yet; `./fl run` makes one")
        return results / known[-1]
    place = named(text, results)
    if place is not None:
        return place
    with contextlib.suppress(OSError, ValueError):
        if Path(text).is_dir():
            raise UsageError(f"{text}: no run, it has no run.json")
    newest = ", ".join(identifiers(results)[-3:])
    raise UsageError(
        f"no run named {text!r}; " + (f"the newest here are {newest}" if newest else f"{results}/ has none")
    )


def identifiers(results: Path = RESULTS) -> list[str]:
    """The runs in a results folder, oldest first."""
    if not results.is_dir():
        return []
    return sorted(
        (p.parent.name for p in results.glob("*/run.json") if is_text(p.parent.name)),
        key=lambda name: _age(results, name),
    )


def _age(results: Path, name: str) -> tuple[str, str, int]:
    """By the time with which a name begins, else by that in run.json, for a name that the user chose.

    `20261121-201400-quick-2` comes after `20261121-201400-quick` of the same second, and -10 after -2.
    """
    stem, _, last = name.rpartition("-")
    number = int(last) if last.isdigit() and stem.count("-") == 2 else 0
    whole = stem if number else name
    began = re.match(r"[0-9]{8}-[0-9]{6}(?=-)", name)
    return (began[0] if began else _started(results / name), whole, number)


def _started(path: Path) -> str:
    """When a run was begun, in local time as in the names; "" (the oldest) where its run.json cannot be read."""
    from firstlight import store
    from firstlight.errors import RecordError

    try:
        return time.strftime("%Y%m%d-%H%M%S", time.localtime(store.open(path).run().started))
    except (RecordError, OverflowError, ValueError, OSError):
        return ""


def judged(path: Path) -> Judged:
    """As judge.stored has it, which is imported where a command judges."""
    from firstlight.judge import stored

    return stored.judged(path)
