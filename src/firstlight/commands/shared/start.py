"""Start: what firstlight requires from the process that started it, checked before anything is measured or written."""

from __future__ import annotations

import os
import resource

from firstlight.core.errors import FirstlightError
from firstlight.core.units import binary

_FILES, _BYTES, _STACK = 64, 64 << 20, 1 << 20
"""The fewest files that must be allowed to be open simultaneously, the smallest size allowed of a file, and of a stack:
compilers crash with less.
"""


def prepare() -> None:
    """Raise limits that are too low, and keep new files accessible to the user, whatever the caller's umask is.

    Raises FirstlightError with the cause and the remedy if a limit cannot be raised or the current folder is gone.
    """
    os.umask(os.umask(0o077) & 0o077)
    try:
        os.getcwd()  # noqa: PTH109 (Path.cwd() is the same call)
    except OSError as error:
        raise FirstlightError(f"cannot use the current folder: {error.strerror}; change to another folder") from None
    if (files := _allowed(resource.RLIMIT_NOFILE, _FILES)) < _FILES:
        raise FirstlightError(f"the limit of open files is too low ({files}); raise the limit: ulimit -n 1024")
    if (size := _allowed(resource.RLIMIT_FSIZE, _BYTES)) < _BYTES:
        raise FirstlightError(f"files cannot be larger than {binary(size)}; raise the limit: ulimit -f unlimited")
    if (size := _allowed(resource.RLIMIT_STACK, _STACK)) < _STACK:
        raise FirstlightError(f"the stack cannot be larger than {binary(size)}; raise the limit: ulimit -s 8192")


def _allowed(number: int, least: int) -> int:
    """Return what the limit allows, at most `least`. Raise the limit to `least` if it is lower, as far as allowed."""
    soft, hard = (least if limit == resource.RLIM_INFINITY else limit for limit in resource.getrlimit(number))
    if soft < least:
        soft = min(least, hard)
        resource.setrlimit(number, (soft, resource.getrlimit(number)[1]))
    return min(soft, least)
