"""Names of runs: free ones, made of the time and the suite, and those that users choose."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path

from firstlight.core.errors import UsageError
from firstlight.results.store import disk, durable, layout
from firstlight.results.store.disk import Folder


def ids(started: float, suite: str) -> Iterator[str]:
    """Return an iterator over `<YYYYMMDD-HHMMSS>-<suite>`, then the same with `-2`, `-3`, ..."""
    name = time.strftime("%Y%m%d-%H%M%S", time.localtime(started)) + f"-{suite}"
    return itertools.chain([name], (f"{name}-{k}" for k in itertools.count(2)))


def free_id(root: Path, started: float, suite: str) -> str:
    """Return `<YYYYMMDD-HHMMSS>-<suite>`, with `-2`, `-3`, ... if such a directory exists already."""
    return next(name for name in ids(started, suite) if not (root / name).exists())


def free_name(root: Path, name: str) -> str:
    """Return `name` if a run may have it and none has. Raises UsageError otherwise."""
    if not layout.NAME.fullmatch(name) or name in layout.TAKEN:
        raise UsageError(
            f"{name!r} cannot name a run: use at most 200 letters, digits and . _ - (but not as the first character)"
        )
    if (root / name).exists():
        raise UsageError(
            f"{root / name} already exists; continue this run with ./fl run --resume, or choose another name"
        )
    return name


def new_folder(root: Path, started: float, suite: str) -> Path:
    """Make the folder that `free_id` names: several firstlights that do this simultaneously make different ones.

    Raises StoreError.
    """
    with durable.os_errors_as_store_error(root):
        disk.make_folders(root)
        with Folder.at(root) as folder:
            for name in ids(started, suite):
                try:
                    folder.make(name)
                except FileExistsError:
                    continue
                return root / name
    raise AssertionError("no free name was found")
