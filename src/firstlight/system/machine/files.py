"""The small files in which a system describes itself."""

from __future__ import annotations

from pathlib import Path

MOST = 1 << 22
"""Bytes of one file that are read."""


def read(path: Path) -> str | None:
    """The text of a small system file; None where there is none or the kernel refuses to tell."""
    try:
        with path.open("rb") as file:
            return file.read(MOST).decode(errors="replace")
    except OSError:
        return None
