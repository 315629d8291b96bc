"""Foreign runs: what belongs to somebody else, or what others may write, is not written into.

Who may write a folder can put there what makes a program that trusts it write elsewhere, in the place and with the
rights of whoever goes on with the run.
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
    """Raises UsageError unless the run, and of these what is there, is of its kind, this user's own and no other's.

    Raises OSError where that cannot be seen.
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
                f"{shown}: is not the kind of file that firstlight writes there; see {command('check', run.path)}"
            )
        if status.st_uid != os.geteuid():
            raise UsageError(f"{shown}: belongs to somebody else; go on with a copy of your own: cp -r {here} COPY")
        if status.st_mode & OTHERS:
            raise UsageError(f"{shown}: others may write it; if you trust what is there: chmod -R go-w {here}")
