"""firstlight tells what a parallel machine really gives to your code: measured, verified, compared."""

from pathlib import Path

__version__ = "0.1.0"

ROOT = Path(__file__).resolve().parents[2]
"""The checkout: native sources, workloads and heritage data live here."""


def typed(path: Path) -> str:
    """A path as it is typed in the checkout: relative to it where it lies inside, so that a page tells no folder of the
    machine."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
