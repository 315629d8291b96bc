"""firstlight tells what a parallel machine really gives to your code: measured, verified, compared."""

import os
from pathlib import Path

__version__ = "0.1.0"

ROOT = Path(__file__).resolve().parents[2]
"""The checkout: native sources, workloads and heritage data live here."""


def whole(folders: str) -> str:
    """Of a list as in PATH, the folders that are named by their whole path: any other, an empty one too, is the current
    folder or one in it, so whoever fills that folder would choose what is run."""
    return os.pathsep.join(folder for folder in folders.split(os.pathsep) if Path(folder).is_absolute())


def typed(path: Path) -> str:
    """A path as it is typed in the checkout: relative to it where it lies inside, so that a page tells no folder of the
    machine."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
