"""Runs as the user names them: a directory, an identifier under the results folder, or `latest`."""

from __future__ import annotations

from pathlib import Path

from firstlight.errors import UsageError

RESULTS = Path("results")


def find(text: str, results: Path = RESULTS) -> Path:
    """The directory of a run. Raises UsageError naming the newest runs where there is no such one."""
    if text == "latest":
        known = identifiers(results)
        if not known:
            raise UsageError(f"no run in {results}/ yet; `firstlight run` makes one")
        return results / known[-1]
    for place in (Path(text), results / text):
        if (place / "run.json").is_file():
            return place
    if Path(text).is_dir():
        raise UsageError(f"{text}: no run, it has no run.json")
    newest = ", ".join(identifiers(results)[-3:])
    raise UsageError(
        f"no run named {text!r}; " + (f"the newest here are {newest}" if newest else f"{results}/ has none")
    )


def identifiers(results: Path = RESULTS) -> list[str]:
    """The runs in a results folder, oldest first: their names begin with the time."""
    if not results.is_dir():
        return []
    return sorted((p.parent.name for p in results.glob("*/run.json")), key=_age)


def _age(name: str) -> tuple[str, int]:
    """`20261121-201400-quick-2` comes after `20261121-201400-quick` of the same second, and -10 after -2."""
    stem, _, last = name.rpartition("-")
    return (stem, int(last)) if last.isdigit() and stem.count("-") == 2 else (name, 0)
