"""Own: the drawings that one workload alone needs, from the `report.py` in its folder.

This is code, and rendering runs it. It is always code of the user: of this checkout, or of a folder that the user names
in FIRSTLIGHT_WORKLOADS, as are the programs that are built from it. A results directory, which may come from another
user, contains data only and runs no code: workloads come from the catalogue, never from the record of a run.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType

from firstlight.core.errors import UsageError
from firstlight.model import catalogue
from firstlight.model.catalogue import Workload

FILE = "report.py"


def function(workload: Workload, name: str) -> Callable[..., object] | None:
    """Return the function of that name from the workload's `report.py` or its imports from that folder, else None."""
    found = module(workload)
    made = getattr(found, name, None) if found else None
    if not inspect.isfunction(made) or not made.__module__.startswith(_package(workload.folder)):
        return None
    return made


def module(workload: Workload) -> ModuleType | None:
    """Import the workload's `report.py`; None if it has none.

    It imports modules next to it as `from .folder import name`. Raises UsageError with the file name if one cannot be
    imported, and for a folder that is in none of the catalogue's roots.
    """
    folder = workload.folder.resolve()
    if not (folder / FILE).is_file():
        return None
    if not any(folder.is_relative_to(root.resolve()) for root in catalogue.roots()):
        raise UsageError(
            f"{folder / FILE}: firstlight loads drawings only from its own workloads and from folders in "
            f"FIRSTLIGHT_WORKLOADS; add this folder"
        )
    name = _package(folder)
    if name not in sys.modules:
        package = ModuleType(name, f"The folder of the workload {workload.name}.")
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    with errors_located(workload):
        return import_module(f"{name}.report")


@contextmanager
def errors_located(workload: Workload) -> Iterator[None]:
    """Convert an exception from the workload's own code into a UsageError of one line with its file and line."""
    try:
        yield
    except UsageError:
        raise
    except Exception as error:
        place = _place(error, workload.folder.resolve())
        if not place:
            raise
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise UsageError(f"{place}: {what}") from error


def _place(error: Exception, folder: Path) -> str:
    """Return `FILE, line N` of the innermost code of the folder in the traceback; "" if there is none."""
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).is_relative_to(folder):
        return f"{error.filename}, line {error.lineno}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(folder)]
    return f"{frames[-1].filename}, line {frames[-1].lineno}" if frames else ""


def _package(folder: Path) -> str:
    """Return a module name that is unique to the folder, wherever it is."""
    return f"workload_{folder.name}_{hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]}"
