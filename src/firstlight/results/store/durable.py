"""Writing that survives a power failure, and the one error of a disk that cannot be written."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from firstlight.core.errors import FirstlightError
from firstlight.core.shell import command
from firstlight.results.store import layout
from firstlight.results.store.disk import Folder

SPARE = 1 << 20
"""Bytes that must be free before a launch is begun: a launch that cannot be recorded is lost time."""


class StoreError(FirstlightError):
    """The results directory cannot be written; everything finished before is whole."""


@contextlib.contextmanager
def os_errors_as_store_error(run: Path) -> Iterator[None]:
    """Turn an OSError of the body into a StoreError, in one line with the next command."""
    try:
        yield
    except OSError as error:
        if not _begun(run):
            why = f"cannot write {run}: {reason(error)}; solve this problem, or choose another folder with --results"
            raise StoreError(why) from error
        raise StoreError(
            f"cannot write {run}: {reason(error)}; finished launches are safe. Solve this problem, then continue with "
            f"{command('run', '--resume', run)}"
        ) from error


def _begun(run: Path) -> bool:
    """Return whether there is a run that can be resumed."""
    with contextlib.suppress(OSError), Folder.at(run) as folder:
        return folder.is_plain(layout.RUN)
    return False


def reason(error: OSError) -> str:
    """Return the reason of the operating system in words."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return "the disk is full" if full else error.strerror or str(error)


def require_space(folder: Folder) -> None:
    """Raise OSError (ENOSPC) when less than SPARE bytes are free."""
    if folder.free() < SPARE:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def replace(path: Path, data: bytes) -> None:
    """Write a whole file atomically: another reader sees the old content or the new one. Raises OSError."""
    with Folder.at(path.parent) as folder:
        folder.replace(path.name, data)
