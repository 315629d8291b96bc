"""firstlight tells what a parallel machine really gives to your code: measured, verified, compared."""

from pathlib import Path

__version__ = "0.1.0"

ROOT = Path(__file__).resolve().parents[2]
"""The checkout: native sources, workloads and heritage data live here."""
