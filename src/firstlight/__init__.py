"""firstlight measures what a parallel machine delivers to your code, checks every result, and compares machines."""

import os
import shlex
from pathlib import Path

__version__ = "1.0.0"

PACKAGE = Path(__file__).resolve().parent
INSTALLED = (PACKAGE / "tree").is_dir()
"""Whether this is an installed package, not a checkout."""

ROOT = PACKAGE / "tree" if INSTALLED else PACKAGE.parents[1]
"""The folder of native sources, workloads and heritage data: the checkout, or its copy in the installed package.

A package may be installed read-only, so nothing is written below it."""


def whole(folders: str) -> str:
    """Return the absolute folders of a list as in PATH.

    A relative or empty entry means the current folder or one below it: any user who can write there could choose what
    firstlight runs.
    """
    return os.pathsep.join(folder for folder in folders.split(os.pathsep) if Path(folder).is_absolute())


def typed(path: Path) -> str:
    """Return the path as a user types it in a shell: relative in the checkout, from `~` in the home folder.

    So a page contains no folder of the machine.
    """
    if path.is_relative_to(ROOT):
        return shlex.quote(str(path.relative_to(ROOT)))
    home = whole(os.environ.get("HOME", ""))
    if home and path.is_relative_to(home):
        return f"~/{shlex.quote(str(path.relative_to(home)))}"
    return shlex.quote(str(path))
