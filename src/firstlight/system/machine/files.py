"""The small files in which a system describes itself."""

from __future__ import annotations

from pathlib import Path

MOST = 1 << 22
"""Maximum number of bytes that are read from one file."""


def read(path: Path) -> str | None:
    """Return the text of a small system file; None if it does not exist or the kernel refuses access."""
    try:
        with path.open("rb") as file:
            return file.read(MOST).decode(errors="replace")
    except OSError:
        return None
