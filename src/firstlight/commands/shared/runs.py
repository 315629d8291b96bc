"""Find runs as the user names them: a directory, an identifier under the results folder, or `latest`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from firstlight.commands.shared.output import note
from firstlight.core import shell
from firstlight.core.errors import UsageError

if TYPE_CHECKING:
    from firstlight.analysis.stored import Judged
    from firstlight.results.record import Run

RESULTS = Path("results")


def named(text: str, results: Path) -> Path | None:
    """Return the directory of a run, from its path or from its name in `results`; None if it is not a run."""
    with contextlib.suppress(OSError, ValueError):  # longer than names are, or with what no name has: no run's
        return next((place for place in (Path(text), results / text) if (place / "run.json").is_file()), None)
    return None


def find(text: str, results: Path = RESULTS) -> Path:
    """Return the directory of a run. Raises UsageError, with the newest runs, if there is no such run."""
    if not text:
        raise UsageError("the name of the run is empty; `latest` is the newest run")
    if text == "latest":
        known = identifiers(results)
        if not known:
            raise UsageError(f"no run in {results}/ yet; `./fl run` makes one")
        return results / known[-1]
    place = named(text, results)
    if place is not None:
        if place.parent != results:  # the text is a path, but hints name the run by its identifier
            shell.calling(shell.call()._replace(results=place.parent, runs=place.parent))
        return place
    with contextlib.suppress(OSError, ValueError):
        if Path(text).is_dir():
            raise UsageError(f"{text}: not a run, because run.json is missing")
    newest = ", ".join(identifiers(results)[-3:])
    raise UsageError(
        f"no run named {text!r}; " + (f"the newest here are {newest}" if newest else f"{results}/ contains no run")
    )


def identifiers(results: Path = RESULTS) -> list[str]:
    """Return the identifiers of the runs in a results folder, oldest first."""
    from firstlight.results.store.listing import identifiers

    return identifiers(results)


def judged(path: Path) -> Judged:
    """Return the run as analysis.stored judges it. Print here what was passed over, so that no command omits it."""
    from firstlight.analysis import stored

    found = stored.judged(path)
    passed_over(found.defects)
    return found


def accept(path: Path, folder: Path) -> Run:
    """Make the run at `path` the accepted run of its machine in the folder. Raises UsageError if it cannot be."""
    from firstlight.analysis.history import accepted
    from firstlight.results.states import UNFINISHED

    judgement, _, defects = judged(path)
    if path.resolve().parent != folder.resolve():
        raise UsageError(f"{path} is not in {folder}; copy the run there, or set its folder with --results DIR")
    if defects or judgement.run.state in UNFINISHED:
        raise UsageError(f"{path} is incomplete; see {shell.command('check', path)}")
    accepted.accept(folder, path, judgement.run.machine.name)
    return judgement.run


def passed_over(defects: Iterable[str]) -> None:
    for defect in defects:
        note(f"skipped {defect}")
