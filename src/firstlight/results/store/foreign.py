"""Foreign runs: a run that belongs to another user, or that others may write, is not written into.

A user who may write a folder can place files in it that make a trusting program write elsewhere, with the rights of the
user who resumes the run.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

from firstlight.core.errors import UsageError
from firstlight.core.shell import command
from firstlight.results.store.disk import Folder

OTHERS = stat.S_IWGRP | stat.S_IWOTH


def refuse(run: Folder, folders: Sequence[str], files: Sequence[str]) -> None:
    """Raise UsageError unless the run, and what exists of these, is of its kind and only this user may write it.

    Raises OSError if that cannot be seen.
    """
    here = command(run.path).partition(" ")[2]  # quoted
    kinds = [(None, stat.S_ISDIR), *((n, stat.S_ISDIR) for n in folders), *((n, stat.S_ISREG) for n in files)]
    for name, is_kind in kinds:
        status = run.status(name)
        if status is None:
            continue
        shown = run.path / name if name else run.path
        if not is_kind(status.st_mode):
            raise UsageError(
                f"{shown}: is a kind of file that firstlight never writes there; see {command('check', run.path)}"
            )
        if status.st_uid != os.geteuid():
            raise UsageError(f"{shown}: belongs to another user; continue with your own copy: cp -r {here} COPY")
        if status.st_mode & OTHERS:
            raise UsageError(
                f"{shown}: other users have write permission; if you trust the content: chmod -R go-w {here}"
            )
