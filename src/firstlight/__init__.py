"""firstlight tells what a parallel machine really gives to your code: measured, verified, compared."""

import os
from pathlib import Path

__version__ = "0.1.0"

ROOT = Path(__file__).resolve().parents[2]
"""The checkout: native sources, workloads and heritage data live here."""


def whole(folders: str) -> str:
    """Return the absolute folders of a list as in PATH.

    A relative or empty entry means the current folder or one below it: any user who can write there could choose what
    firstlight runs."""
    return os.pathsep.join(folder for folder in folders.split(os.pathsep) if Path(folder).is_absolute())


def typed(path: Path) -> str:
    """A path as it is typed in the checkout: relative to it where it lies inside, so that a page tells no folder of the
    machine."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
